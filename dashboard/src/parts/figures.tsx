// How many emails were accepted, and what became of them.

import { count, duration, percent } from "../format";
import type { Analytics, Status } from "../schema";
import { Icon } from "./icon";

/** Providers look closer at a sender above these rates. */
const HIGH_BOUNCES = 0.05;
const HIGH_COMPLAINTS = 0.001;

type Totals = Pick<Analytics, "totalMessages" | "deliveryRate" | "bounceRate" | "complaintRate"> & Partial<Pick<Analytics, "secondsToSent" | "statuses">> & { sent: number };

interface Properties {
  of: Totals;
  /** The figures of the time before, to compare with. */
  before?: Totals;
  /** Whether `before` is of another time than `of`, and the right one is on its way. */
  comparing?: boolean;
  /** Return the page with the emails that a figure counts. */
  listOf?: (status?: Status) => string;
}

export function Figures({ of: figures, before, comparing, listOf }: Properties) {
  const { totalMessages, sent, statuses, bounceRate, complaintRate } = figures;
  const rate = (of: Totals, name: "deliveryRate" | "bounceRate" | "complaintRate") => (of.sent > 0 ? percent(of[name]) : "–");
  const was = (text: (than: Totals) => string) => (before && before.totalMessages > 0 ? (comparing ? "…" : text(before)) : undefined);
  const { secondsToSent: waits } = figures;
  return (
    <dl class="figures">
      <Figure name="Accepted" value={count(totalMessages)} before={was((than) => count(than.totalMessages))} href={listOf?.()} />
      {statuses && <Figure name="Waiting" value={count(statuses.pending)} note="not sent yet" href={listOf?.("pending")} />}
      <Figure name="Delivered" value={rate(figures, "deliveryRate")} before={was((than) => rate(than, "deliveryRate"))} note={`of ${count(sent)} sent`} href={listOf?.("delivered")} />
      <Figure name="Bounced" value={rate(figures, "bounceRate")} before={was((than) => rate(than, "bounceRate"))} href={listOf?.("bounced")} limit={HIGH_BOUNCES} rate={bounceRate} />
      <Figure name="Complaints" value={rate(figures, "complaintRate")} before={was((than) => rate(than, "complaintRate"))} href={listOf?.("complained")} limit={HIGH_COMPLAINTS} rate={complaintRate} />
      {waits && (
        <Figure name="95% sent within" value={waits.p95 === null ? "–" : duration(waits.p95)} before={was(({ secondsToSent }) => (secondsToSent?.p95 ? duration(secondsToSent.p95) : "–"))} note={waits.p50 === null ? undefined : `half within ${duration(waits.p50)}`} />
      )}
    </dl>
  );
}

interface FigureProperties {
  name: string;
  value: string;
  before?: string;
  note?: string;
  href?: string;
  limit?: number;
  rate?: number;
}

function Figure({ name, value, before, note, href, limit, rate = 0 }: FigureProperties) {
  const high = limit !== undefined && rate >= limit;
  return (
    <div class={high ? "high" : undefined}>
      <dt>{name}</dt>
      <dd>{href ? <a href={href}>{value}</a> : value}</dd>
      {before && <dd class="hint">{before === value ? "the same" : before} before</dd>}
      {note && <dd class="hint">{note}</dd>}
      {limit !== undefined && (
        <dd class="hint">
          {high && <Icon name="warning" />} {high ? "Above" : "Keep it below"} {percent(limit)}
        </dd>
      )}
    </div>
  );
}
