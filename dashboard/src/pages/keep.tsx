// For how long the account keeps its emails' content and records, and the windows that change it.

import { useState } from "preact/hooks";

import { call } from "../api";
import { Ask } from "../parts/ask";
import { Field } from "../parts/basics";
import { may } from "../rights";
import type { Account } from "../schema";

const days = (count: number) => (count === 1 ? "1 day" : `${count} days`);

export function Keep({ of: account, onSaved }: { of: Account; onSaved: (account: Account) => void }) {
  const [open, setOpen] = useState<"content" | "records" | "answers">();
  const onClose = () => setOpen(undefined);
  return (
    <section class="card">
      <h2>Content and records of emails</h2>
      <p>
        {account.keepDays ? `Kept for ${days(account.keepDays)} after an email is sent.` : "Not kept. After an email is sent, it cannot be read or sent again."}
      </p>
      <p>{account.recordDays ? `Records are deleted after ${days(account.recordDays)}.` : "Records stay for ever."}</p>
      <p>
        {account.replies ? "Emails ask for answers unless a send says otherwise." : "Emails ask for answers if a send says so."} Received mail is kept for {days(account.receivedDays)}.
      </p>
      {may("account") && (
        <p class="actions">
          <button type="button" class="button" onClick={() => setOpen("content")}>
            {account.keepDays ? "Change content…" : "Keep content…"}
          </button>
          <button type="button" class="button" onClick={() => setOpen("records")}>
            {account.recordDays ? "Change records…" : "Delete old records…"}
          </button>
          <button type="button" class="button" onClick={() => setOpen("answers")}>
            Change answers…
          </button>
        </p>
      )}
      {open === "content" && <KeepWindow of={account} onSaved={onSaved} onClose={onClose} />}
      {open === "records" && <RecordsWindow of={account} onSaved={onSaved} onClose={onClose} />}
      {open === "answers" && <AnswersWindow of={account} onSaved={onSaved} onClose={onClose} />}
    </section>
  );
}

interface Window {
  of: Account;
  onSaved: (account: Account) => void;
  onClose: () => void;
}

function AnswersWindow({ of: account, onSaved, onClose }: Window) {
  const [replies, setReplies] = useState(account.replies);
  const [text, setText] = useState(String(account.receivedDays));
  async function save() {
    onSaved(await call("PATCH /v1/account", { body: { replies, receivedDays: Number(text) } }));
    return "The account is changed.";
  }
  return (
    <Ask title="Answers to emails" answer="Save" action={save} onClose={onClose}>
      <label class="check">
        <input type="checkbox" checked={replies} onChange={() => setReplies(!replies)} /> Emails ask for answers unless a send says otherwise
      </label>
      <p class="hint">
        {account.replyDomain ? `They come to ${account.replyDomain}.` : "No domain receives them yet:"} <a href="/app/domains">Domains</a>
      </p>
      <Field label="Days to keep received mail" hint="From 1 to 90, for mail that comes from now on.">
        <input type="number" required min={1} max={90} step={1} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </Field>
    </Ask>
  );
}

function RecordsWindow({ of: account, onSaved, onClose }: Window) {
  const [text, setText] = useState(String(account.recordDays || 400));
  const recordDays = Number(text);
  async function save() {
    onSaved(await call("PATCH /v1/account", { body: { recordDays } }));
    return recordDays ? `Records are deleted after ${days(recordDays)}.` : "Records stay for ever.";
  }
  return (
    <Ask title="Delete old records" answer={recordDays ? "Delete old records" : "Keep all records"} danger={recordDays > 0} action={save} onClose={onClose}>
      <Field label="Days" hint="From 90 to 3,650. 0 deletes none.">
        <input type="number" required min={0} max={3650} step={1} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </Field>
      <ul class="points">
        <li>
          <b>What is deleted:</b> {recordDays ? `what the lists, the search and the drawer show of each email that is older than ${days(recordDays)}, and its content.` : "nothing."}
        </li>
        <li>
          <b>What stays:</b> the figures of the overview, suppressions and the account's log.
        </li>
        <li>
          <b>When:</b> within six hours, and then all the time. What is deleted cannot be restored here.
        </li>
      </ul>
    </Ask>
  );
}

function KeepWindow({ of: account, onSaved, onClose }: Window) {
  const [text, setText] = useState(String(account.keepDays || 7));
  const keepDays = Number(text);
  async function save() {
    onSaved(await call("PATCH /v1/account", { body: { keepDays } }));
    return keepDays ? `Content is kept for ${days(keepDays)}.` : "Content is not kept any more.";
  }
  return (
    <Ask title="Keep the content of emails" answer={keepDays ? "Keep content" : "Keep nothing"} danger={keepDays < account.keepDays} action={save} onClose={onClose}>
      <Field label="Days" hint="From 1 to 90. 0 keeps nothing.">
        <input type="number" required min={0} max={90} step={1} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </Field>
      <ul class="points">
        <li>
          <b>Who can read it:</b> owners and developers of this account, and API keys with the permission <code>emails:content</code>. Each reading is in the log.
        </li>
        <li>
          <b>For how long:</b> {keepDays ? `${days(keepDays)} after an email is sent; then it is deleted.` : "not at all. What is kept now cannot be read any more."}
        </li>
        <li>
          <b>Never kept:</b> codes and links by which people sign in, of the starter templates and their copies. Send other secrets with <code>keep: 0</code>.
        </li>
      </ul>
    </Ask>
  );
}
