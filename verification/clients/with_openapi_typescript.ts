// Sends, fails and lists with openapi-fetch and the types of openapi-typescript.
import createClient from "openapi-fetch";
import type { paths } from "./pillarbox.js";

export async function run(url: string, key: string): Promise<string[]> {
  const idempotencyKey = `openapi-typescript-${crypto.randomUUID()}`;
  const client = createClient<paths>({
    baseUrl: url,
    headers: { "X-API-Key": key, "User-Agent": "generated-client/1.0" },
  });
  const send = () =>
    client.POST("/api/v1/emails", {
      body: {
        to: "ada@customer.example",
        starterTemplate: "otp",
        variables: { otp_code: "482913" },
        attachments: [{ filename: "a.txt", contentType: "text/plain", content: "aGVsbG8=" }],
      },
      params: { header: { "Idempotency-Key": idempotencyKey } },
    });
  const sent = await send();
  const again = await send();
  const fault = await client.POST("/api/v1/emails", {
    // @ts-expect-error an email has one of three bodies
    body: { to: "ada@customer.example", starterTemplate: "otp", html: "<p>", subject: "s" },
  });
  const listed = await client.GET("/api/v1/emails", { params: { query: { limit: 1 } } });
  return [
    sent.data?.messageId ?? "",
    again.data?.messageId ?? "",
    fault.error?.error.code ?? "",
    listed.data?.items[0]?.messageId ?? "",
  ];
}

