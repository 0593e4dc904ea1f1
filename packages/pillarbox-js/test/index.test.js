import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";

import { InvalidSignature, Pillarbox, PillarboxError, verifyWebhook } from "../src/index.js";
import { operations } from "../src/operations.js";

const KEY = "bx_live_example";
const URL = "https://mail.example";
const EMAIL = { to: "ada@customer.example", starterTemplate: "welcome" };
const SENT = { messageId: "019b7998-4c00-7000-8000-000000000001", status: "queued" };
const OCTETS = Buffer.from("0123456789abcdef01234567");
const SECRET = `whsec_${OCTETS.toString("base64")}`;

function answer(status, code, more) {
  const body = code ? { error: { code, message: "No.", type: "api_error" } } : SENT;
  const headers = { "X-Request-Id": "r1", ...more };
  return () => new Response(JSON.stringify(body), { status, headers });
}

function service(...answers) {
  const requests = [];
  const fetch = async (url, options) => {
    requests.push({ url, ...options });
    const next = answers.shift();
    if (next instanceof Error) throw next;
    return next();
  };
  return { requests, client: new Pillarbox({ key: KEY, url: `${URL}/`, fetch }) };
}

/** Run with timers that end at once, and note what they would have waited. */
async function withoutWaits(context, run) {
  const waits = [];
  context.mock.method(globalThis, "setTimeout", (done, wait) => {
    waits.push(wait);
    queueMicrotask(done);
  });
  await run();
  return waits;
}

test("a send has what the API asks for", async () => {
  const { requests, client } = service(answer(200));
  assert.deepEqual(await client.sendEmail(EMAIL), SENT);
  const [{ url, method, headers, body }] = requests;
  assert.deepEqual([method, url], ["POST", `${URL}/api/v1/emails`]);
  assert.deepEqual(JSON.parse(body), EMAIL);
  assert.equal(headers["X-API-Key"], KEY);
  assert.match(headers["User-Agent"], /^pillarbox-js\//);
  assert.equal(headers["Idempotency-Key"].length, 36);
});

test("what may succeed is sent again under the same key", async (context) => {
  for (const failure of [
    new TypeError("fetch failed"),
    answer(500, "internal_error"),
    answer(503, "service_unavailable"),
    () => new Response("<html>", { status: 502 }),
    answer(409, "idempotency_in_flight"),
    answer(429, "rate_limit_exceeded", { "RateLimit-Reset": "2" }),
  ]) {
    const { requests, client } = service(failure, answer(200));
    await withoutWaits(context, async () => assert.deepEqual(await client.sendEmail(EMAIL), SENT));
    assert.equal(requests.length, 2);
    assert.equal(requests[0].headers["Idempotency-Key"], requests[1].headers["Idempotency-Key"]);
    context.mock.restoreAll();
  }
});

test("the service sets the wait, and a limit of the day is an error at once", async (context) => {
  const patient = service(
    answer(429, "rate_limit_exceeded", { "RateLimit-Reset": "7" }),
    answer(409, "idempotency_in_flight", { "Retry-After": "5" }),
    answer(200),
  );
  assert.deepEqual(await withoutWaits(context, () => patient.client.sendEmail(EMAIL)), [7000, 5000]);
  const { requests, client } = service(answer(429, "daily_limit_exceeded", { "RateLimit-Reset": "3600" }));
  await assert.rejects(client.sendEmail(EMAIL), (error) => {
    assert.ok(error instanceof PillarboxError);
    assert.deepEqual([error.status, error.code, error.requestId], [429, "daily_limit_exceeded", "r1"]);
    return true;
  });
  assert.equal(requests.length, 1);
});

test("what must not happen twice is sent once", async () => {
  const { requests, client } = service(new TypeError("fetch failed"));
  await assert.rejects(client.createWebhook({ url: "https://shop.example/hooks", types: ["*"] }), {
    name: "TypeError",
    message: `${URL} does not answer: fetch failed`,
  });
  assert.equal(requests.length, 1);
});

test("ids stay one segment, and a query leaves out what is undefined", async () => {
  const { requests, client } = service(answer(200), answer(200));
  await client.getMessage("../keys?x");
  await client.listMessages({ sortBy: "updated_at", limit: 5, status: undefined });
  assert.equal(requests[0].url, `${URL}/api/v1/emails/..%2Fkeys%3Fx`);
  assert.equal(requests[1].url, `${URL}/api/v1/emails?sortBy=updated_at&limit=5`);
  await assert.rejects(client.getMessage(undefined), TypeError);
});

test("the caller's signal ends the request and its retries", async () => {
  const { requests, client } = service(answer(503, "service_unavailable"));
  const stop = new AbortController();
  const sending = client.sendEmail(EMAIL, { signal: stop.signal });
  setTimeout(() => stop.abort(new Error("stopped")), 1);
  await assert.rejects(sending, /stopped/);
  assert.equal(requests.length, 1);
});

test("each operation is a method", () => {
  for (const name of Object.keys(operations)) assert.equal(typeof Pillarbox.prototype[name], "function");
});

function signed(body, { at = Date.now() / 1000, octets = OCTETS } = {}) {
  const moment = String(Math.floor(at));
  const signature = createHmac("sha256", octets).update(`e1.${moment}.${body}`).digest("base64");
  return { "webhook-id": "e1", "webhook-timestamp": moment, "webhook-signature": `v1,AAAA v1,${signature}` };
}

test("a webhook of the holder of the secret is read, with headers of both kinds", async () => {
  const body = '{"type":"webhook.test"}';
  assert.equal((await verifyWebhook(body, signed(body), SECRET)).type, "webhook.test");
  const headers = new Headers(signed(body));
  assert.equal((await verifyWebhook(Buffer.from(body), headers, SECRET)).type, "webhook.test");
});

test("another webhook is refused", async () => {
  for (const [headers, body] of [
    [signed("{}"), "{ }"],
    [signed("{}", { octets: Buffer.from("another") }), "{}"],
    [signed("{}", { at: Date.now() / 1000 - 400 }), "{}"],
    [signed("{}", { at: Date.now() / 1000 + 400 }), "{}"],
    [{ ...signed("{}"), "webhook-signature": "v1,%" }, "{}"],
    [{}, "{}"],
  ]) {
    await assert.rejects(verifyWebhook(body, headers, SECRET), InvalidSignature);
  }
});
