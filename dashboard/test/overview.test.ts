// The figures of the overview, its first steps and warnings, and how numbers and times are written.

import { deepEqual, equal, match } from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { count, duration, percent, relative, roundUp } from "../src/format";
import { isBroken, isNearlyUsed } from "../src/pages/attention";
import { dayBefore, neighbour, rangeText, toQuery } from "../src/pages/emails";
import { barsOf, windowBefore, windowOf } from "../src/pages/figures";
import { namesOf } from "../src/pages/origins";
import { nameOf, reasonOf } from "../src/pages/pauses";
import { stepsOf } from "../src/parts/steps";
import type { Analytics, Message } from "../src/schema";
import { anew } from "./browser";

beforeEach(anew);

const statuses = { pending: 1, sent: 2, delivered: 3, bounced: 4, complained: 5, failed: 6 };

function figures(hours: number, bucket: "hour" | "day" = "hour"): Analytics {
  const volume = Array.from({ length: hours }, (_, hour) => ({ timestamp: new Date(Date.UTC(2026, 4, 1, hour)).toISOString(), statuses, count: 21, sent: 20, delivered: 19, bounced: 18, complained: 17, failed: 16 }));
  return { bucket, volume } as unknown as Analytics;
}

test("a bar of six hours counts each email once, by the status that it has now", () => {
  const bars = barsOf(figures(7 * 24), "7d");
  equal(bars.length, 28);
  for (const bar of bars) deepEqual(bar.parts, [18, 18, 30, 24, 36]);
});

test("a bar of an hour or a day is one row, also if the service answers in days", () => {
  deepEqual(barsOf(figures(24), "24h").map(({ parts }) => parts), Array(24).fill([3, 3, 5, 4, 6]));
  equal(barsOf(figures(7, "day"), "7d").length, 7);
});

test("a range ends with the hour or the day that runs, so that one hour has one answer", () => {
  deepEqual(windowOf("24h"), { from: "2026-05-04T13:00:00.000Z", to: "2026-05-05T13:00:00.000Z", bucket: "hour" });
  deepEqual(windowOf("31d"), { from: "2026-04-05T00:00:00.000Z", to: "2026-05-06T00:00:00.000Z", bucket: "day" });
});

test("each step ticks itself when it is done", () => {
  const nothing = { contact: null, defaultSender: null };
  const done = (more: object, account: object = {}) =>
    stepsOf({ domains: [], keys: [], webhooks: [], emails: 0, account: { ...nothing, ...account }, ...more }).map((step) => (step.done ? 1 : 0)).join("");
  equal(done({}), "00000");
  equal(done({ domains: [{ status: "pending" }], keys: [{ revokedAt: "2026" }] }), "00000");
  equal(done({ domains: [{ status: "verified" }] }), "10000");
  equal(done({}, { defaultSender: "ada@shop.example" }), "11000");
  equal(done({ keys: [{ revokedAt: null }] }), "00100");
  equal(done({ emails: 1 }), "00110");
  equal(done({ webhooks: [{ id: "w" }] }), "00001");
  equal(done({ emails: 1 }, { contact: "ada@shop.example" }), "11000"); // a first email needs no domain then
});

test("a webhook that fails or is disabled, and a quota above 80 %, need attention", () => {
  deepEqual([isBroken({ disabledAt: null, failingSince: null }), isBroken({ disabledAt: "2026", failingSince: null }), isBroken({ disabledAt: null, failingSince: "2026" })], [false, true, true]);
  deepEqual([79, 80].map((used) => isNearlyUsed({ limit: 100, used })), [false, true]);
  equal(isNearlyUsed({ limit: null, used: 10 ** 9 }), false);
});

test("numbers have separators, and a percentage close to 0 or 100 two digits", () => {
  deepEqual([count(1_234_567), percent(0.5), percent(0.98765), percent(0.00012)], ["1,234,567", "50%", "98.8%", "0.01%"]);
  deepEqual([0.99962, 0.9999999, 1, 0].map(percent), ["99.96%", "99.99%", "100%", "0%"]);
});

test("a duration has the unit that needs fewest digits", () => {
  deepEqual([0.1, 0.84, 2.263, 59.5, 240, 5_000, 7_200].map(duration), ["0.1 s", "0.84 s", "2.3 s", "60 s", "4 min", "83 min", "2 h"]);
});

