// Sends, fails and lists with the client of @hey-api/openapi-ts.
import { createClient } from "./hey-api/client/index.js";
import { listMessages, sendEmail } from "./hey-api/sdk.gen.js";
import type { SendEmailRequest } from "./hey-api/types.gen.js";

export async function run(url: string, key: string): Promise<string[]> {
  const client = createClient({
    baseUrl: url,
    headers: { "X-API-Key": key, "User-Agent": "generated-client/1.0" },
  });
  const body: SendEmailRequest = {
    to: ["ada@customer.example"],
    starterTemplate: "otp",
    variables: { otp_code: "482913" },
    attachments: [{ filename: "a.txt", contentType: "text/plain", content: "aGVsbG8=" }],
  };
  const headers = { "Idempotency-Key": `hey-api-${crypto.randomUUID()}` };
  const sent = await sendEmail({ client, body, headers });
  const again = await sendEmail({ client, body, headers });
  const fault = await sendEmail({
    client,
    // @ts-expect-error an email has one of three bodies
    body: { ...body, html: "<p>", subject: "s" },
  });
  const listed = await listMessages({ client, query: { limit: 1 } });
  return [
    sent.data?.messageId ?? "",
    again.data?.messageId ?? "",
    fault.error?.error.code ?? "",
    listed.data?.items[0]?.messageId ?? "",
  ];
}
