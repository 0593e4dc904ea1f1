// The content of an email, if it is kept and the reader may see it; who asks for it is noted in the log.

import { useState } from "preact/hooks";

import { useAction } from "../action";
import { minute } from "../format";
import { Facts } from "../parts/basics";
import { Notice } from "../parts/notice";
import { useResource } from "../resource";
import { may } from "../rights";
import type { MessageContent, MessageDetail } from "../schema";
import { Parts, size } from "../templates/preview";
import { type ContentState, copiesOf, type Reading, read, stateOf } from "./kept-email";
import { SendAgain } from "./send-again";

const TEXTS: Record<ContentState, (until: string) => string> = {
  kept: (until) => `The content is kept until ${until}, for owners and developers of this account. Each reading is in the account’s log.`,
  others: (until) => `The content is kept until ${until}. Only owners and developers of this account read it, and send it again.`,
  over: (until) => `The content was kept until ${until}. It cannot be read or sent again any more.`,
};

interface Properties {
  of: MessageDetail;
  onShow: (id: string) => void;
}

export function KeptContent({ of: message, onShow }: Properties) {
  const { messageId, to, createdAt } = message;
  // A colleague may have sent it again: copies to the same recipient are among that recipient's later emails.
  const later = useResource("GET /v1/emails", { query: { recipient: to[0], from: createdAt, limit: 100 } });
  const kept = message.kept ?? "";
  const [reading, setReading] = useState<Reading>();
  const [open, setOpen] = useState(false);
  const [sending, setSending] = useState(false);
  const { busy, error, run } = useAction(async () => {
    if (!reading) setReading(await read(messageId));
    setOpen(!open);
  });
  const copies = copiesOf(messageId, later.data?.items);
  const state = stateOf(kept, may("content"));
  return (
    <section class="content" aria-label="Content">
      {state === "kept" && (
        // Neither loses the focus while it works.
        <p class="actions">
          <button type="button" class="button small" aria-expanded={open} aria-disabled={busy} onClick={(event) => busy || run(event)}>
            {open ? "Hide the content" : "Read the content"}
          </button>
          <button type="button" class="button small" onClick={() => setSending(true)}>
            Send again…
          </button>
        </p>
      )}
      <p class="hint">{TEXTS[state](minute(kept))}</p>
      {error && <Notice kind="bad">{error}</Notice>}
      {open && reading && <View of={reading} onReading={setReading} />}
      {copies.length > 0 && (
        <p>
          Sent again as{" "}
          {copies.map((id) => (
            <button type="button" class="link" key={id} onClick={() => onShow(id)}>
              {id}
            </button>
          ))}
        </p>
      )}
      {sending && <SendAgain of={message} onSent={onShow} onClose={() => setSending(false)} />}
    </section>
  );
}

function View({ of: { content, linkUntil }, onReading }: { of: Reading; onReading: (reading: Reading) => void }) {
  const download = useAction(async () => {
    const now = await read(content.messageId);
    onReading(now);
    location.assign(now.content.eml.url);
  });
  function follow(event: Event) {
    if (Date.now() < linkUntil) return;
    event.preventDefault();
    download.run();
  }
  return (
    <>
      {content.attachments.length > 0 && <Facts of={{ Files: filesOf(content) }} />}
      <Parts of={{ email: content.html, text: content.text, HTML: content.html }} />
      {download.error && <Notice kind="bad">{download.error}</Notice>}
      <p class="actions">
        <a class="button small" href={content.eml.url} rel="noreferrer" onClick={follow}>
          Download .eml ({size(content.size)})
        </a>
      </p>
    </>
  );
}

function filesOf({ attachments }: MessageContent): string {
  return attachments.map(({ filename, contentType, size: octets }) => `${filename ?? contentType} (${size(octets)})`).join(", ");
}
