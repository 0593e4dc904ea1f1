// The window in which a received mail is answered.

import { useState } from "preact/hooks";

import { Ask } from "../parts/ask";
import { Field } from "../parts/basics";
import { Trouble } from "../parts/notice";
import { useResource } from "../resource";
import type { ReceivedDetail } from "../schema";
import { answer, faultsOf } from "./received-mail";

interface Properties {
  to: ReceivedDetail;
  /** Take the id of the new email. */
  onSent: (id: string) => void;
  onClose: () => void;
}

export function Answer({ to: mail, onSent, onClose }: Properties) {
  const senders = useResource("GET /v1/senders");
  const [text, setText] = useState("");
  const [from, setFrom] = useState<string>();
  const [faults, setFaults] = useState<Record<string, string>>({});
  async function send() {
    setFaults({});
    try {
      onSent(await answer(mail.receivedId, { text, from }));
    } catch (error) {
      const { text, from, ...others } = faultsOf(error);
      setFaults({ text: text ?? "", from: from ?? "" });
      throw (text || from) && Object.keys(others).length === 0 ? new Error("It is not sent.") : error;
    }
    return "The answer is being sent.";
  }
  return (
    <Ask wide title={`Answer ${mail.from}`} answer="Send" action={send} onClose={onClose}>
      {!mail.authenticated && <p>Nothing proves that this is who wrote the mail.</p>}
      <Field label="Text" error={faults["text"]}>
        <textarea required rows={10} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </Field>
      <Trouble of={senders} />
      <Field label="Sender" error={faults["from"]} hint="Answers to it come back here.">
        <select value={from} onChange={(event) => setFrom(event.currentTarget.value)}>
          {senders.data?.items
            .filter(({ verified }) => verified)
            .sort((one, other) => Number(other.default) - Number(one.default))
            .map(({ address }) => (
              <option key={address}>{address}</option>
            ))}
        </select>
      </Field>
    </Ask>
  );
}
