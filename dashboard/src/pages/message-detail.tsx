// One email: what it was, and everything that happened to it.

import { exact } from "../format";
import { Badge, Copy, Facts, Tags } from "../parts/basics";
import type { EventKind, MessageDetail, MessageEvent, SendRoute } from "../schema";
import { isWaiting } from "./emails";
import { KeptContent } from "./kept-content";
import { copiesOf } from "./kept-email";
import { type Names, originOf } from "./origins";
import { Waiting } from "./waiting";

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
  of: MessageDetail;
  names: Names;
  onShow: (id: string) => void;
  onChanged: () => void;
}

export function Detail({ of: message, names, onShow, onChanged }: Properties) {
  const { messageId, status, events } = message;
  const { template, key } = originOf(message, names);
  const command = `curl ${location.origin}/api/v1/emails/${messageId} -H 'X-API-Key: YOUR_KEY'`;
  const other = (id: string) => (
    <button type="button" class="link" key={id} onClick={() => onShow(id)}>
      {id}
    </button>
  );
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
    "Came by": message.route && ROUTES[message.route],
    "API key": key && (
      <>
        <a href={`/app/activity?key=${key.id}`}>{key.name}</a> (<a href={`/app/?key=${key.id}`}>figures</a>)
      </>
    ),
    Tags: Object.keys(message.tags).length > 0 && <Tags tags={message.tags} />,
    Repeats: message.resendOf && other(message.resendOf),
    "Sent again as": copiesOf(messageId).length > 0 && copiesOf(messageId).map(other),
    "Message id": messageId,
    "Provider’s id": message.providerMessageId,
    "Request id": message.requestId,
  };
  const content = <KeptContent of={message} onShow={onShow} />;
  return (
    <>
      <p class="state">
        <Badge status={status} />
        {message.errorMessage && <span>{message.errorMessage}</span>}
      </p>
      {isWaiting(message) && <Waiting of={message} onChanged={onChanged} />}
      {message.kept && content}
      <h3>What happened</h3>
      <ol class="timeline">
        {events.map((event, index) => (
          <Event key={`${event.type} ${event.at} ${index}`} of={event} />
        ))}
      </ol>
      <h3>Email</h3>
      <Facts of={facts} />
      {!message.kept && content}
      <p class="actions">
        <Copy text={messageId}>Copy the id</Copy>
        <Copy text={command}>Copy as curl</Copy>
      </p>
    </>
  );
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

function note({ starterTemplate, templateVersion }: MessageDetail): string {
  if (starterTemplate) return " (starter)";
  return templateVersion ? `, version ${templateVersion}` : "";
}
