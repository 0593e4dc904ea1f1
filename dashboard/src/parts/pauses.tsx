// A banner for each pause of the account, with what an owner can do about it.

import { useState } from "preact/hooks";

import { call } from "../api";
import { nameOf, reasonOf } from "../pages/pauses";
import { may } from "../rights";
import type { Account, PauseItem } from "../schema";
import { Ask } from "./ask";
import { Field, Time } from "./basics";
import { useNames } from "./choices";
import { Notice } from "./notice";

interface Properties<T> {
  of: T;
  onResumed: (account: Account) => void;
}

export function Pauses({ of: account, onResumed }: Properties<Account | undefined>) {
  return (
    <>
      {account?.pauses.map((pause) => (
        <Banner of={pause} onResumed={onResumed} key={`${pause.scope} ${pause.id}`} />
      ))}
    </>
  );
}

function Banner({ of: pause, onResumed }: Properties<PauseItem>) {
  const [ending, setEnding] = useState(false);
  const name = nameOf(pause, useNames());
  return (
    <>
      <Notice kind={pause.level === "warn" ? "note" : "bad"}>
        <b>{name}</b> {reasonOf(pause)}{" "}
        {pause.level !== "warn" && (pause.until ? <>It ends <Time at={pause.until} />. </> : "It ends only when somebody ends it. ")}
        {pause.resumable && may("account") && (
          <button type="button" class="link" onClick={() => setEnding(true)}>
            End the pause
          </button>
        )}
        {pause.level !== "warn" && !pause.resumable && "Ask the operator of the service."}
      </Notice>
      {ending && <End pause={pause} name={name} onResumed={onResumed} onClose={() => setEnding(false)} />}
    </>
  );
}

function End({ pause, name, onResumed, onClose }: { pause: PauseItem; name: string; onResumed: (account: Account) => void; onClose: () => void }) {
  const [cause, setCause] = useState("");
  return (
    <Ask
      title="End the pause"
      answer="End the pause"
      action={async () => {
        // The log shows it in one line.
        const text = cause.trim().replace(/\s+/g, " ");
        const body = { scope: pause.scope, cause: text, ...(pause.id !== null && { id: pause.id }) };
        onResumed(await call("POST /v1/account/resume", { body }));
        return `${name} sends again.`;
      }}
      onClose={onClose}
    >
      <p>First correct the cause. You can end a pause once in 30 days; after that, only the operator of the service can.</p>
      <Field label="What was wrong?" hint="The log of the account shows it.">
        <textarea required maxLength={500} value={cause} onInput={(event) => setCause(event.currentTarget.value)} />
      </Field>
    </Ask>
  );
}
