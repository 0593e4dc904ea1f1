// How API keys are shown and found, and when each was last used.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";

import { type Ask, dayOf, lastUses, limitsOf, matching, sentenceOf, shortOf } from "../src/pages/key-list";
import type { Key, Message } from "../src/schema";

const key = (id: string, changes: Partial<Key> = {}) =>
  ({ id: `key_qh4ybvcvbqzk${id.padStart(8, "0")}`, name: id, type: "live", ending: "3f2a", createdBy: "ada@x.example", ...changes }) as Key;
const sent = (by: Key, createdAt: string) => ({ keyId: by.id, createdAt }) as Message;
const WHOLE = `bx_live_qh4ybvcvbqzk${"s".repeat(32)}0000`;

test("a key shows its first and last characters, and one without a known ending none", () => {
  deepEqual([shortOf(key("a")), shortOf(key("a", { ending: null }))], ["bx_live_qh4y…3f2a", null]);
  equal(shortOf(key("a", { type: "preview" })), "bx_preview_qh4y…3f2a");
});

test("keys are found by name, creator, id, ending, or by the whole key", () => {
  const keys = [key("shop"), key("web", { createdBy: "bob@x.example", ending: "77d0" }), key("old", { ending: null, createdBy: null })];
  const found = (text: string) => matching(keys, text).map(({ name }) => name);
  deepEqual([found(""), found(" SHOP "), found("bob@"), found("0web"), found("77d0"), found("…3f2a"), found("none")], [["shop", "web", "old"], ["shop"], ["web"], ["web"], ["web"], ["shop"], []]);
  deepEqual([found(`${WHOLE}3f2a\n`), found(`${WHOLE}77d0`), found(`${WHOLE}eeee`), found(WHOLE.replace("qh4", "zzz") + "3f2a")], [["shop"], ["web"], [], []]);
});

test("the last use is that of the newest email, and only keys that the newest emails lack are asked for", async () => {
  const now = Date.parse("2026-03-20T12:00:00Z");
  const [busy, today, before, unused] = [key("busy"), key("today", { lastUsedAt: "2026-03-20T02:10:00Z" }), key("before", { lastUsedAt: "2026-03-18T02:10:00Z" }), key("unused", { lastUsedAt: null })] as [Key, Key, Key, Key];
  const asked: unknown[] = [];
  const newest = ["11:59", "11:58"].map((at) => sent(busy, `2026-03-20T${at}:00Z`));
  const ask: Ask = async (query) => {
    asked.push(query.keyId ?? "all");
    return query.keyId ? [sent(today, "2026-03-20T02:59:00Z")] : [...newest, ...Array(98).fill({ keyId: null, createdAt: "" })];
  };
  const uses = await lastUses([busy, today, before, unused], ask, now);
  deepEqual([...uses], [[busy.id, "2026-03-20T11:59:00Z"], [today.id, "2026-03-20T02:59:00Z"]]);
  deepEqual(asked, ["all", today.id]);
  asked.length = 0;
  await lastUses([busy, today], async () => (asked.push("all"), newest), now);
  deepEqual(asked, ["all"]); // an account with few emails needs one request
});

test("a key ends after its last day where the reader is, and its sources are split", () => {
  const { expiresAt } = limitsOf("2026-12-31", "");
  const end = new Date(expiresAt ?? "");
  deepEqual([dayOf(end), end.getHours(), end.getMinutes()], ["2027-01-01", 0, 0]);
  deepEqual(limitsOf("", " 192.0.2.0/24, 2001:db8::/32\n198.51.100.7 "), { sources: ["192.0.2.0/24", "2001:db8::/32", "198.51.100.7"] });
  deepEqual(limitsOf("", " ,"), {});
});

test("a sentence says what a key may do, in the order of the permissions", () => {
  const permissions = [
    { scope: "emails:send", allows: "send emails" },
    { scope: "keys:read", allows: "see the API keys" },
  ];
  equal(sentenceOf(["keys:read", "emails:send"], permissions), "A program with this key may: send emails; see the API keys.");
  equal(sentenceOf([], permissions), "Choose what the key may do.");
});
