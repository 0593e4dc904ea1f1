// Where a few letters lead.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";

import { jumpsOf, type Things } from "../src/parts/jumps";
import type { AccessToken, Message } from "../src/schema";

const session = { user: { id: "u", email: "ada@shop.example", operator: false }, account: { id: "a", name: "Shop", plan: "free" }, accounts: [{ id: "a", name: "Shop" }, { id: "b", name: "Bank" }] } as unknown as AccessToken;
const email = { messageId: "0198f2a4-5b6c-7d8e-9f01-23456789abcd", subject: "Your receipt", recipientEmail: "bob@bank.example" } as Message;
const names = (text: string, more = {}, things: Things = {}) => jumpsOf(text, { ...session, ...more }, things).map(({ name }) => name);

test("without letters there are all pages, and the other accounts", () => {
  equal(names("").length, 11);
  equal(names("").at(-1), "Bank");
  deepEqual(names("", { account: null, accounts: [] }), []);
  equal(names("", { user: { ...session.user, operator: true } }).length, 16);
});

test("a page is found by its name and by what people call it, in any case and order", () => {
  deepEqual([names("KEY")[0], names("dns send"), names("invite")[0], names("xyzzy x")], ["API keys", ["Domains"], "Members", []]);
});

test("places come first, then what the account has, then four of its emails, then a search of all", () => {
  const things: Things = {
    templates: [{ id: "t", name: "Key facts", category: "receipts" }],
    domains: [{ domain: "key.example" }],
    keys: [{ id: "key_1", name: "shop key" }],
    members: [{ email: "key@shop.example" }],
    endpoints: [{ id: "w", url: "https://shop.example/key" }],
    emails: Array.from({ length: 9 }, (_, index) => ({ ...email, messageId: String(index), subject: "Your key" })),
  };
  const found = jumpsOf("key", session, things);
  deepEqual(
    found.map(({ href }) => href),
    [
      ...["/app/keys", "/app/templates/t", "/app/domains/key.example", "/app/keys?find=key_1", "/app/members", "/app/webhooks/w"],
      ...["/app/activity/0", "/app/activity/1", "/app/activity/2", "/app/activity/3", "/app/activity?recipient=key"],
    ],
  );
  deepEqual(names("receipts", {}, things), ["Key facts", "Search all emails to receipts"]);
  equal(names("", {}, things).length, 11);
});

test("new emails are found by subject and recipient", () => {
  deepEqual(names("receipt bob", {}, { emails: [email] }), ["Your receipt"]);
});

test("an address searches all emails before it names one", () => {
  deepEqual(names("bob@bank.example", {}, { emails: [email], members: [{ email: "bob@bank.example" }] }), ["Search all emails to bob@bank.example", "bob@bank.example", "Your receipt"]);
});

test("an address and a message id lead to emails that no list has", () => {
  deepEqual(jumpsOf("eve+1@shop.example", session, {}).map(({ href }) => href), ["/app/activity?recipient=eve%2B1%40shop.example"]);
  deepEqual(jumpsOf(email.messageId.toUpperCase(), session, {}).map(({ href }) => href), [`/app/activity/${email.messageId}`]);
  deepEqual(jumpsOf("eve@shop.example", { ...session, account: null, accounts: [] } as unknown as AccessToken, {}), []);
});
