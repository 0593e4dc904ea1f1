// Numbers and times as people read them.

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const ago = new Intl.RelativeTimeFormat("en-GB", { numeric: "always", style: "short" });
const WEEK = 7 * 86_400;

export const count = (value: number) => value.toLocaleString("en-GB");

/** Return a fraction as a percentage; a small one keeps two digits that say something. */
export function percent(fraction: number): string {
  const value = fraction * 100;
  return `${value.toLocaleString("en-GB", { maximumFractionDigits: value < 0.1 ? 2 : 1 })} %`;
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

/** Return date and time to the millisecond, as an incident needs it. */
export function exact(time: string): string {
  const when = new Date(time);
  const milliseconds = String(when.getMilliseconds()).padStart(3, "0");
  const text = when.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  return `${day(when)}, ${text}.${milliseconds}`;
}
