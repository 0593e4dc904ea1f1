// What the browser keeps, also if it refuses to; and requests that several parts of a page share.

import { deepEqual, equal } from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { forgetKept, keep, recall } from "../src/kept";
import { hostOf, labelOf, withReports } from "../src/names";
import { useResource } from "../src/resource";
import { session } from "../src/session";
import { anew, answering, later, pass, running } from "./browser";

const TOKEN = { token: "t", expiresIn: 900, user: { id: "u", email: "ada@shop.example" }, account: { id: "a", name: "a" }, role: "owner", accounts: [] };

beforeEach(anew);

test("a text is kept under its name until it is removed or all are forgotten", () => {
  equal(keep("a", "1", "sessionStorage"), true);
  equal(recall("a", "sessionStorage"), "1");
  keep("a", null, "sessionStorage");
  equal(recall("a", "sessionStorage"), null);
  keep("b", "2", "sessionStorage");
  forgetKept();
  equal(recall("b", "sessionStorage"), null);
});

test("a browser that keeps nothing says so, and nothing fails", () => {
  const stored = Object.getOwnPropertyDescriptor(globalThis, "sessionStorage");
  const refuse = () => {
    throw new DOMException("denied", "SecurityError");
  };
  Object.defineProperty(globalThis, "sessionStorage", { configurable: true, get: refuse });
  try {
    deepEqual([keep("a", "1", "sessionStorage"), recall("a", "sessionStorage")], [false, null]);
    forgetKept();
  } finally {
    Object.defineProperty(globalThis, "sessionStorage", stored ?? { value: undefined });
  }
});

test("a host is taken from a pasted address, and other text stays", () => {
  const hosts = { "https://shop.example/": "shop.example", "http://a.shop.example:8080/x?y#z": "a.shop.example", "ada@shop.example": "shop.example", " shop.example ": "shop.example", "shop": "shop", "": "" };
  deepEqual(Object.keys(hosts).map(hostOf), Object.values(hosts));
});

test("a label is the part of a host before its domain", () => {
  deepEqual(["shop.example", "a.b.shop.example"].map((host) => labelOf(host, "shop.example")), ["@", "a.b"]);
});

test("parts of a page that ask for the same at the same time share one request", async () => {
  const wait = later<[number, unknown]>();
  let signal: AbortSignal | undefined;
  const asked = answering(({ path }) => (path === "session/token" ? [200, TOKEN] : wait.promise));
  const { fetch } = globalThis;
  globalThis.fetch = (url, request) => {
    if (String(url).includes("domains")) signal = request?.signal ?? undefined;
    return fetch(url, request);
  };
  session.value = undefined;
  const load = () => useResource("GET /v1/domains");
  const one = await running(load);
  const two = await running(load);
  await pass();
  equal(asked.filter(({ path }) => path === "domains").length, 1);
  await one.leave();
  equal(signal?.aborted, false);
  wait.keep([200, { items: [] }]);
  await pass();
  deepEqual(two.now.data, { items: [] });
  await two.leave();
  const three = await running(load);
  await pass();
  equal(asked.filter(({ path }) => path === "domains").length, 2);
  await three.leave();
});

test("a request ends when nobody waits for it any more", async () => {
  const signals: AbortSignal[] = [];
  answering(() => [200, TOKEN]);
  const { fetch } = globalThis;
  globalThis.fetch = (url, request) => {
    if (!String(url).includes("senders")) return fetch(url, request);
    if (request?.signal) signals.push(request.signal);
    return later<Response>().promise;
  };
  const one = await running(() => useResource("GET /v1/senders"));
  const two = await running(() => useResource("GET /v1/senders"));
  await pass();
  await one.leave();
  equal(signals.at(-1)?.aborted, false);
  await two.leave();
  equal(signals.at(-1)?.aborted, true);
});

test("a DMARC record names who gets the reports, once the address is whole", () => {
  const record = (address: string) => withReports("v=DMARC1; p=none", address);
  deepEqual([record(""), record("dmarc@"), record("dmarc@shop")], Array(3).fill("v=DMARC1; p=none"));
  equal(record("dmarc@shop.example"), "v=DMARC1; p=none; rua=mailto:dmarc@shop.example");
  equal(record("a!b,c@shop.example"), "v=DMARC1; p=none; rua=mailto:a%21b%2Cc@shop.example");
});
