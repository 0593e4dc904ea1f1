// The programs that send a first email with a new key.

import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";

import { firstEmail, LANGUAGES } from "../src/first-email";
import { answering } from "./browser";

const EMAIL = (to: string) => ({ to, starterTemplate: "welcome", variables: { name: "Ada" } });
const program = (language: (typeof LANGUAGES)[number], to = "ada@shop.example") => firstEmail(language, "https://mail.example", "bx_live_1", to);

test("each program has the address of the service, the key and the recipient", () => {
  const parts = ["https://mail.example/api/v1/emails", "bx_live_1", "ada@shop.example"];
  const found = LANGUAGES.map((language) => [language, ...parts.map((part) => program(language).split(part).length - 1)]);
  deepEqual(found, LANGUAGES.map((language) => [language, 1, 1, 1]));
});

test("an address with signs that a language reads as its own stays what it is", () => {
  const odd = "o'b#{x}$y\\z\"@shop.example";
  match(program("PHP", odd), /'to' => 'o\\'b#\{x\}\$y\\\\z"@shop.example'/);
  match(program("Ruby", odd), /to: 'o\\'b#\{x\}\$y\\\\z"@shop.example'/);
  match(program("Python", odd), /"to": "o'b#\{x\}\$y\\\\z\\"@shop.example"/);
  const inGo = JSON.parse(/email := (".*")/.exec(program("Go", odd))?.[1] ?? "");
  deepEqual(JSON.parse(inGo), EMAIL(odd));
});

test("the program for Node.js sends one email when it runs", async () => {
  const asked = answering(() => [200, { messageId: "m" }]);
  const said: unknown[] = [];
  await new Function("console", `return ${program("Node.js")}`)({ log: (...parts: unknown[]) => said.push(parts) });
  deepEqual(asked.map(({ method, path, body }) => [method, path, body]), [["POST", "https://mail.example/api/v1/emails".replace("/api/v1/", ""), EMAIL("ada@shop.example")]]);
  equal(asked[0]?.headers["X-API-Key"], "bx_live_1");
  deepEqual(said, [[200, '{"messageId":"m"}']]);
});
