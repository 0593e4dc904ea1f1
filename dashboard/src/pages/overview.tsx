// The figures of a day, a week or a month, what failed, and how much of the quota is left.

import { call } from "../api";
import { clock, count, percent } from "../format";
import { type Bar, Bars } from "../parts/bars";
import { Code, Empty, Page, Time } from "../parts/basics";
import { Checklist } from "../parts/checklist";
import { Figures } from "../parts/figures";
import { Icon } from "../parts/icon";
import { Loading, Trouble } from "../parts/notice";
import { useFilters } from "../query";
import { useResource } from "../resource";
import type { Analytics, AnalyticsRow, LimitState, Webhook } from "../schema";
import { placeOf } from "./domains";

const HOUR = 3_600_000; // milliseconds
const DAY = 24 * HOUR;
/** The hours that a range covers, and those of one bar. */
const RANGES = { "24h": [24, 1], "7d": [7 * 24, 6], "31d": [31 * 24, 24] } as const;
type RangeName = keyof typeof RANGES;

/** The part of a quota from which on somebody should know. */
const HIGH_USE = 0.8;

const SERIES = [
  { name: "Delivered", kind: "delivered" },
  { name: "On the way", kind: "pending" },
  { name: "Complaints", kind: "complained" },
  { name: "Bounced", kind: "bounced" },
  { name: "Failed", kind: "failed" },
];

export default function Overview() {
  const [filters, change] = useFilters();
  const range = (filters["range"] ?? "") in RANGES ? (filters["range"] as RangeName) : "24h";
  const { template, key } = filters;
  const figures = useResource(
    `figures ${range} ${template} ${key}`,
    (signal) => call("GET /v1/emails/analytics", { query: { ...windowOf(range), template, key }, signal }),
    true,
  );
  const rows = figures.data && merge(figures.data, RANGES[range][1]);
  return (
    <Page
      title="Overview"
      actions={
        <>
          <TemplateChoice value={template} onChange={(value) => change({ template: value, key: "" })} />
          <fieldset class="segments">
            <legend class="hidden">Time range</legend>
            {Object.keys(RANGES).map((name) => (
              <label key={name}>
                <input type="radio" name="range" checked={name === range} onChange={() => change({ range: name === "24h" ? "" : name })} />
                <span>{name}</span>
              </label>
            ))}
          </fieldset>
        </>
      }
    >
      <Trouble of={figures} />
      {key && (
        <p class="chips">
          <span class="tag">API key {key}</span>
          <button type="button" class="link" onClick={() => change({ key: "" })}>
            Show all keys
          </button>
        </p>
      )}
      <Attention />
      <Checklist />
      {!figures.data && !figures.error && <Loading />}
      {figures.data && rows && (
        <div class={figures.stale ? "stale" : undefined}>
          <Figures of={figures.data} />
          {figures.data.totalMessages === 0 && !template && !key ? (
            <FirstEmail />
          ) : (
            <section class="card">
              <h2>Emails by the time they were accepted</h2>
              <Bars summary={summary(figures.data)} series={SERIES} bars={rows.map((row) => bar(row, range))} />
            </section>
          )}
          <div class="columns">
            <Errors of={figures.data} />
            <Quota />
          </div>
        </div>
      )}
    </Page>
  );
}

/** Return the range, to the full hour, so that one hour has one answer. */
function windowOf(range: RangeName): { from: string; to: string; bucket: "hour" | "day" } {
  const [hours, step] = RANGES[range];
  const size = step === 24 ? DAY : HOUR;
  const to = Math.ceil((Date.now() + 1) / size) * size;
  return {
    from: new Date(to - hours * HOUR).toISOString(),
    to: new Date(to).toISOString(),
    bucket: step === 24 ? "day" : "hour",
  };
}

/** Add up the hours that one bar covers. */
function merge(figures: Analytics, step: number): AnalyticsRow[] {
  const size = figures.bucket === "day" ? 1 : step;
  const rows: AnalyticsRow[] = [];
  figures.volume.forEach((row, index) => {
    const last = rows.at(-1);
    if (index % size === 0 || !last) rows.push({ ...row });
    else for (const name of ["count", "sent", "delivered", "bounced", "complained", "failed"] as const) last[name] += row[name];
  });
  return rows;
}

