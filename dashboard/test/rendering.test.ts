// What the service makes of a template while somebody writes it.

import { deepEqual, equal } from "node:assert/strict";
import { beforeEach, test } from "node:test";

import type { RenderTemplateRequest } from "../src/schema";
import { session } from "../src/session";
import { useRendering } from "../src/templates/rendering";
import { anew, answering, later, pass, running } from "./browser";

beforeEach(() => {
  anew();
  session.value = undefined;
});

const token = { token: "t", expiresIn: 900, user: { id: "u" }, account: { id: "a" } };
const render = (source: string) => useRendering({ kind: "html", subject: "", source, variables: {} });
const rendered = (body: unknown): [number, unknown] => {
  const { source } = body as RenderTemplateRequest;
  return [200, { html: source === "wrong" ? null : source, problems: [] }];
};

test("the newest answer wins, also if an older one comes later", async () => {
  const held = later<[number, unknown]>();
  answering(({ path, body }) => {
    if (path === "session/token") return [200, token];
    return (body as RenderTemplateRequest).source === "older" ? held.promise : rendered(body);
  });
  const preview = await running(render, "first");
  await pass();
  equal(preview.now.email?.html, "first");
  await preview.show("older");
  await pass(250);
  await preview.show("newer");
  await pass(250);
  held.keep(rendered({ source: "older" }));
  await pass();
  equal(preview.now.email?.html, "newer");
});

test("an email stays in view while the source has an error or the service is down", async () => {
  let up = true;
  const asked = answering(({ path, body }) => {
    if (path === "session/token") return [200, token];
    return up ? rendered(body) : Promise.reject(new TypeError("fetch failed"));
  });
  const preview = await running(render, "first");
  await pass();
  await preview.show("wrong");
  await pass(250);
  deepEqual([preview.now.email?.html, preview.now.answer?.html], ["first", null]);
  up = false;
  await preview.show("second");
  await pass(250);
  deepEqual([preview.now.email?.html, preview.now.error?.message], ["first", "The service does not answer."]);
  up = true;
  const before = asked.length;
  await pass(5_000);
  deepEqual([asked.length, preview.now.email?.html], [before + 1, "second"]);
});

test("what is typed within a quarter of a second is asked for once", async () => {
  const asked = answering(({ path, body }) => (path === "session/token" ? [200, token] : rendered(body)));
  const preview = await running(render, "a");
  await pass();
  for (const source of ["ab", "abc", "abcd"]) {
    await preview.show(source);
    await pass(249);
  }
  await pass(1);
  deepEqual(asked.slice(1).map(({ body }) => (body as RenderTemplateRequest).source), ["a", "abcd"]);
});
