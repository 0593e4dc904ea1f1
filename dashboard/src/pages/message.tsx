// One email: what it was, and everything that happened to it.

import lazy from "preact-iso/lazy";

import { curlOf } from "../command";
import { exact } from "../format";
import { ApiError } from "../http";
import { INBOX } from "../inbox";
import { Badge, Copy, Facts, Tags, Time } from "../parts/basics";
import { useOverview } from "../parts/choices";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { Progress } from "../parts/notice";
import { useResource } from "../resource";
import { may } from "../rights";
import type { EventKind, Message, MessageDetail, MessageEvent, SendRoute } from "../schema";
import { isWaiting } from "./emails";
import { type Names, originOf } from "./origins";

const Answers = lazy(() => import("../later").then((pages) => pages.Answers));
const KeptContent = lazy(() => import("../later").then((pages) => pages.KeptContent));
const Waiting = lazy(() => import("../later").then((pages) => pages.Waiting));

const EVENTS: Record<EventKind, string> = {
  accepted: "Accepted",
  uncertain: "Sent or not: the provider did not answer",
  sent: "Sent",
  delayed: "Delayed",
  delivered: "Delivered",
  bounced: "Bounced",
  bounced_transient: "Bounced for now",
  complained: "Complaint",
  failed: "Failed",
};
const ROUTES: Record<SendRoute, string> = {
  http: "HTTP",
  batch: "HTTP, in a batch",
  smtp: "SMTP",
  mcp: "MCP",
  notice: "a notice of the service",
};

interface Properties {
  id: string;
  names: Names;
  /** The emails beside it in the list. */
  newer?: string;
  older?: string;
  onShow: (id: string) => void;
  onClose: () => void;
}

export function MessageDrawer({ id, names, newer, older, onShow, onClose }: Properties) {
  const message = useResource("GET /v1/emails/{message_id}", { path: { message_id: id } }, true);
  const shown = message.data?.messageId === id ? message.data : undefined;
  const missing = message.error instanceof ApiError && message.error.status === 404;
  return (
    <Dialog drawer addressed title={shown?.subject || (missing ? "Not found" : "Email")} onClose={onClose}>
      {missing ? <p>This account has no email with the id {id}.</p> : <Progress of={{ ...message, data: shown }} />}
      {shown && <Detail key={id} of={shown} names={names} onShow={onShow} onChanged={message.reload} />}
      {(newer || older) && (
        <p class="actions">
          <button type="button" class="button small" disabled={!newer} title="K or ↑" onClick={() => onShow(newer ?? "")}>
            <Icon name="left" /> Newer email
          </button>
          <button type="button" class="button small" disabled={!older} title="J or ↓" onClick={() => onShow(older ?? "")}>
            Older email <Icon name="right" />
          </button>
        </p>
      )}
    </Dialog>
  );
}

function Detail({ of: message, names, onShow, onChanged }: Pick<Properties, "names" | "onShow"> & { of: MessageDetail; onChanged: () => void }) {
  const { messageId, status, events, kept, resendOf } = message;
  const { template, key } = originOf(message, names);
  const receives = useOverview()?.account.replyDomain;
  const command = curlOf(location.origin, `/v1/emails/${messageId}`, "YOUR_KEY");
  const facts = {
    From: message.fromName ? `${message.fromName} <${message.from}>` : message.from,
    To: message.to.join(", "),
    Cc: message.cc.join(", "),
    Bcc: message.bcc.join(", "),
    Template: template && (
      <>
        <a href={`/app/activity?template=${template.id}`}>{template.name}</a>
        {note(message)}
      </>
    ),
    "Sent over": message.route && ROUTES[message.route],
    "API key": key && (
      <>
        <a href={`/app/activity?key=${key.id}`}>{key.name}</a> (<a href={`/app/?key=${key.id}`}>figures</a>)
      </>
    ),
    Tags: Object.keys(message.tags).length > 0 && <Tags tags={message.tags} />,
    Repeats: resendOf && (
      <button type="button" class="link" onClick={() => onShow(resendOf)}>
        {resendOf}
      </button>
    ),
    "Message id": <Id of={messageId} at="in the API, webhooks and this page" />,
    "Message-ID header": message.messageIdHeader && <Id of={message.messageIdHeader} at="in the email itself" />,
    "Provider’s id": message.providerMessageId && <Id of={message.providerMessageId} at="in the logs of Amazon SES" />,
    "In the inbox": INBOX && message.providerMessageId && <a href={`${INBOX}/#${message.providerMessageId}`}>Show what recipients got</a>,
    "Request id": message.requestId && <Id of={message.requestId} at="in the answer to the request, and in the service’s log" />,
  };
  return (
    <>
      <p class="state">
        <State of={message} />
        {message.errorMessage && <span>{message.errorMessage}</span>}
      </p>
      {isWaiting(message) && <Waiting of={message} onChanged={onChanged} />}
      {kept && <KeptContent of={message} onShow={onShow} />}
      {receives && may("content") && status !== "pending" && <Answers to={messageId} />}
      <h3>What happened</h3>
      <ol class="timeline">
        {events.map((event, index) => (
          <Event key={`${event.type} ${event.at} ${index}`} of={event} />
        ))}
      </ol>
      <h3>Email</h3>
      <Facts of={facts} />
      {!kept && (
        <p class="hint">
          {status === "pending" ? "The content can be read once it is sent, if the account keeps it." : "The content is not kept, so it cannot be read or sent again."}{" "}
          <a href="/app/guides/content">How to keep it</a>
        </p>
      )}
      <p class="actions">
        <Copy text={messageId}>Copy the id</Copy>
        <Copy text={command}>Copy as curl</Copy>
      </p>
    </>
  );
}

/** The status of an email, or what it waits for. */
export function State({ of: message, quiet = false }: { of: Message | MessageDetail; quiet?: boolean }) {
  if (!isWaiting(message)) return <Badge status={message.status} quiet={quiet} />;
  const { awaitsOwner, scheduledAt } = message;
  return <Badge status="pending">{scheduledAt ? <>sent <Time at={scheduledAt} /></> : awaitsOwner ? "for an owner" : "held"}</Badge>;
}

function Event({ of: event }: { of: MessageEvent }) {
  return (
    <li class={`is-${event.type.replace("_transient", "")}`}>
      <b>{EVENTS[event.type]}</b> <time dateTime={event.at}>{exact(event.at)}</time>
      {event.recipient && <div>{event.recipient}</div>}
      {(event.code || event.reason) && (
        <div class="reason">
          {event.code && <code>{event.code}</code>} {event.reason}
        </div>
      )}
    </li>
  );
}

/** One of the ids of an email, and where it stands. */
function Id({ of: id, at }: { of: string; at: string }) {
  return (
    <>
      <code>{id}</code> <small>{at}</small>
    </>
  );
}

function note({ starterTemplate, templateVersion }: MessageDetail): string {
  if (starterTemplate) return " (starter)";
  return templateVersion ? `, version ${templateVersion}` : "";
}
