// What can be done with an email whose content is kept.

import { deepEqual, equal, rejects } from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { copiesOf, read, sendAgain, shortList, stateOf } from "../src/pages/kept-email";
import type { Message } from "../src/schema.ts";
import { anew, answering, type Asked, later, refusal } from "./browser";

const NOW = Date.parse("2026-05-05T12:00:00Z");
const at = (minutes: number) => new Date(NOW + minutes * 60_000).toISOString();
const TOKEN: Answer = [200, { token: "t", expiresIn: 900, user: { id: "u" }, account: { id: "a" } }];
type Answer = [status: number, body?: unknown];

/** Answer each resend in turn; return those that were asked for. */
function resending(...answers: (Answer | Promise<Answer> | "lost")[]): Asked[] {
  const asked: Asked[] = [];
  answering((request) => {
    if (!request.path.endsWith("/resend")) return TOKEN;
    asked.push(request);
    const answer = answers.shift() ?? "lost";
    return answer === "lost" ? Promise.reject(new Error("lost")) : answer;
  });
  return asked;
}
const accepted = (messageId: string): Answer => [200, { messageId }];
const keysOf = (asked: Asked[]) => asked.map(({ headers }) => headers["Idempotency-Key"]);

beforeEach(anew);

test("content can be read until its time is over, by those who may", () => {
  const of = (kept: string, readable: boolean) => stateOf(kept, readable, NOW);
  deepEqual([of(at(1), true), of(at(1), false), of(at(0), true), of(at(0), false)], ["kept", "others", "over", "over"]);
});

test("a link is used for less time than it works", async () => {
  answering(({ path }) => path === "session/token" ? TOKEN : [200, { messageId: "m", eml: { url: "u", expiresAt: at(5) } }]);
  const { linkUntil, content } = await read("m");
  deepEqual([linkUntil, content.eml.url], [NOW + 4 * 60_000, "u"]);
});

test("a second press and a try after a lost answer repeat the request, a later decision is a new one", async () => {
  const first = later<Answer>();
  const asked = resending(first.promise, "lost", accepted("copy 1"), accepted("copy 2"));
  const pressed = sendAgain("one");
  await rejects(sendAgain("one"), /does not answer/);
  first.fail(new Error("lost"));
  await rejects(pressed, /does not answer/);
  equal(await sendAgain("one"), "copy 1");
  equal(await sendAgain("one"), "copy 2");
  const [pressedKey, ...keys] = keysOf(asked);
  deepEqual(keys.map((key) => key === pressedKey), [true, true, false]);
  deepEqual(copiesOf("one"), ["copy 1", "copy 2"]);
});

test("a page that is loaded again after a lost answer repeats the request", async () => {
  const asked = resending("lost", accepted("copy"));
  await rejects(sendAgain("reloaded"), /does not answer/);
  const address = "../src/pages/kept-email.ts?again";
  const reloaded = (await import(address)) as { sendAgain: typeof sendAgain };
  equal(await reloaded.sendAgain("reloaded"), "copy");
  equal(new Set(keysOf(asked)).size, 1);
});

test("another address and another email are other requests", async () => {
  const asked = resending("lost", [400, refusal("recipient_suppressed")], accepted("c"), accepted("d"));
  await rejects(sendAgain("two"), /does not answer/);
  await rejects(sendAgain("two", "eve@x.example"), /recipient_suppressed/);
  equal(await sendAgain("two", "ada@x.example"), "c");
  equal(await sendAgain("three"), "d");
  equal(new Set(keysOf(asked)).size, 4);
  deepEqual(asked.map(({ body }) => body), [{}, { to: "eve@x.example" }, { to: "ada@x.example" }, {}]);
  deepEqual([copiesOf("two"), copiesOf("three"), copiesOf("none")], [["c"], ["d"], []]);
});

test("copies are those that a list names, and those of this tab, each once and the oldest first", async () => {
  resending(accepted("m2"));
  await sendAgain("m0", "eve@x.example");
  const listed = [["m3", "m0"], ["m2", "m0"], ["m1", "m0"], ["m4", "m1"], ["m5", null]].map(([messageId, resendOf]) => ({ messageId, resendOf }) as Message);
  deepEqual(copiesOf("m0", listed), ["m1", "m2", "m3"]);
  deepEqual(copiesOf("m1", listed), ["m4"]);
});

test("of many recipients three are named, and the others counted", () => {
  const list = ["a", "b", "c", "d", "e"];
  deepEqual([list.slice(0, 1), list.slice(0, 4), list].map(shortList), ["a", "a, b, c, d", "a, b, c and 2 more"]);
});
