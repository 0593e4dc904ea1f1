// The mails that answer an email.

import { breakable, Time } from "../parts/basics";
import { Trouble } from "../parts/notice";
import { useResource } from "../resource";

/** Nothing, if no mail answers it. */
export function Answers({ to: messageId }: { to: string }) {
  const list = useResource("GET /v1/received", { query: { inReplyTo: messageId, limit: 100 } });
  const items = list.data?.items ?? [];
  if (!items.length && !list.error) return null;
  return (
    <>
      <h3>Answers</h3>
      <Trouble of={list} />
      <ul class="timeline">
        {items.map(({ receivedId, from, subject, receivedAt, authenticated }) => (
          <li key={receivedId} class={authenticated ? "is-delivered" : "is-bounced"}>
            <a href={`/app/activity/received/${receivedId}`}>{subject || "(no subject)"}</a>
            <div>
              {breakable(from)} {!authenticated && "(not proven) "}
              <Time at={receivedAt} />
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
