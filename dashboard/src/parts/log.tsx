// What operators of the service did to an account.

import type { LogItem } from "../schema";
import { Time } from "./basics";

const SETTINGS: Record<string, string> = {
  name: "Name",
  plan: "Plan",
  perMinute: "Emails per minute",
  perDay: "Emails per day",
  perMonth: "Emails per month",
  recipientsPerDay: "Recipients per day",
  holdUncertain: "Hold uncertain emails",
  contact: "Contact",
  brandName: "Brand name",
  logoUrl: "Logo",
  accent: "Accent colour",
  fromName: "Sender's display name",
  shards: "Partitions",
};
const LIMITS = ["perMinute", "perDay", "perMonth", "recipientsPerDay"];
const ACTIONS = { approved: "Approved", changed: "Changed", suspended: "Suspended", resumed: "Resumed" };
const KINDS = { approved: "delivered", changed: "sent", suspended: "failed", resumed: "delivered" };

type Entry = LogItem & { by?: string; reason?: string | null };
type Value = LogItem["changes"][number]["before"];

export function Log({ of: entries }: { of: Entry[] }) {
  return (
    <ol class="timeline">
      {entries.map(({ id, at, action, changes, by, reason }) => (
        <li key={id} class={`is-${KINDS[action]}`}>
          <b>{ACTIONS[action]}</b> {by && `by ${by} `}
          <Time at={at} />
          {changes.map(({ name, before, after }) => (
            <p key={name}>
              {SETTINGS[name] ?? name}: {text(name, before)} → <b>{text(name, after)}</b>
            </p>
          ))}
          {reason && <p class="reason">{reason}</p>}
        </li>
      ))}
    </ol>
  );
}

function text(name: string, value: Value): string {
  if (value === null) return LIMITS.includes(name) ? "the plan’s" : "none";
  if (typeof value === "number") return value.toLocaleString("en-GB");
  return typeof value === "boolean" ? (value ? "on" : "off") : value;
}
