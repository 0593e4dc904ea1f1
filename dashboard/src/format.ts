// Numbers and times as people read them.

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const ago = new Intl.RelativeTimeFormat("en-GB", { numeric: "always", style: "short" });
const WEEK = 7 * 86_400;

export const count = (value: number) => value.toLocaleString("en-GB");

/** Return a fraction as a percentage. Close to 0 and to 100 it has two digits; only what is whole is 100%. */
export function percent(fraction: number): string {
  const value = fraction < 1 ? Math.min(fraction * 100, 99.99) : fraction * 100;
  return `${value.toLocaleString("en-GB", { maximumFractionDigits: value < 0.1 || value > 99.9 ? 2 : 1 })}%`;
}

/** Return a duration with two digits. */
export function duration(seconds: number): string {
  const [size, unit] = seconds < 100 ? [1, "s"] : seconds < 6_000 ? [60, "min"] : [3_600, "h"];
  return `${(seconds / Number(size)).toLocaleString("en-GB", { maximumSignificantDigits: 2 })} ${unit}`;
}

/** Return how long ago a time was, or its date if that is more than a week. */
export function relative(time: string, now = Date.now()): string {
  const seconds = (now - Date.parse(time)) / 1000;
  if (seconds > WEEK) return day(time);
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  if (unit === "second" && Math.abs(seconds) < 5) return "now";
  return ago.format(-Math.round(seconds / size), unit);
}

export function day(time: string | Date): string {
  return new Date(time).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
}

export function clock(time: string | Date): string {
  return new Date(time).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}

/** Return date and time to the minute. */
export const minute = (time: string | Date) => `${day(time)}, ${clock(time)}`;

/** The name of the reader's time zone, in which all times are written. */
export const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Return date and time to the millisecond with the offset to UTC, as an incident needs it. */
export function exact(time: string): string {
  const when = new Date(time);
  const milliseconds = String(when.getMilliseconds()).padStart(3, "0");
  const text = when.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const offset = when.toLocaleTimeString("en-GB", { timeZoneName: "shortOffset" }).split(" ").at(-1) ?? "";
  return `${day(when)}, ${text}.${milliseconds} ${offset.replace("GMT", "UTC").replace(/\+0$/, "")}`;
}

/** Return the next number that is easy to read, so that the highest bar takes most of the height. */
export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const steps = [1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((step) => step * power);
  return steps.find((step) => Number.isInteger(step) && step >= value) ?? value;
}
