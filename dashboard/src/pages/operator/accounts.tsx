// All accounts of the service.

import { useLocation } from "preact-iso/router";
import { useEffect } from "preact/hooks";

import { count } from "../../format";
import { Badge, Empty, Page, Time } from "../../parts/basics";
import { CursorPager } from "../../parts/cursor-pager";
import { Head } from "../../parts/list";
import { Progress } from "../../parts/notice";
import { Search } from "../../parts/search";
import { useFilters } from "../../query";
import { useResource } from "../../resource";
import type { ListedAccount } from "../../schema";

const SIZE = 50;
const PLACE = "/app/operator/accounts";

export default function Accounts() {
  const { path, route } = useLocation();
  useEffect(() => {
    // While this page loads, another one may have been opened.
    if (location.pathname === "/app/operator") route(PLACE, true);
  }, [path]);
  const [{ search, cursor }, change] = useFilters();
  const list = useResource("GET /v1/operator/accounts", { query: { search, cursor, limit: SIZE } });
  const next = list.data?.nextCursor;
  const items = list.data?.items ?? [];
  return (
    <Page title="Accounts">
      <Search value={search ?? ""} placeholder="A part of the name, or how the id begins" most={128} onSearch={(text) => change({ search: text, cursor: "" })} />
      <Progress of={list} />
      {list.data && items.length === 0 && (
        <Empty icon="members" title={next ? "No such account so far" : search ? "No such account" : "No accounts"}>
          <p>{next ? "More accounts follow: go to the next page." : search ? "Search for a part of the name." : "pillarbox account create makes one."}</p>
        </Empty>
      )}
      {items.length > 0 && (
        <table class={`list records ${list.stale ? "stale" : ""}`}>
          <Head caption="Accounts" columns={["Account", "Plan", "Emails this month", "Created"]} />
          <tbody>
            {items.map((account) => (
              <tr key={account.id}>
                <td class="who">
                  <a class="row" href={`${PLACE}/${account.id}`}>
                    {account.name}
                  </a>
                  <small>{account.id}</small>
                </td>
                <td class="what">
                  {account.plan} {account.suspendedAt && <Badge status="failed">suspended</Badge>}
                </td>
                <td data-label="Emails this month">{usedThisMonth(account)}</td>
                <td class="when">
                  <Time at={account.createdAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <CursorPager cursor={cursor} next={next} onChange={(to) => change({ cursor: to })} />
    </Page>
  );
}

function usedThisMonth({ limits }: ListedAccount): string {
  const { used = 0, limit = null } = limits.find(({ name }) => name === "month") ?? {};
  return limit === null ? count(used) : `${count(used)} of ${count(limit)}`;
}
