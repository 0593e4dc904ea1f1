// The time ranges of the overview, and the bars that show the emails of a range.

import { clock } from "../format";
import type { Bar } from "../parts/bars";
import { type Chosen, emailsAt } from "../places";
import type { Analytics, AnalyticsRow, Status } from "../schema";

const HOUR = 3_600_000; // milliseconds
const DAY = 24 * HOUR;
const STEP = HOUR / 6;
/** The hours that a range covers, and those of one bar. */
export const RANGES = { "24h": [24, 1], "7d": [7 * 24, 6], "31d": [31 * 24, 24] } as const;
export type RangeName = keyof typeof RANGES;

/** What a bar shows of a row. */
type Row = Pick<AnalyticsRow, "timestamp" | "statuses">;
const STATUSES = ["pending", "sent", "delivered", "bounced", "complained", "failed"] as const;

/** What the parts of a bar count: the emails of one status, or those on the way. */
const PARTS: (Status | undefined)[] = ["delivered", undefined, "complained", "bounced", "failed"];

export const SERIES = [
  { name: "Delivered", kind: "delivered" },
  { name: "On the way", kind: "pending" },
  { name: "Complaints", kind: "complained", bad: true },
  { name: "Bounced", kind: "bounced", bad: true },
  { name: "Failed or canceled", kind: "failed", bad: true },
];

interface Period {
  from: string;
  to: string;
  bucket: "hour" | "day";
}

/** Return the range to the end of the hour or day that runs, so that one hour has one answer. */
export function windowOf(range: RangeName): Period {
  const [hours, step] = RANGES[range];
  const size = step === 24 ? DAY : HOUR;
  const to = Math.ceil((Date.now() + 1) / size) * size;
  return period(to - hours * HOUR, to, step);
}

/** Return the range before it, to the same point: as much of it as has passed now, in steps of ten minutes. */
export function windowBefore(range: RangeName): Period {
  const [hours, step] = RANGES[range];
  const from = Date.parse(windowOf(range).from) - hours * HOUR;
  return period(from, Math.floor(Date.now() / STEP) * STEP - hours * HOUR, step);
}

const period = (from: number, to: number, step: number): Period => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
  bucket: step === 24 ? "day" : "hour",
});

/** Return the bars of a range, each with the page of its emails. */
export function barsOf(figures: Analytics, range: RangeName, chosen: Chosen = {}): Bar[] {
  const size = figures.bucket === "day" ? DAY : RANGES[range][1] * HOUR;
  return merge(figures, RANGES[range][1]).map((row) => {
    const end = new Date(Date.parse(row.timestamp) + size).toISOString();
    const hrefs = PARTS.map((status) => status && emailsAt(chosen, row.timestamp, end, { status }));
    return { ...bar(row, range), href: emailsAt(chosen, row.timestamp, end), hrefs };
  });
}

/** Add up the hours that one bar covers. */
function merge(figures: Analytics, step: number): Row[] {
  const size = figures.bucket === "day" ? 1 : step;
  const rows: Row[] = [];
  figures.volume.forEach((row, index) => {
    const last = rows.at(-1);
    if (index % size === 0 || !last) rows.push({ timestamp: row.timestamp, statuses: { ...row.statuses } });
    else for (const name of STATUSES) last.statuses[name] += row.statuses[name];
  });
  return rows;
}

/** Count each email once, by the status that it has now, as Activity lists it. */
function bar({ timestamp, statuses }: Row, range: RangeName): Omit<Bar, "href" | "hrefs"> {
  const { pending, sent, delivered, complained, bounced, failed } = statuses;
  return { ...names(timestamp, range), parts: [delivered, pending + sent, complained, bounced, failed] };
}

function names(timestamp: string, range: RangeName): { label: string; tick: string } {
  const time = new Date(timestamp);
  if (range === "31d") {
    // Days are days in UTC.
    const text = time.toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
    return { label: text, tick: time.getUTCDate() % 5 === 1 ? text : "" };
  }
  const text = time.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  if (range === "24h") return { label: `${text}, ${clock(time)}`, tick: time.getHours() % 4 ? "" : clock(time) };
  const weekday = time.toLocaleDateString("en-GB", { weekday: "short", day: "numeric" });
  return { label: `${text}, from ${clock(time)}`, tick: time.getHours() < 6 ? weekday : "" };
}
