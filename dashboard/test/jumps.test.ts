// Where a few letters lead.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";

import { jumpsOf } from "../src/parts/jumps";
import type { AccessToken, Message } from "../src/schema";

const session = { user: { id: "u", email: "ada@shop.example", operator: false }, account: { id: "a", name: "Shop", plan: "free" }, accounts: [{ id: "a", name: "Shop" }, { id: "b", name: "Bank" }] } as unknown as AccessToken;
const email = { messageId: "0198f2a4-5b6c-7d8e-9f01-23456789abcd", subject: "Your receipt", recipientEmail: "bob@bank.example" } as Message;
const names = (text: string, more = {}, emails: Message[] = []) => jumpsOf(text, { ...session, ...more }, emails).map(({ name }) => name);

test("without letters there are all pages, and the other accounts", () => {
  equal(names("").length, 11);
  equal(names("").at(-1), "Bank");
  deepEqual(names("", { account: null, accounts: [] }), []);
  equal(names("", { user: { ...session.user, operator: true } }).length, 16);
});

test("a page is found by its name and by what people call it, in any case and order", () => {
  deepEqual([names("KEY"), names("dns send"), names("invite"), names("xyzzy")], [["API keys"], ["Domains"], ["Members"], []]);
});

test("new emails are found by subject and recipient, and not before something is typed", () => {
  deepEqual(names("receipt bob", {}, [email]), ["Your receipt"]);
  equal(names("", {}, [email]).includes("Your receipt"), false);
});

test("an address and a message id lead to emails that no list has", () => {
  deepEqual(jumpsOf("eve+1@shop.example", session, []).map(({ href }) => href), ["/app/activity?recipient=eve%2B1%40shop.example"]);
  deepEqual(jumpsOf(email.messageId.toUpperCase(), session, []).map(({ href }) => href), [`/app/activity/${email.messageId}`]);
  deepEqual(jumpsOf("eve@shop.example", { ...session, account: null, accounts: [] } as unknown as AccessToken, []), []);
});
