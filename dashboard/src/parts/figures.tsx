// How many emails were accepted, and what became of them.

import { count, percent } from "../format";
import type { Analytics } from "../schema";
import { Icon } from "./icon";

/** Providers look closer at a sender above these rates. */
const HIGH_BOUNCES = 0.05;
const HIGH_COMPLAINTS = 0.001;

type Totals = Pick<Analytics, "totalMessages" | "deliveryRate" | "bounceRate" | "complaintRate">;

export function Figures({ of: figures }: { of: Totals }) {
  const { totalMessages, deliveryRate, bounceRate, complaintRate } = figures;
  const none = totalMessages === 0;
  return (
    <dl class="figures">
      <Figure name="Accepted" value={count(totalMessages)} />
      <Figure name="Delivered" value={none ? "–" : percent(deliveryRate)} />
      <Figure name="Bounced" value={none ? "–" : percent(bounceRate)} limit={HIGH_BOUNCES} rate={bounceRate} />
      <Figure name="Complaints" value={none ? "–" : percent(complaintRate)} limit={HIGH_COMPLAINTS} rate={complaintRate} />
    </dl>
  );
}

function Figure({ name, value, limit, rate = 0 }: { name: string; value: string; limit?: number; rate?: number }) {
  const high = limit !== undefined && rate >= limit;
  return (
    <div class={high ? "high" : undefined}>
      <dt>{name}</dt>
      <dd>{value}</dd>
      {limit !== undefined && (
        <dd class="hint">
          {high && <Icon name="warning" />} {high ? "Above" : "Keep it below"} {percent(limit)}
        </dd>
      )}
    </div>
  );
}
