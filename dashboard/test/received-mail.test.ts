// What is said of a received mail, and that an answer to it is sent once.

import { deepEqual, equal, rejects } from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { answer, checksOf, stateOf } from "../src/pages/received-mail";
import type { ReceivedMail } from "../src/schema.ts";
import { anew, answering, refusal } from "./browser";

type Answer = [status: number, body?: unknown];
const TOKEN: Answer = [200, { token: "t", expiresIn: 900, user: { id: "u" }, account: { id: "a" } }];
const PASSED: ReceivedMail["verdicts"] = { spam: "pass", virus: "pass", spf: "pass", dkim: "pass", dmarc: "pass" };

beforeEach(anew);

test("what matters most of a mail is its state", () => {
  const word = (changes: Partial<ReceivedMail>) => stateOf({ from: "ada@x.example", verdicts: PASSED, authenticated: true, automatic: null, ...changes })[0];
  equal(word({}), "proven");
  equal(word({ automatic: "reply" }), "automatic");
  equal(word({ automatic: "reply", authenticated: false }), "not proven");
  equal(word({ authenticated: false, verdicts: { ...PASSED, spam: "fail" } }), "spam");
  equal(word({ verdicts: { ...PASSED, spam: "fail", virus: "fail" } }), "virus");
});

test("checks are named by what they found", () => {
  equal(
    checksOf({ ...PASSED, dkim: "fail", dmarc: "unknown" }),
    "Passed: spam, viruses, the sending server (SPF); failed: the signature (DKIM); not known: the address (DMARC)",
  );
});

test("an answer keeps its key until the service has taken it, also with another text", async () => {
  const keys: (string | undefined)[] = [];
  const replies: (Answer | "lost")[] = ["lost", [409, refusal("idempotency_key_mismatch")], [200, { messageId: "m2" }]];
  answering(({ path, headers }) => {
    if (!path.endsWith("/reply")) return TOKEN;
    keys.push(headers["Idempotency-Key"]);
    const reply = replies.shift() ?? "lost";
    return reply === "lost" ? Promise.reject(new Error("lost")) : reply;
  });
  await rejects(answer("r", { text: "Yes" }), /does not answer/);
  await rejects(answer("r", { text: "No" }), /has been sent/);
  equal(await answer("r", { text: "No" }), "m2");
  deepEqual(keys.map((key) => key === keys[0]), [true, true, false]);
});
