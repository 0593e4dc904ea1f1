// For how long the account keeps the content of its emails, and the window that changes it.

import { useState } from "preact/hooks";

import { call } from "../api";
import { Ask } from "../parts/ask";
import { Field } from "../parts/basics";
import { may } from "../rights";
import type { Account } from "../schema";

const days = (count: number) => (count === 1 ? "1 day" : `${count} days`);

export function Keep({ of: account, onSaved }: { of: Account; onSaved: (account: Account) => void }) {
  const [open, setOpen] = useState(false);
  return (
    <section class="card">
      <h2>Content of emails</h2>
      <p>
        {account.keepDays ? `Kept for ${days(account.keepDays)} after an email is sent.` : "Not kept. After an email is sent, it cannot be read or sent again."}
      </p>
      {may("account") && (
        <p class="actions">
          <button type="button" class="button" onClick={() => setOpen(true)}>
            {account.keepDays ? "Change…" : "Keep content…"}
          </button>
        </p>
      )}
      {open && <KeepWindow of={account} onSaved={onSaved} onClose={() => setOpen(false)} />}
    </section>
  );
}

function KeepWindow({ of: account, onSaved, onClose }: { of: Account; onSaved: (account: Account) => void; onClose: () => void }) {
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
