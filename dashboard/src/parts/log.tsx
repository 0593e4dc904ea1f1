// What operators of the service did to an account, and its members to what it has.

import { type Names, namesOf } from "../pages/origins";
import { useResource } from "../resource";
import { may } from "../rights";
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
  supportEmail: "Help",
  companyAddress: "Postal address",
  actionUrl: "Button of the welcome email",
  shards: "Partitions",
  keepDays: "Days to keep content",
  recordDays: "Days to keep records",
  replies: "Emails ask for answers",
  receivedDays: "Days to keep received mail",
  role: "Role",
};
const LIMITS = ["perMinute", "perDay", "perMonth", "recipientsPerDay"];
const ACTIONS: Record<LogItem["action"], [string, string]> = {
  approved: ["Account approved", "delivered"],
  changed: ["Account changed", "sent"],
  suspended: ["Account suspended", "failed"],
  resumed: ["Account resumed", "delivered"],
  "api.called": ["Changed by a key", "sent"],
  "key.created": ["Key created", "delivered"],
  "key.revoked": ["Key revoked", "failed"],
  "member.invited": ["Member invited", "sent"],
  "member.joined": ["Member joined", "delivered"],
  "member.changed": ["Member changed", "sent"],
  "member.removed": ["Member removed", "failed"],
  "passkey.added": ["Passkey added", "delivered"],
  "passkey.removed": ["Passkey removed", "failed"],
  "passkey.stopped": ["Passkey stopped, because a copy of it was used", "failed"],
  "webhook.created": ["Webhook endpoint created", "delivered"],
  "webhook.changed": ["Webhook endpoint changed", "sent"],
  "webhook.deleted": ["Webhook endpoint deleted", "failed"],
  "sending.resumed": ["Pause of emails ended", "delivered"],
  "alerts.changed": ["Alerts changed", "sent"],
  "domain.added": ["Domain added", "delivered"],
  "domain.removed": ["Domain removed", "failed"],
  "content.read": ["Content of an email read", "note"],
  "content.resent": ["Email sent again", "sent"],
  "received.read": ["Received mail read", "note"],
  "receiving.begun": ["Receiving switched on", "delivered"],
  "receiving.ended": ["Receiving switched off", "failed"],
  "keep.changed": ["Days to keep content changed", "sent"],
  "records.changed": ["Days to keep records changed", "sent"],
  "domain.shared": ["Link to DNS records created", "note"],
  "sender.added": ["Sender added", "delivered"],
  "sender.removed": ["Sender removed", "failed"],
  "domain.lost": ["The record OWNERSHIP is gone, and with it the domain", "failed"],
};

type Entry = LogItem & { reason?: string | null };
type Value = LogItem["changes"][number]["before"];

/** The log as the account sees it: with the names of its keys. */
export function OwnLog({ of: entries }: { of: LogItem[] }) {
  const keys = useResource(may("keys") ? "GET /v1/keys" : null);
  return <Log of={entries} names={namesOf(keys.data?.items)} />;
}

export function Log({ of: entries, names }: { of: Entry[]; names?: Names }) {
  return (
    <ol class="timeline">
      {entries.map(({ id, at, action, subject, count, changes, by, reason }) => (
        <li key={id} class={`is-${ACTIONS[action][1]}`}>
          <b>{ACTIONS[action][0]}</b> {subject && subjectOf(action, subject)}{" "}
          {by && `by ${names?.get(by) ?? by} `}
          {count > 1 && `${count} times `}
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

/** Return what an action was about, as a link if it is an email. */
function subjectOf(action: string, subject: string) {
  if (!/^(content|received)\./.test(action)) return subject;
  return <a href={`/app/activity/${action === "received.read" ? "received/" : ""}${subject}`}>{subject}</a>;
}

function text(name: string, value: Value): string {
  if (value === null) return LIMITS.includes(name) ? "the plan’s" : "none";
  if (typeof value === "number") return value.toLocaleString("en-GB");
  return typeof value === "boolean" ? (value ? "on" : "off") : value;
}
