// The state of invitations, and the question before an owner's rights are taken.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";

import { demotion, hasExpired, removal } from "../src/pages/invited";
import type { Member } from "../src/schema";

test("the link of an invitation lives for seven days", () => {
  const at = (time: string) => hasExpired("2026-03-01T12:00:00Z", Date.parse(time));
  deepEqual([at("2026-03-08T11:59:59Z"), at("2026-03-08T12:00:00Z")], [false, true]);
});

test("who is invited is not removed: the invitation is withdrawn; who is signed in leaves", () => {
  const button = (changes: Partial<Member>) => removal({ email: "a@x.example", current: false, pending: false, ...changes } as Member).button;
  deepEqual([button({}), button({ pending: true }), button({ current: true })], ["Remove", "Withdraw", "Leave"]);
  equal(removal({ email: "a@x.example", pending: true } as Member).label, "Withdraw the invitation of a@x.example");
});

test("an owner loses rights only after a question that says whose; other roles change without one", () => {
  const ask = (changes: Partial<Member>) => demotion({ email: "a@x.example", role: "owner", current: false, ...changes } as Member, "author");
  deepEqual(ask({}), { title: "Take the rights of an owner from a@x.example?", answer: "Make the member an author", who: "a@x.example" });
  deepEqual([ask({ current: true })?.answer, ask({ current: true })?.who, ask({ role: "developer" })], ["Make me an author", "You", undefined]);
});
