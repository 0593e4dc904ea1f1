// The programs that send a first email with a new key.

import { deepEqual, match } from "node:assert/strict";
import { test } from "node:test";

import { firstEmail, type Language } from "../src/first-email";

const EMAIL = (to: string) => ({ to, starterTemplate: "welcome", variables: { name: "Ada" } });
const program = (language: Language, to: string) => firstEmail(language, "https://mail.example", "bx_live_1", to);

test("an address with signs that a language reads as its own stays what it is", () => {
  const odd = "o'b#{x}$y\\z\"@shop.example";
  match(program("PHP", odd), /'to' => 'o\\'b#\{x\}\$y\\\\z"@shop.example'/);
  match(program("Ruby", odd), /to: 'o\\'b#\{x\}\$y\\\\z"@shop.example'/);
  match(program("Python", odd), /"to": "o'b#\{x\}\$y\\\\z\\"@shop.example"/);
  const inGo = JSON.parse(/email := (".*")/.exec(program("Go", odd))?.[1] ?? "");
  deepEqual(JSON.parse(inGo), EMAIL(odd));
});