test("the scale of the bars ends at the next whole number that is easy to read", () => {
  deepEqual([1, 2.2, 11, 13, 125, 1_250, 1_251, 2_600].map(roundUp), [1, 3, 15, 15, 125, 1_250, 1_500, 3_000]);
});

test("a bar leads to the emails of its time, of the chosen template and key", () => {
  const [first] = barsOf(figures(7 * 24), "7d", { template: "welcome" });
  equal(first?.href, "/app/activity?template=welcome&from=2026-05-01T00%3A00%3A00.000Z&to=2026-05-01T06%3A00%3A00.000Z");
  const byError = toQuery({ status: "bounced", error: "mailbox_full" }, 1);
  deepEqual([byError.status, byError.error, toQuery({ status: "bounced" }, 1).status], [undefined, "mailbox_full", "bounced"]);
  const query = toQuery({ from: "2026-05-01T00:00:00.000Z", to: "2026-05-01T06:00:00.000Z" }, 1);
  deepEqual([query.from, query.to], ["2026-05-01T00:00:00.000Z", "2026-05-01T06:00:00.000Z"]);
});

test("the button of a time says what it covers", () => {
  deepEqual([rangeText("", ""), rangeText(dayBefore(0), ""), rangeText("2026-05-01", ""), rangeText("", "2026-05-02")], ["Any time", "Today", "Since 1 May 2026", "Until 2 May 2026"]);
  deepEqual([rangeText("2026-05-01", "2026-05-01"), rangeText("2026-05-01", "2026-05-03")], ["1 May 2026", "1 May 2026 to 3 May 2026"]);
  equal(rangeText("2026-05-01T06:00:00.000Z", "2026-05-01T12:00:00.000Z"), "1 May 2026, 06:00 to 12:00");
  deepEqual([dayBefore(0), dayBefore(5)], ["2026-05-05", "2026-04-30"]);
});

test("the range before ends as long ago as a range is, so that both have as much of an hour or day", () => {
  mock.timers.tick(65 * 60_000); // 13:05
  deepEqual(windowBefore("24h"), { from: "2026-05-03T14:00:00.000Z", to: "2026-05-04T13:00:00.000Z", bucket: "hour" });
  deepEqual(windowBefore("31d"), { from: "2026-03-05T00:00:00.000Z", to: "2026-04-04T13:00:00.000Z", bucket: "day" });
});

test("each part of a bar leads to the emails of its status, and what is on the way to none", () => {
  const [first] = barsOf(figures(24), "24h", { key: "k" });
  deepEqual(first?.hrefs.map((href) => href && /status=(\w+)/.exec(href)?.[1]), ["delivered", undefined, "complained", "bounced", "failed"]);
});

const row = (messageId: string, status = "sent") => ({ messageId, status }) as Message;

test("the email before and after one is known, unless the list ends or lacks it", () => {
  const list = ["c", "b", "a"].map((id) => row(id));
  deepEqual([neighbour(list, "b", 1), neighbour(list, "b", -1), neighbour(list, "a", 1), neighbour(list, "x", 1)], ["a", "c", undefined, undefined]);
});

test("a time is written as how long ago it was, and as a date after a week", () => {
  const ago = (seconds: number) => relative(new Date(Date.now() - seconds * 1_000).toISOString());
  equal(ago(2), "now");
  match(ago(30), /^30 sec/);
  match(ago(-120), /^in 2 min/);
  match(ago(3 * 3_600), /^3 hr/);
  match(ago(6 * 86_400), /^6 days ago/);
  equal(ago(8 * 86_400), "27 Apr 2026");
});

test("a pause says what it is about, what it does and why", () => {
  const names = namesOf([{ id: "key_1", name: "shop" }]);
  equal(nameOf({ scope: "account", id: null }, names), "The account");
  equal(nameOf({ scope: "key", id: "key_1" }, names), "The key shop");
  equal(nameOf({ scope: "template", id: "deleted" }, names), "The template deleted");
  equal(reasonOf({ level: "stop", cause: "bounces" }), "sends nothing, because too many of its emails bounced.");
});
