// The queues of the service, and their dead letters.

import { useState } from "preact/hooks";

import { call } from "../../api";
import { count } from "../../format";
import { Ask } from "../../parts/ask";
import { Badge, Page, Time } from "../../parts/basics";
import { Head } from "../../parts/list";
import { Notice, Progress } from "../../parts/notice";
import { useResource } from "../../resource";

const CONTENTS: Record<string, string> = {
  jobs: "emails to deliver",
  urgent: "emails that expire within an hour",
  events: "what happened to emails at SES",
  sweep: "accounts to look through",
  webhooks: "events for webhook endpoints",
  received: "mail that came",
};

export default function Queues() {
  const list = useResource("GET /v1/operator/queues", {}, true);
  const [moving, setMoving] = useState<string>();
  return (
    <Page title="Queues">
      <p class="lead">The numbers are those of SQS, which counts approximately and reports ages with a delay of minutes.</p>
      <Progress of={list} />
      {list.data && (
        <table class="list records">
          <Head caption="Queues" columns={["Queue", "Waiting", "In flight", "Oldest", "Dead letters"]} action="Redrive" />
          <tbody>
            {list.data.items.map((queue) => (
              <tr key={queue.name}>
                <td class="who">
                  <b>{queue.name}</b>
                  <p class="hint">{CONTENTS[queue.name]}</p>
                </td>
                <td data-label="Waiting">{count(queue.waiting + queue.delayed)}</td>
                <td data-label="In flight">{count(queue.inFlight)}</td>
                <td data-label="Oldest">{age(queue.oldestSeconds)}</td>
                <td data-label="Dead letters">
                  {queue.dead === null ? (queue.name === "urgent" ? "among those of jobs" : "no redrive policy") : queue.dead ? <Badge status="failed">{count(queue.dead)}</Badge> : "none"}
                </td>
                <td class="do">
                  {queue.dead !== null && (
                    <button type="button" class="button small" disabled={!queue.dead} aria-label={`Redrive ${queue.name}`} onClick={() => setMoving(queue.name)}>
                      Redrive
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {list.data && list.data.redrives.length > 0 && (
        <section class="card">
          <h2>What operators moved and dropped</h2>
          <ol class="timeline">
            {list.data.redrives.map(({ id, at, by, queue, moved, dropped }) => (
              <li key={id} class={moved === null ? "is-failed" : "is-sent"}>
                <b>{dropped ? "Drop" : "Redrive"} of {queue}</b> by {by} <Time at={at} />
                <p>{moved === null ? "It has not ended, or has failed. Some dead letters may have left." : dropped ? "One dropped." : `${count(moved)} moved.`}</p>
              </li>
            ))}
          </ol>
        </section>
      )}
      {moving && <Redrive queue={moving} onClose={() => setMoving(undefined)} onMoved={list.reload} />}
    </Page>
  );
}

function Redrive({ queue, onClose, onMoved }: { queue: string; onClose: () => void; onMoved: () => void }) {
  async function redrive() {
    const { moved } = await call("POST /v1/operator/queues/{queue}/redrive", { path: { queue }, body: {} });
    return moved === 1 ? "One dead letter is in its queue again." : `${count(moved)} dead letters are in their queue again.`;
  }
  return (
    <Ask title={`Redrive the dead letters of ${queue}?`} answer="Move them back" action={redrive} onDone={onMoved} onClose={onClose}>
      <Notice kind="note">Fix the cause of the failures first. Up to 300 move at a time. Finished emails are not sent again.</Notice>
    </Ask>
  );
}

function age(seconds: number | null): string {
  if (seconds === null) return "unknown";
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
