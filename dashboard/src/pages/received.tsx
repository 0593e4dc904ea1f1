// The mail that an account received: its list, and one of it in a drawer.

import { useState } from "preact/hooks";

import { noteOpened, useDrawer, useRow } from "../drawer";
import { minute } from "../format";
import { ApiError } from "../http";
import { Badge, Boxes, breakable, Empty, Facts, Page, Tags, Time } from "../parts/basics";
import { CursorPager } from "../parts/cursor-pager";
import { Dialog } from "../parts/dialog";
import { Head } from "../parts/list";
import { Notice, Progress } from "../parts/notice";
import { toast } from "../parts/toast";
import { useFilters } from "../query";
import { useResource } from "../resource";
import { may } from "../rights";
import type { ReceivedDetail, ReceivedMail } from "../schema";
import { Parts, size } from "../templates/preview";
import { useGo } from "../windows";
import { Answer } from "./answer";
import { AUTOMATIC, checksOf, stateOf } from "./received-mail";

const LIST = "/app/activity/received";
/** The links work for an hour from the answer that has them. */
const LINKS = 50 * 60_000; // milliseconds

export default function Received() {
  const { id, close } = useDrawer(LIST);
  const [{ cursor }, change] = useFilters();
  const readable = may("content");
  const list = useResource(readable ? "GET /v1/received" : null, { query: { cursor } }, !cursor);
  const { items, nextCursor } = list.data ?? {};
  return (
    <Page title="Received mail" actions={<Boxes here={LIST} />}>
      {readable ? <Progress of={list} /> : <Notice kind="note">Only owners and developers of this account read received mail.</Notice>}
      {items?.length === 0 && (
        <Empty icon="activity" title={cursor ? "This page is past the last mail" : "No mail has come"}>
          <p>
            Answers to your emails appear here when a domain receives them. <a href="/app/guides/replies">How it is set up</a>
          </p>
        </Empty>
      )}
      {!!items?.length && (
        <table class={`list emails${list.stale ? " stale" : ""}`}>
          <Head columns={["Sender", "From", "Subject", "To", "Received"]} />
          <tbody>
            {items.map((mail) => (
              <Row key={mail.receivedId} of={mail} />
            ))}
          </tbody>
        </table>
      )}
      <CursorPager cursor={cursor} next={nextCursor} onChange={(next) => change({ cursor: next })} />
      {readable && id && <Drawer id={id} onClose={close} />}
    </Page>
  );
}

function Row({ of: mail }: { of: ReceivedMail }) {
  const { link, open } = useRow();
  const [word, kind] = stateOf(mail);
  const subject = mail.subject || "(no subject)";
  return (
    <tr onClick={open}>
      <td>
        <Badge status={kind} quiet={kind === "delivered"}>
          {word}
        </Badge>
      </td>
      <td class="who">{breakable(mail.from)}</td>
      <td class="what">
        <div>
          <a class="row" ref={link} href={`${LIST}/${mail.receivedId}${location.search}`} aria-label={`${subject}, from ${mail.from}`} onClick={noteOpened}>
            {subject}
          </a>
          <Tags tags={mail.inReplyTo?.tags ?? {}} />
        </div>
      </td>
      <td class="origin">
        <div title={mail.to}>
          <span>{mail.inReplyTo ? "an answer" : mail.to}</span>
        </div>
      </td>
      <td class="when">
        <Time at={mail.receivedAt} />
      </td>
    </tr>
  );
}

function Drawer({ id, onClose }: { id: string; onClose: () => void }) {
  const mail = useResource("GET /v1/received/{received_id}", { path: { received_id: id }, query: { inlineImages: true } });
  const shown = mail.data?.receivedId === id ? mail.data : undefined;
  const missing = mail.error instanceof ApiError && mail.error.status === 404;
  function follow(event: Event) {
    if (mail.at && Date.now() - mail.at.getTime() < LINKS) return;
    event.preventDefault();
    mail.reload();
    toast("The links were too old, and are being renewed. Press again.");
  }
  return (
    <Dialog drawer addressed title={shown ? shown.subject || "(no subject)" : missing ? "Not found" : "Received mail"} onClose={onClose}>
      {missing ? <p>This account has no received mail with the id {id}, or its days are over.</p> : <Progress of={{ ...mail, data: shown }} />}
      {shown && <Detail key={id} of={shown} onFollow={follow} />}
    </Dialog>
  );
}

function Detail({ of: mail, onFollow }: { of: ReceivedDetail; onFollow: (event: Event) => void }) {
  const { from, fromName, to, allTo, cc, inReplyTo, automatic, reply, text, html, attachments, calendar } = mail;
  const [answering, setAnswering] = useState(false);
  const go = useGo();
  const [word, kind, sentence] = stateOf(mail);
  const facts = {
    // The name may turn the direction of the text that follows it.
    From: fromName ? (
      <>
        <bdi>{fromName}</bdi> {`<${from}>`}
      </>
    ) : (
      from
    ),
    To: allTo.join(", "),
    "Came to": allTo.includes(to) ? null : to,
    Cc: cc.join(", "),
    Received: minute(mail.receivedAt),
    Answers: inReplyTo && (
      <>
        <a href={`/app/activity/${inReplyTo.messageId}`}>{inReplyTo.messageId}</a> <Tags tags={inReplyTo.tags} />
      </>
    ),
    Checks: checksOf(mail.verdicts),
    Invitation: calendar.map(({ attendee, status, method }) => `${attendee ?? from}: ${status ?? method}`).join(", "),
    "Received id": <code>{mail.receivedId}</code>,
    "Message-ID header": mail.messageIdHeader && <code>{mail.messageIdHeader}</code>,
    "Kept until": minute(mail.kept),
  };
  return (
    <>
      <p class="state">
        <Badge status={kind}>{word}</Badge>
        <span>{sentence}</span>
      </p>
      <section class="content" aria-label="Content">
        <Parts of={{ reply: reply && reply !== text ? reply : null, text, email: html }} />
        {mail.cut && <p class="hint">A text is longer than what is shown. The file has all of it.</p>}
        {attachments.length > 0 && (
          <ul class="points" aria-label="Files">
            {attachments.map((file) => (
              <li key={file.url}>
                <a href={file.url} rel="noreferrer" onClick={onFollow}>
                  {file.filename ?? file.contentType}
                </a>{" "}
                ({size(file.size)})
              </li>
            ))}
          </ul>
        )}
        <p class="actions">
          <button type="button" class="button small primary" disabled={!!automatic} aria-describedby="answerable" onClick={() => setAnswering(true)}>
            Answer…
          </button>
          <a class="button small" href={mail.raw} rel="noreferrer" onClick={onFollow}>
            Download .eml ({size(mail.size)})
          </a>
        </p>
        <p class="hint" id="answerable">
          {automatic && `${AUTOMATIC[automatic]} It is not answered: two programs would answer each other without end.`}
        </p>
      </section>
      <h3>Mail</h3>
      <Facts of={facts} />
      <p class="hint">Owners and developers of this account read it. Each reading is in the account’s log.</p>
      {answering && <Answer to={mail} onSent={(id) => go(`/app/activity/${id}`)} onClose={() => setAnswering(false)} />}
    </>
  );
}
