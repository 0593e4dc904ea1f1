// What Activity does while it is read: its rows stay, and keys lead through its emails.

import { deepEqual, equal } from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { useKeys } from "../src/keys";
import { held, useHeld } from "../src/pages/held";
import type { Message } from "../src/schema";
import { anew, running } from "./browser";

const row = (messageId: string, status = "sent") => ({ messageId, status }) as Message;
/** What the service answers: the same until something is new. */
const answers: Record<string, Message[]> = { a: [row("a")], dcba: ["d", "c", "b", "a"].map((id) => row(id)) };
let reading = false;

beforeEach(() => {
  anew();
  reading = false;
  Object.assign(globalThis, { scrollY: 0 });
  Object.assign(document, { querySelector: () => (reading ? {} : null) });
});

test("while a list is read its rows stay, with their new status, and others are counted", () => {
  deepEqual(held([row("b"), row("a")], [row("c"), row("b", "delivered")]), { items: [row("b", "delivered"), row("a")], fresh: 1 });
});

test("a list without a reader shows new emails at once and counts none of them", async () => {
  const shown: string[] = [];
  const list = await running((ids) => {
    const { items, fresh } = useHeld(answers[ids], "");
    shown.push(`${items.length} ${fresh}`);
  });
  await list.show("a");
  await list.show("dcba");
  deepEqual([...new Set(shown)], ["0 0", "1 0", "4 0"]);
});

test("a reader is told how many emails are new, and sees them on request", async () => {
  const list = await running((ids) => useHeld(answers[ids], ""), "a");
  reading = true;
  await list.show("dcba");
  deepEqual([list.now.items.length, list.now.fresh], [1, 3]);
  list.now.release();
  await list.show("dcba");
  deepEqual([list.now.items.length, list.now.fresh], [4, 0]);
});

/** Press a key where an element is that some selectors match; return whether the page took it. */
function press(key: string, within = ""): boolean {
  const event = new Event("keydown", { cancelable: true });
  const target = { closest: (selectors: string) => selectors.split(", ").includes(within) };
  Object.defineProperties(event, { key: { value: key }, target: { value: target } });
  document.dispatchEvent(event);
  return event.defaultPrevented;
}

test("a key that the page has nothing for, and an arrow where one scrolls, is the browser's", async () => {
  let steps = 0;
  const step = () => (steps += 1);
  const page = await running((open) => useKeys(open ? { j: step, ArrowDown: step } : {}, true));
  equal(press("ArrowDown"), false);
  await page.show("open");
  deepEqual([press("ArrowDown"), press("j"), press("j", "[tabindex='0']"), press("ArrowUp")], [true, true, true, false]);
  deepEqual([press("ArrowDown", "[tabindex='0']"), press("j", "input")], [false, false]);
  equal(steps, 3);
  await page.leave();
});
