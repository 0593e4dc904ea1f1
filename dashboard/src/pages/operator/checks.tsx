// Whether the service can do its work.

import { Badge, Page } from "../../parts/basics";
import { Head } from "../../parts/list";
import { Notice, Progress } from "../../parts/notice";
import { useResource } from "../../resource";
import type { FindingItem, Verdict } from "../../schema";

const KINDS: Record<Verdict, string> = { pass: "delivered", warn: "bounced", fail: "failed", skipped: "pending" };
const WORST: Verdict[] = ["fail", "warn", "pass", "skipped"];

export default function Checks() {
  const list = useResource("GET /v1/operator/checks");
  const again = (
    <button type="button" class="button" onClick={list.reload}>
      Check again
    </button>
  );
  return (
    <Page title="Checks" actions={again}>
      <p class="lead">What the service can see of itself. The command pillarbox doctor also looks at the stack.</p>
      <Progress of={list} />
      {list.data?.items.every(({ verdict }) => verdict !== "fail" && verdict !== "warn") && <Notice kind="note">No check found a problem.</Notice>}
      {list.data && (
        <table class="list records plain">
          <Head caption="Checks" columns={["Check", "Result"]} />
          <tbody>
            {sorted(list.data.items).map(({ check, verdict, message, remedy }) => (
              <tr key={check + message}>
                <td class="who">
                  <Badge status={KINDS[verdict]}>{verdict}</Badge> <b>{check}</b>
                </td>
                <td class="what">
                  {message}
                  {remedy && <p class="hint">{remedy}</p>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Page>
  );
}

function sorted(items: FindingItem[]): FindingItem[] {
  return [...items].sort((one, other) => WORST.indexOf(one.verdict) - WORST.indexOf(other.verdict));
}
