// What can still be done with an email that waits: send it now, at another time, or not at all.

import { useState } from "preact/hooks";

import { call } from "../api";
import { exact } from "../format";
import { Ask } from "../parts/ask";
import { Field } from "../parts/basics";
import { may } from "../rights";
import type { MessageDetail } from "../schema";
import { HeldContent } from "./held-content";

type Change = "cancel" | "release" | "reschedule";

/** Say when it is sent, and ask before a change. */
export function Waiting({ of: message, onChanged }: { of: MessageDetail; onChanged: () => void }) {
  const [change, setChange] = useState<Change>();
  const button = (text: string, of: Change, danger = false) => (
    <button type="button" class={danger ? "button small danger" : "button small"} onClick={() => setChange(of)}>
      {text}
    </button>
  );
  const who = message.awaitsOwner ? "an owner of the account" : "somebody";
  const decides = message.awaitsOwner ? may("agents") : may("waiting");
  return (
    <>
      <p>
        {message.awaitsOwner && "An agent sent this email. "}
        {message.held ? `It is held until ${who} releases it.` : <>It is sent on {exact(message.scheduledAt ?? "")}.</>}
      </p>
      {message.awaitsOwner && decides && <HeldContent id={message.messageId} />}
      {may("waiting") && (
        <p class="actions">
          {decides && (message.held ? button("Send now", "release") : button("Another time", "reschedule"))}
          {button("Do not send", "cancel", true)}
        </p>
      )}
      {change && <Window of={message} change={change} onDone={onChanged} onClose={() => setChange(undefined)} />}
    </>
  );
}

interface Properties {
  of: MessageDetail;
  change: Change;
  onDone: () => void;
  onClose: () => void;
}

function Window({ of: message, change, ...rest }: Properties) {
  const [time, setTime] = useState("");
  const path = { message_id: message.messageId };
  async function act() {
    if (change === "reschedule") {
      const scheduledAt = new Date(time).toISOString();
      await call("PATCH /v1/emails/{message_id}", { path, body: { scheduledAt } });
      return "The email has another time.";
    }
    if (change === "release") {
      await call("POST /v1/emails/{message_id}/release", { path });
      return "The email is being sent.";
    }
    await call("POST /v1/emails/{message_id}/cancel", { path });
    return "The email is canceled.";
  }
  const titles = { cancel: "Do not send this email?", release: "Send this email now?", reschedule: "Send it at another time" };
  const answers = { cancel: "Do not send", release: "Send now", reschedule: "Change the time" };
  return (
    <Ask danger={change === "cancel"} title={titles[change]} answer={answers[change]} action={act} disabled={change === "reschedule" && !time} {...rest}>
      <p>
        “{message.subject}” to {message.to.join(", ")}
      </p>
      {change === "reschedule" && (
        <Field label="Time" hint="At least a minute and at most 30 days ahead.">
          <input type="datetime-local" required value={time} onInput={(event) => setTime(event.currentTarget.value)} />
        </Field>
      )}
    </Ask>
  );
}