/** Count each email once, by the worst that happened to it. */
function bar(row: AnalyticsRow, range: RangeName): Bar {
  let left = row.count;
  const take = (number: number) => {
    const taken = Math.min(number, left);
    left -= taken;
    return taken;
  };
  const [failed, bounced, complained] = [take(row.failed), take(row.bounced), take(row.complained)];
  const delivered = take(row.delivered);
  return { ...names(row.timestamp, range), parts: [delivered, left, complained, bounced, failed] };
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

function summary(figures: Analytics): string {
  return `${count(figures.totalMessages)} emails, ${percent(figures.deliveryRate)} delivered, ${percent(figures.bounceRate)} bounced. The table below has all figures.`;
}

function FirstEmail() {
  const command = `curl ${location.origin}/api/v1/emails \\
  -H 'X-API-Key: YOUR_KEY' \\
  -H 'Content-Type: application/json' \\
  -d '{"to": "you@example.com", "starterTemplate": "welcome", "variables": {"name": "Ada"}}'`;
  return (
    <Empty icon="activity" title="No emails in this time">
      <p>Send one with your API key. It appears here within seconds.</p>
      <Code text={command} />
    </Empty>
  );
}

function TemplateChoice({ value = "", onChange }: { value?: string; onChange: (value: string) => void }) {
  const starters = useResource("starters", (signal) => call("GET /v1/starter-templates", { signal }));
  const saved = useResource("templates", (signal) => call("GET /v1/templates", { query: { limit: 100 }, signal }));
  return (
    <label class="choice">
      <span class="hidden">Template</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">All emails</option>
        {!!saved.data?.items.length && (
          <optgroup label="Saved templates">
            {saved.data.items.map(({ id, name }) => (
              <option value={id} key={id}>
                {name}
              </option>
            ))}
          </optgroup>
        )}
        {!!starters.data?.length && (
          <optgroup label="Starter templates">
            {starters.data.map(({ slug, name }) => (
              <option value={slug} key={slug}>
                {name}
              </option>
            ))}
          </optgroup>
        )}
      </select>
    </label>
  );
}

function Errors({ of: figures }: { of: Analytics }) {
  return (
    <section class="card">
      <h2>Most frequent errors</h2>
      {figures.topErrors.length === 0 && <p class="hint">No email failed, bounced or led to a complaint.</p>}
      <ol class="errors">
        {figures.topErrors.map(({ code, message, count: number }) => (
          <li key={`${code} ${message}`}>
            <b>{count(number)}</b>
            <span>
              <code>{code}</code> {message}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

const WINDOWS = {
  month: "Emails this month",
  day: "Emails today",
  recipients: "Recipients today",
};

function Quota() {
  const account = useResource("account", (signal) => call("GET /v1/account", { signal }));
  const limits = account.data?.limits ?? [];
  return (
    <section class="card" id="quota">
      <h2>Quota</h2>
      <Trouble of={account} />
      {Object.entries(WINDOWS).map(([name, title]) =>
        limits.filter((limit) => limit.name === name).map((limit) => <Meter title={title} of={limit} key={name} />),
      )}
    </section>
  );
}

function Meter({ title, of: { limit, used, resetsAt } }: { title: string; of: LimitState }) {
  const left = limit === null ? 1 : (limit - used) / Math.max(limit, 1);
  return (
    <div class="quota">
      <p>
        <span>{title}</span>
        <b>
          {count(used)}
          {limit !== null && ` of ${count(limit)}`}
        </b>
      </p>
      {limit !== null && <progress aria-label={title} class={left < 0.1 ? "short" : undefined} max={limit || 1} value={used} />}
      <p class="hint">{limit === null ? "No limit" : <>Starts again <Time at={resetsAt} /></>}</p>
    </div>
  );
}

/** What needs somebody's attention. */
function Attention() {
  const webhooks = useResource("webhooks", (signal) => call("GET /v1/webhooks", { signal }));
  const domains = useResource("domains", (signal) => call("GET /v1/domains", { signal }));
  const account = useResource("account", (signal) => call("GET /v1/account", { signal }));
  const broken = webhooks.data?.items.filter((endpoint) => endpoint.disabledAt ?? endpoint.failingSince) ?? [];
  const failed = domains.data?.items.filter(({ state }) => state === "failed") ?? [];
  const full = account.data?.limits.filter(({ name, limit, used }) => name in WINDOWS && limit !== null && used >= limit * HIGH_USE) ?? [];
  if (broken.length + failed.length + full.length === 0) return null;
  return (
    <ul class="attention">
      {failed.map(({ domain }) => (
        <li key={domain}>
          <Icon name="warning" />
          <span>
            DNS no longer has the DKIM records of <b>{domain}</b>
          </span>
          <a href={placeOf(domain)}>See the records</a>
        </li>
      ))}
      {broken.map((endpoint) => (
        <li key={endpoint.id}>
          <Icon name="warning" /> {trouble(endpoint)}{" "}
          <a href={`/app/webhooks/${endpoint.id}`}>See what happened</a>
        </li>
      ))}
      {full.map(({ name, limit, used }) => (
        <li key={name}>
          <Icon name="warning" />
          <span>
            {WINDOWS[name as keyof typeof WINDOWS]}: <b>{percent(used / Math.max(limit ?? 1, 1))}</b> of the quota is used
          </span>
          <a href="#quota">See the quota</a>
        </li>
      ))}
    </ul>
  );
}

function trouble({ url, disabledAt }: Webhook) {
  return (
    <span>
      {disabledAt ? "The service disabled the webhook " : "The last delivery failed: the webhook "}
      <b>{url}</b>
    </span>
  );
}
