// Which answers a domain receives: switched on, changed and switched off.

import { useState } from "preact/hooks";

import { call } from "../api";
import { labelOf } from "../names";
import { Ask } from "../parts/ask";
import { Field } from "../parts/basics";
import { may } from "../rights";
import type { DomainDetail } from "../schema";

interface Properties {
  of: DomainDetail;
  onSaved: (domain: DomainDetail) => void;
}

export function Receiving({ of: domain, onSaved }: Properties) {
  const { receives, receiveNames, records } = domain;
  const [open, setOpen] = useState<"set" | "end">();
  const onClose = () => setOpen(undefined);
  const found = records.some(({ purpose, dns }) => purpose === "ANSWERS" && dns.status === "present");
  return (
    <section class="card">
      <h2>Answers to your emails</h2>
      {receives ? (
        <>
          <p>
            <b>{receives}</b> receives the answers to emails that ask for them{receiveNames.length > 0 && `, and mail to ${receiveNames.join(", ")}`}. <a href="/app/activity/received">Received mail</a>
          </p>
          {!found && <p>No mail comes until DNS has the record ANSWERS.</p>}
        </>
      ) : (
        <p>
          Not received. A name below the domain can receive them; the mail of {domain.domain} itself stays where it is. <a href="/app/guides/replies">How it works</a>
        </p>
      )}
      {may("domains") && (
        <p class="actions">
          <button type="button" class="button" disabled={domain.status !== "verified"} onClick={() => setOpen("set")}>
            {receives ? "Change names…" : "Receive answers…"}
          </button>
          {receives && (
            <button type="button" class="button danger" onClick={() => setOpen("end")}>
              Stop receiving…
            </button>
          )}
        </p>
      )}
      {open === "set" && <SetWindow of={domain} onSaved={onSaved} onClose={onClose} />}
      {open === "end" && <EndWindow of={domain} onSaved={onSaved} onClose={onClose} />}
    </section>
  );
}

function SetWindow({ of: { domain, receives, receiveNames }, onSaved, onClose }: Properties & { onClose: () => void }) {
  const [label, setLabel] = useState(receives ? labelOf(receives, domain) : "in");
  const [names, setNames] = useState(receiveNames.join(", "));
  async function save() {
    const body = { receive: label, receiveNames: names.split(/[\s,]+/).filter(Boolean) };
    onSaved(await call("PATCH /v1/domains/{domain}", { path: { domain }, body }));
    return receives ? "The names are changed." : "Answers come once DNS has the record ANSWERS.";
  }
  return (
    <Ask title={receives ? `Names at ${receives}` : "Receive answers"} answer={receives ? "Change names" : "Receive answers"} action={save} onClose={onClose}>
      {!receives && (
        <Field label="Label" hint={`Answers come to ${label || "…"}.${domain}. It needs an MX record, and must not receive other mail.`}>
          <input required maxLength={63} spellcheck={false} autocomplete="off" value={label} onInput={(event) => setLabel(event.currentTarget.value.trim())} />
        </Field>
      )}
      <Field label="Names" hint="Such as support, up to 20: they get mail that answers no email. Mail to other names is dropped.">
        <input spellcheck={false} autocomplete="off" placeholder="none" value={names} onInput={(event) => setNames(event.currentTarget.value)} />
      </Field>
    </Ask>
  );
}

function EndWindow({ of: { domain, receives }, onSaved, onClose }: Properties & { onClose: () => void }) {
  async function end() {
    onSaved(await call("PATCH /v1/domains/{domain}", { path: { domain }, body: { receive: "" } }));
    return `${receives} receives nothing any more.`;
  }
  return (
    <Ask danger title={`Stop receiving at ${receives}?`} answer="Stop receiving" action={end} onClose={onClose}>
      <p>Answers to emails that were sent already will be refused, and their writers get an error. What was received stays for its days.</p>
    </Ask>
  );
}
