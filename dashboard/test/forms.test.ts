// Fields and actions of forms: what was typed stays, and a failure is said.

import { deepEqual, equal } from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { useFields } from "../src/fields";
import { anew, pass, running } from "./browser";

const brand = (name: string, from = "Ada") => JSON.stringify({ name, from });
const fields = () => running((stored) => useFields<{ name: string; from: string }>(JSON.parse(stored)), brand("Old"));

beforeEach(anew);

test("a slow answer fills the fields in which nothing was typed", async () => {
  const form = await fields();
  form.now.type({ name: "New" });
  await form.show(brand("Older", "Eve"));
  deepEqual(form.now.shown, { name: "New", from: "Eve" });
});

test("only what differs from what the service has is sent", async () => {
  const form = await fields();
  form.now.type({ name: "New", from: "Ada" });
  await pass();
  deepEqual(form.now.changes, { name: "New" });
  form.now.type({ name: "Old" });
  await pass();
  deepEqual(form.now.changes, {});
});

test("what is typed while a save is on its way is neither lost nor taken as saved", async () => {
  const form = await fields();
  form.now.type({ name: "New" });
  await pass();
  const { saved, changes } = form.now;
  form.now.type({ name: "Newer" });
  saved(changes);
  await form.show(brand("New"));
  deepEqual([form.now.shown.name, form.now.changes], ["Newer", { name: "Newer" }]);
  form.now.saved(form.now.changes);
  await form.show(brand("Newer"));
  deepEqual(form.now.changes, {});
  equal(form.now.shown.name, "Newer");
});
