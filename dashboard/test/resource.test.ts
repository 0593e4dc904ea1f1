// Data in a page while the service is slow, down, or has news.

import { deepEqual, equal } from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { keepAnswers } from "../src/answers";
import { ApiError } from "../src/http";
import { useAnswers } from "../src/resource";
import { anew, later, pass, running } from "./browser";

type Kept = ReturnType<typeof keepAnswers<number>>;
let kept: Kept;
let asked: AbortSignal[];
let answer: () => Promise<number>;

beforeEach(() => {
  anew();
  kept = keepAnswers<number>();
  asked = [];
  answer = () => Promise.resolve(1);
  Object.assign(document, { hidden: false });
});

function loading(live = false) {
  const load = (signal: AbortSignal) => {
    asked.push(signal);
    return answer();
  };
  return running((key) => useAnswers(kept, key, load, live), "one");
}

test("an answer is shown at once when its page is opened again, and is asked for anew", async () => {
  const first = await loading();
  await pass();
  equal(first.now.data, 1);
  await first.leave();
  const wait = later<number>();
  answer = () => wait.promise;
  const second = await loading();
  equal(second.now.data, 1);
  wait.keep(2);
  await pass();
  equal(second.now.data, 2);
});

test("after three seconds without an answer the service is slow, until it answers", async () => {
  const wait = later<number>();
  answer = () => wait.promise;
  const page = await loading();
  await pass(2_999);
  equal(page.now.slow, false);
  await pass(1);
  equal(page.now.slow, true);
  wait.keep(1);
  await pass();
  deepEqual([page.now.slow, page.now.data], [false, 1]);
});

test("data stays with its time while the service does not answer, and it is asked again", async () => {
  const page = await loading(true);
  await pass();
  const { at } = page.now;
  answer = () => Promise.reject(new Error("down"));
  await pass(7_500);
  deepEqual([page.now.data, page.now.at, page.now.error?.message], [1, at, "down"]);
  answer = () => Promise.resolve(2);
  await pass(30_000);
  deepEqual([page.now.data, page.now.error], [2, undefined]);
});

test("a first load that fails is repeated, also on a page that is not live", async () => {
  answer = () => Promise.reject(new Error("down"));
  const page = await loading();
  await pass();
  equal(page.now.error?.message, "down");
  answer = () => Promise.resolve(3);
  await pass(7_500);
  equal(page.now.data, 3);
  await pass(60_000);
  equal(asked.length, 2);
});

test("a refusal is not repeated", async () => {
  answer = () => Promise.reject(new ApiError(404, "not_found", "No such thing."));
  const page = await loading(true);
  await pass(60_000);
  deepEqual([asked.length, page.now.error?.message], [1, "No such thing."]);
});

test("the wait between two loads grows to 30 seconds, and news shorten it", async () => {
  const page = await loading(true);
  await pass();
  for (const wait of [5_000, 7_500, 11_250, 16_875, 25_312.5, 30_000, 30_000]) {
    const before = asked.length;
    await pass(wait - 1);
    equal(asked.length, before);
    await pass(1);
    equal(asked.length, before + 1);
  }
  answer = () => Promise.resolve(2);
  await pass(30_000);
  equal(page.now.data, 2);
  const before = asked.length;
  await pass(5_000);
  equal(asked.length, before + 1);
});

test("a hidden page asks for nothing, and asks when it is shown again", async () => {
  await loading(true);
  await pass();
  Object.assign(document, { hidden: true });
  await pass(120_000);
  equal(asked.length, 1);
  Object.assign(document, { hidden: false });
  document.dispatchEvent(new Event("visibilitychange"));
  await pass();
  equal(asked.length, 2);
});

test("a page that was left asks for nothing more, and gives up what it asked for", async () => {
  const page = await loading(true);
  await page.leave();
  await pass(120_000);
  deepEqual([asked.length, asked[0]?.aborted], [1, true]);
});

test("while another key is loaded, the data of the former is shown as stale", async () => {
  const page = await loading();
  await pass();
  const wait = later<number>();
  answer = () => wait.promise;
  await page.show("two");
  deepEqual([page.now.data, page.now.stale], [1, true]);
  wait.keep(2);
  await pass();
  deepEqual([page.now.data, page.now.stale], [2, false]);
});

test("what another request has returned replaces an answer that is still awaited", async () => {
  const page = await loading();
  await pass();
  const wait = later<number>();
  answer = () => wait.promise;
  page.now.reload();
  page.now.show(9);
  wait.keep(2);
  await pass();
  equal(page.now.data, 9);
});
