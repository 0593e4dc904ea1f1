// The window that sends a kept email again, to the same recipients or to another address.

import { useState } from "preact/hooks";

import { Ask } from "../parts/ask";
import { Field } from "../parts/basics";
import { Notice } from "../parts/notice";
import type { MessageDetail } from "../schema";
import { sendAgain, shortList } from "./kept-email";

interface Properties {
  of: MessageDetail;
  /** Take the id of the new email. */
  onSent: (id: string) => void;
  onClose: () => void;
}

export function SendAgain({ of: message, onSent, onClose }: Properties) {
  const [other, setOther] = useState(false);
  const [address, setAddress] = useState("");
  const { to, cc, bcc, status, events } = message;
  const unknown = status === "failed" && events.some(({ type }) => type === "uncertain");
  async function send() {
    onSent(await sendAgain(message.messageId, other ? address.trim() : undefined));
    return "The email is being sent again.";
  }
  return (
    <Ask title="Send this email again?" answer="Send again" action={send} onClose={onClose}>
      <p>“{message.subject}”</p>
      {unknown && <Notice kind="note">The first one may have been sent. Its recipients may get both.</Notice>}
      <fieldset class="options">
        <legend>To whom</legend>
        <label>
          <input type="radio" name="again" checked={!other} onChange={() => setOther(false)} />
          <span>{shortList([...to, ...cc, ...bcc])}</span>
        </label>
        <label>
          <input type="radio" name="again" checked={other} onChange={() => setOther(true)} />
          Another address
        </label>
      </fieldset>
      {other && (
        <Field label="Address" hint="It gets a copy that does not unsubscribe the first recipient.">
          <input type="email" required autocomplete="off" value={address} onInput={(event) => setAddress(event.currentTarget.value)} />
        </Field>
      )}
      <p class="hint">It is a new email with the content of this one, and counts like any other. Sender, suppressions and limits are checked now.</p>
    </Ask>
  );
}
