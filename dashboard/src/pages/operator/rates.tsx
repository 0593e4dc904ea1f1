// What all accounts sent, and which of them cause the load or the trouble.

import { count, percent } from "../../format";
import { Badge, Empty, Page } from "../../parts/basics";
import { Figures } from "../../parts/figures";
import { Head } from "../../parts/list";
import { Progress } from "../../parts/notice";
import { useFilters } from "../../query";
import { useResource } from "../../resource";
import type { RankBy } from "../../schema";

const SPANS = { "1": "24 hours", "7": "7 days", "31": "31 days" };
const ORDERS: Record<RankBy, string> = { volume: "Most emails", bounces: "Most bounces", complaints: "Most complaints" };

export default function Rates() {
  const [filters, change] = useFilters();
  const days = filters.days ?? "1";
  const by = (filters.by ?? "volume") as RankBy;
  const rates = useResource("GET /v1/operator/rates", { query: { days: Number(days), by } });
  const choices = (
    <>
      <Choice name="Time" options={SPANS} value={days} onChange={(value) => change({ days: value })} />
      <Choice name="Order" options={ORDERS} value={by} onChange={(value) => change({ by: value })} />
    </>
  );
  return (
    <Page title="Rates" actions={choices}>
      <p class="lead">A bounce and a complaint count at the time of their email. Rates are over what was handed to Amazon SES.</p>
      <Progress of={rates} />
      {rates.data && (
        <div class={rates.stale ? "stale" : undefined}>
          <Figures of={rates.data.allAccounts} />
          {!!rates.data.allAccounts.unconfirmed && (
            <p class="hint">Of {count(rates.data.allAccounts.unconfirmed)} emails SES has reported no delivery and no bounce for a day.</p>
          )}
          {rates.data.items.length === 0 && (
            <Empty icon="activity" title="Nothing in this time">
              <p>{by === "volume" ? "No account sent an email." : "No account has any of these."}</p>
            </Empty>
          )}
          {rates.data.items.length > 0 && (
            <table class="list records plain">
              <Head caption="Accounts" columns={["Account", "Emails", "Bounced", "Complaints"]} />
              <tbody>
                {rates.data.items.map((one) => (
                  <tr key={one.id}>
                    <td class="who">
                      <a class="row" href={`/app/operator/accounts/${one.id}`}>
                        {one.name}
                      </a>{" "}
                      {one.suspendedAt && <Badge status="failed">suspended</Badge>}
                      <small>{one.id}</small>
                    </td>
                    <td data-label="Emails">{count(one.totalMessages)}</td>
                    <td data-label="Bounced">
                      {count(one.bounced)} ({percent(one.bounceRate)})
                    </td>
                    <td data-label="Complaints">
                      {count(one.complained)} ({percent(one.complaintRate)})
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
          {rates.data.total > rates.data.items.length && (
            <p class="hint">
              The first {count(rates.data.items.length)} of {count(rates.data.total)} accounts.
            </p>
          )}
        </div>
      )}
    </Page>
  );
}

function Choice(props: { name: string; options: Record<string, string>; value: string; onChange: (value: string) => void }) {
  return (
    <label class="choice">
      <span class="hidden">{props.name}</span>
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {Object.entries(props.options).map(([value, text]) => (
          <option value={value} key={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
