// What the pages ask the service for, and how they explain what it refuses.

import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { placeOf, search } from "../src/api";
import { curlWith, firstRecipient } from "../src/command";
import { ApiError, exchange } from "../src/http";
import { isMessageId, pageOf, toQuery } from "../src/pages/emails";
import { solve } from "../src/proof";
import type { Account } from "../src/schema";
import { sha256 } from "../src/sha256";
import { explain, isAboutInput, WrongInput } from "../src/widget/refusal";
import { anew, answering, refusal } from "./browser";

beforeEach(anew);

test("an address holds each part of a path as text, and no empty filter", () => {
  equal(placeOf("GET /v1/emails/{message_id}", { path: { message_id: "a/b?c" } }), "/v1/emails/a%2Fb%3Fc");
  equal(search({ status: "sent", tag: "", page: undefined, skip: 0 }), "?status=sent&skip=0");
  equal(search({}), "");
});

test("filters become parameters: known statuses, whole days, the beginning of an address", () => {
  const query = toQuery({ status: "bounced", recipient: "ada", from: "2026-05-01", to: "2026-05-01", key: "k" }, 2);
  const day = Date.parse(query.to ?? "") - Date.parse(query.from ?? "");
  deepEqual([query.status, query.recipient, query.keyId, query.skip, query.limit, day], ["bounced", "ada*", "k", 50, 50, 86_400_000]);
  deepEqual(["ada@shop.example", "ada@shop", "a*"].map((recipient) => toQuery({ recipient }, 1).recipient), ["ada@shop.example", "ada@shop*", "a*"]);
  const wrong = toQuery({ status: "lost", from: "yesterday" }, 1);
  deepEqual([wrong.status, wrong.from], [undefined, undefined]);
});

test("an id differs from an address, and a page from other text", () => {
  deepEqual(["0190f2c1-0000-7000-8000-000000000001", "ada"].map(isMessageId), [true, false]);
  deepEqual(["3", "0", "-2", "x"].map((page) => pageOf({ page })), [3, 1, 1, 1]);
});

test("a refusal has its message, or says in sentences what is wrong with each field", async () => {
  const errors = [{ field: "domain", message: "the domain is not valid" }, { field: "fromName", message: "must not be empty." },
    { field: "variables.name", message: "the template needs this value" }];
  answering(() => [400, refusal("validation_failed", { errors })]);
  await rejects(exchange("GET", "/v1/x"), /^Error: The domain is not valid. From name must not be empty. variables.name: the template needs this value.$/);
  answering(() => [403, refusal("client_blocked")]);
  await rejects(exchange("GET", "/v1/x"), /client_blocked\./);
});

test("a failure, an answer that is no JSON and no answer are one: the service does not answer", async () => {
  for (const answer of [() => [500, refusal("internal_error")], () => [404, undefined], () => Promise.reject(new Error())]) {
    answering(answer as () => [number]);
    await rejects(exchange("GET", "/v1/x"), /The service does not answer\./);
  }
  globalThis.fetch = async () => new Response("<html>");
  await rejects(exchange("GET", "/v1/x"), /The service does not answer\./);
});

test("an answer without a body is undefined", async () => {
  answering(() => [204]);
  equal(await exchange("DELETE", "/v1/x"), undefined);
});

test("a shell reads the command as one email, also if the address has a quote", () => {
  const text = curlWith("https://mail.example", "bx_live_1", "o'brien@shop.example");
  match(text, /^curl https:\/\/mail.example\/api\/v1\/emails \\\n  -H 'X-API-Key: bx_live_1' \\\n/);
  match(text, /"to":"o'\\''brien@/);
  const body = /-d '(.*)'$/.exec(text)?.[1]?.replaceAll("'\\''", "'") ?? "";
  deepEqual(JSON.parse(body), { to: "o'brien@shop.example", starterTemplate: "welcome", variables: { name: "Ada" } });
});

test("the widget marks a field only if what was typed is wrong, and explains each refusal", () => {
  const about = (field: string, message = "has no mail") => new ApiError(400, "validation_failed", "m", { errors: [{ field, message }] });
  const say = (error: unknown) => [explain(error), isAboutInput(error)];
  deepEqual(say(new WrongInput("Enter it.")), ["Enter it.", true]);
  deepEqual(say(new Error("Down.")), ["Down.", false]);
  deepEqual(say(about("email", "has no mail.")), ["This address has no mail.", true]);
  deepEqual(say(about("proof.number")), ["That took too long. Try again.", false]);
  deepEqual(say(new ApiError(429, "rate_limit_exceeded", "Later.")), ["Later.", false]);
  deepEqual(say(new ApiError(401, "invalid_code", "Wrong code.")), ["Wrong code.", true]);
});

test("the work of a challenge finds its number, also the last one, or says that there is none", async () => {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode("salt501"));
  const challenge = [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const given = { algorithm: "SHA-256", challenge, salt: "salt", signature: "s" } as const;
  deepEqual(await solve({ ...given, maxnumber: 501 }), { ...given, number: 501 });
  await rejects(solve({ ...given, maxnumber: 500 }), /no solution/);
});

test("texts of all lengths have the hash that WebCrypto computes", async () => {
  for (let length = 0; length < 140; length += 1) {
    const [text, number] = ["é".repeat(length % 3) + "x".repeat(length), 10 ** (length % 8)];
    const octets = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text + number));
    const hash = [...new Uint8Array(octets)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    const isRight = sha256(text, hash);
    deepEqual([length, isRight(number + 1), isRight(number)], [length, false, true]);
  }
});

test("the first email of an account without a sender goes to its contact, any other to oneself", () => {
  const to = (defaultSender: string | null, contact: string | null) => firstRecipient({ defaultSender, contact } as Account, "ada@shop.example");
  deepEqual([to(null, "owner@shop.example"), to(null, null), to("hi@shop.example", "owner@shop.example")], ["owner@shop.example", "ada@shop.example", "ada@shop.example"]);
});
