// The figures of a day, a week or a month, what failed, and how much of the quota is left.

import { curlWith, firstRecipient } from "../command";
import { count, percent, zone } from "../format";
import { Bars } from "../parts/bars";
import { Code, Empty, Page, Segments, Time } from "../parts/basics";
import { useChecklist } from "../parts/checklist";
import { TemplateChoice, useNames } from "../parts/choices";
import { Figures } from "../parts/figures";
import { Icon } from "../parts/icon";
import { Loading, Trouble } from "../parts/notice";
import { Pauses } from "../parts/pauses";
import { domainAt, emailsAt } from "../places";
import { useFilters } from "../query";
import { isSettled, type Resource, useResource } from "../resource";
import type { Account, Analytics, LimitState, Overview as OverviewData, Webhook } from "../schema";
import { session } from "../session";
import { isBroken, isNearlyUsed } from "./attention";
import { barsOf, RANGES, type RangeName, SERIES, windowBefore, windowOf } from "./figures";

export default function Overview() {
  const [filters, change] = useFilters();
  const range = (filters["range"] ?? "") in RANGES ? (filters["range"] as RangeName) : "24h";
  const { template, key } = filters;
  const period = windowOf(range);
  const figures = useResource("GET /v1/emails/analytics", { query: { ...period, template, keyId: key } }, true);
  const before = useResource("GET /v1/emails/analytics", { query: { ...windowBefore(range), template, keyId: key } });
  const overview = useResource("GET /v1/overview");
  const attention = useAttention(overview);
  const checklist = useChecklist(overview, figures.data?.totalMessages ?? 0);
  // What comes late would push down what is read already.
  const known = isSettled(figures) && isSettled(before) && attention !== undefined && checklist !== undefined;
  return (
    <Page
      title="Overview"
      actions={
        <>
          <TemplateChoice none="All emails" value={template} onChange={(value) => change({ template: value, key: "" })} />
          <Segments name="Time range" of={Object.keys(RANGES) as RangeName[]} value={range} onChange={(name) => change({ range: name === "24h" ? "" : name })} />
        </>
      }
    >
      <Trouble of={figures} />
      {key && (
        <p class="chips">
          <span class="tag">API key <KeyName of={key} /></span>
          <button type="button" class="link" onClick={() => change({ key: "" })}>
            Show all keys
          </button>
        </p>
      )}
      {known ? attention : !figures.error && <Loading />}
      {known && checklist}
      {known && figures.data && (
        <div class={figures.stale ? "stale" : undefined}>
          <Figures of={withSent(figures.data)} before={before.data && withSent(before.data)} comparing={before.stale} listOf={(status) => emailsAt({ template, key }, period.from, period.to, { status })} />
          {figures.data.totalMessages === 0 && !template && !key ? (
            <FirstEmail account={overview.data?.account} />
          ) : (
            <section class="card">
              <h2>Emails by the time they were accepted</h2>
              <Bars summary={summary(figures.data)} series={SERIES} bars={barsOf(figures.data, range, { template, key })} />
              <p class="hint">{range === "31d" ? "Days are those of UTC." : `Times are those of ${zone()}.`} A bar leads to its emails.</p>
            </section>
          )}
          <div class="columns">
            <Errors of={figures.data} listOf={(error) => emailsAt({ template, key }, period.from, period.to, { error })} />
            <Quota of={overview} />
          </div>
        </div>
      )}
    </Page>
  );
}

function KeyName({ of: id }: { of: string }) {
  return <>{useNames().get(id) ?? id}</>;
}

const withSent = (figures: Analytics) => ({ ...figures, sent: figures.volume.reduce((sum, row) => sum + row.sent, 0) });

function summary(figures: Analytics): string {
  return `${count(figures.totalMessages)} emails. Of ${count(withSent(figures).sent)} sent ${percent(figures.deliveryRate)} were delivered and ${percent(figures.bounceRate)} bounced. The table below has all figures.`;
}

function FirstEmail({ account }: { account: Account | undefined }) {
  const to = firstRecipient(account, session.value?.user.email ?? "");
  return (
    <Empty icon="activity" title="No emails in this time">
      <p>
        Send one with your API key. It appears here within seconds. <a href="/app/guides">Guides for your language</a>
      </p>
      <Code text={curlWith(location.origin, "YOUR_KEY", to)} />
    </Empty>
  );
}

function Errors({ of: figures, listOf }: { of: Analytics; listOf: (error: string) => string }) {
  return (
    <section class="card">
      <h2>Most frequent errors</h2>
      {figures.topErrors.length === 0 && <p class="hint">No errors. Canceled emails are none.</p>}
      <ol class="errors">
        {figures.topErrors.map(({ code, message, count: number }) => (
          <li key={`${code} ${message}`}>
            <b>{count(number)}</b>
            <span>
              <a href={listOf(code)}>
                <code>{code}</code>
              </a>{" "}
              {message}
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

function Quota({ of: overview }: { of: Resource<OverviewData> }) {
  const limits = overview.data?.account.limits ?? [];
  return (
    <section class="card" id="quota">
      <h2>Quota</h2>
      <Trouble of={overview} />
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
      <p class="hint">{limit === null ? "No limit" : <>Resets <Time at={resetsAt} /></>}</p>
    </div>
  );
}

/** Return what the user should look at: pauses, failed domains, failing webhooks and quotas that are nearly used up. */
function useAttention(overview: Resource<OverviewData>) {
  const domains = useResource("GET /v1/domains");
  if (!isSettled(domains) || !isSettled(overview)) return undefined;
  const { account, webhooks = [] } = overview.data ?? {};
  const broken = webhooks.filter(isBroken);
  const failed = domains.data?.items.filter(({ status }) => status === "failed") ?? [];
  const full = account?.limits.filter((limit) => limit.name in WINDOWS && isNearlyUsed(limit)) ?? [];
  const paused = <Pauses of={account} onResumed={(account) => overview.data && overview.show({ ...overview.data, account })} />;
  if (broken.length + failed.length + full.length === 0) return paused;
  return (
    <>
      {paused}
      <ul class="attention">
        {failed.map(({ domain }) => (
          <li key={domain}>
            <Icon name="warning" />
            <span>
              DNS no longer has the DKIM records of <b>{domain}</b>
            </span>
            <a href={domainAt(domain)}>See the records</a>
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
    </>
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
