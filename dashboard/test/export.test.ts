// The file of the emails that the filters of Activity find.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";

import { type AskPage, Export } from "../src/pages/export";
import { allPublished, namesOf, originOf } from "../src/pages/origins";
import type { Message } from "../src/schema";
import { anew, answering } from "./browser";

const BEGIN = Date.parse("2026-03-20T12:00:00.000Z");
const email = (number: number, age: number, changes: Partial<Message> = {}) =>
  ({
    ...{ messageId: `m${number}`, createdAt: new Date(BEGIN - age).toISOString(), updatedAt: "u", status: "sent", recipientEmail: "ada@x.example", subject: "Hello" },
    ...{ errorMessage: null, tags: {}, keyId: null, starterTemplate: null, templateId: null, ...changes },
  }) as Message;

/** Answer as the service does: the newest first, before `to`. */
const service = (emails: Message[]): AskPage => async ({ to, skip, limit }) => {
  const found = emails.filter((one) => !to || one.createdAt < to).sort((one, other) => other.createdAt.localeCompare(one.createdAt));
  return { items: found.slice(skip, skip + limit), total: found.length };
};

async function linesOf(all: Export): Promise<string[]> {
  return (await all.file().text()).trimEnd().split("\r\n");
}

test("each email is in the file once, also those of one millisecond, and what comes in meanwhile shifts none", async () => {
  const emails = Array.from({ length: 730 }, (_, number) => email(number, number < 250 ? 7 : Math.floor(number / 3)));
  const all = new Export(service(emails), namesOf());
  while (!all.done) {
    await all.next();
    emails.push(email(emails.length, -60_000));
  }
  const ids = (await linesOf(all)).slice(1).map((line) => line.split(",")[0]);
  deepEqual([ids.length, new Set(ids).size, all.read, all.total], [730, 730, 730, 730]);
  deepEqual(ids.filter((id) => Number(id?.slice(1)) >= 730), []);
});

test("a page that fails is asked for again, and a stopped file has what was read", async () => {
  let fails = false;
  const answer = service(Array.from({ length: 150 }, (_, number) => email(number, number)));
  const all = new Export(async (part) => (fails ? Promise.reject(new Error("down")) : answer(part)), namesOf());
  await all.next();
  fails = true;
  equal(await all.next().catch((error: Error) => error.message), "down");
  deepEqual([(await linesOf(all)).length, all.done], [101, false]);
  fails = false;
  await all.next();
  deepEqual([(await linesOf(all)).length, all.done], [151, true]);
});

test("a row has names beside ids, and no cell is a formula", async () => {
  const changes = { subject: '=cmd|"x"', recipientEmail: "＝a@x.example", keyId: "k", templateId: "gone", tags: { a: "@b", c: "d" }, errorMessage: "-1" };
  const all = new Export(service([email(1, 0, changes)]), namesOf([{ id: "k", name: "@web" }]));
  await all.next();
  const [head, row] = await linesOf(all);
  equal(head?.replace("\ufeff", ""), "messageId,createdAt,updatedAt,status,recipient,subject,error,template,templateId,key,keyId,tags");
  equal(row, `m1,2026-03-20T12:00:00.000Z,u,sent,'＝a@x.example,"'=cmd|""x""",'-1,gone,gone,'@web,k,a:@b c:d`);
});

test("an origin has its name, or its id if the name is not known", () => {
  const names = namesOf([{ id: "otp", name: "One-time code" }], undefined, [{ id: "k", name: "web" }]);
  const of = (changes: object) => originOf({ starterTemplate: null, templateId: null, keyId: null, ...changes }, names);
  deepEqual(of({ starterTemplate: "otp", keyId: "k" }), { template: { id: "otp", name: "One-time code" }, key: { id: "k", name: "web" } });
  deepEqual(of({ templateId: "t" }), { template: { id: "t", name: "t" }, key: undefined });
});

test("the names of all templates are known, also of those after the first hundred", async () => {
  const ids = Array.from({ length: 150 }, (_, place) => String(place));
  anew();
  const asked = answering(({ path }) => {
    if (!path.startsWith("templates")) return [200, { token: "t", expiresIn: 900, user: { id: "u" }, account: null }];
    const skip = Number(new URLSearchParams(path.split("?")[1]).get("skip"));
    return [200, { items: ids.slice(skip, skip + 100).map((id) => ({ id, name: `Name ${id}` })), total: ids.length }];
  });
  const names = namesOf(await allPublished(new AbortController().signal));
  deepEqual([names.size, names.get("149"), asked.filter(({ path }) => path.startsWith("templates")).length], [150, "Name 149", 2]);
});
