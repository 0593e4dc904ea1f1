// Prints what each client got, as JSON: node main.js URL KEY
import { run as withHeyApi } from "./with_hey_api.js";
import { run as withOpenapiTypescript } from "./with_openapi_typescript.js";

declare const process: { argv: string[] };
const [, , url = "", key = ""] = process.argv;
console.log(
  JSON.stringify({
    "openapi-typescript": await withOpenapiTypescript(url, key),
    "@hey-api/openapi-ts": await withHeyApi(url, key),
  }),
);
