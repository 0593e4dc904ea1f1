// The state of invitations.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";

import { hasExpired, removal } from "../src/pages/invited";
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
