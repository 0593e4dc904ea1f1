// What an author does with a template beside writing it.

import { useState } from "preact/hooks";

import { attempt } from "../action";
import { call } from "../api";
import { Ask } from "../parts/ask";
import { Field } from "../parts/basics";
import { Notice, Trouble } from "../parts/notice";
import { useResource } from "../resource";
import { may } from "../rights";
import { session } from "../session";
import { useGo } from "../windows";
import type { Draft, Values } from "./draft";
import { useRendering } from "./rendering";
import { Versions } from "./versions";

type Window = "test" | "publish" | "delete" | "versions";

export function Actions({ draft, errors, values, set }: { draft: Draft; errors: number; values: Values; set: string }) {
  const go = useGo();
  const [shown, setShown] = useState<Window>();
  const writable = may("templates");
  const onClose = () => setShown(undefined);
  const { publishedVersion, changed } = draft.stored.value;
  const isNew = changed || !publishedVersion || draft.changed.value;
  const duplicate = () =>
    attempt(async () => {
      const { id } = await draft.onSaved(({ path }) => call("POST /v1/templates/{id}/duplicate", { path }));
      go(`/app/templates/${id}`);
    });
  return (
    <>
      {writable && (
        <>
          <button type="button" class="button danger" onClick={() => setShown("delete")}>
            Delete
          </button>
          <button type="button" class="button" onClick={duplicate}>
            Duplicate
          </button>
        </>
      )}
      <button type="button" class="button" onClick={() => setShown("versions")}>
        Versions
      </button>
      {writable && (
        <>
          <button type="button" class="button" onClick={() => setShown("test")}>
            Send a test
          </button>
          <button type="button" class="button primary" disabled={!isNew} onClick={() => setShown("publish")}>
            {isNew ? "Publish" : "Published"}
          </button>
        </>
      )}
      {shown === "test" && <Test draft={draft} values={values} set={set} onClose={onClose} />}
      {shown === "publish" && <Publish draft={draft} errors={errors} onClose={onClose} />}
      {shown === "delete" && <Delete draft={draft} onClose={onClose} />}
      {shown === "versions" && <Versions draft={draft} values={values} onClose={onClose} />}
    </>
  );
}

function Test({ draft, values, set, onClose }: { draft: Draft; values: Values; set: string; onClose: () => void }) {
  const members = useResource("GET /v1/members");
  const own = session.value?.user.email ?? "";
  const [to, setTo] = useState(own);
  async function send() {
    await draft.onSaved(({ path }) => call("POST /v1/templates/{id}/test", { path, body: { to, variables: values } }));
    return `The test is on its way to ${to}.`;
  }
  const addresses = members.data?.items.map(({ email }) => email) ?? [own];
  return (
    <Ask title="Send a test" answer="Send the test" action={send} onClose={onClose}>
      <p>The draft, with the values of “{set}”. It counts like any other email.</p>
      <Trouble of={members} />
      <Field label="To" hint="Tests go to members of the account.">
        <select value={to} onChange={(event) => setTo(event.currentTarget.value)}>
          {addresses.map((address) => (
            <option key={address}>{address}</option>
          ))}
        </select>
      </Field>
    </Ask>
  );
}

function Publish({ draft, errors, onClose }: { draft: Draft; errors: number; onClose: () => void }) {
  const { publishedVersion } = draft.stored.value;
  const { kind, subject, source, text } = draft.content.value;
  const { answer } = useRendering({ kind, subject, source, text, templateId: draft.id });
  const unsent = answer?.problems.filter(({ code }) => code === "variable_not_sent") ?? [];
  async function publish() {
    const { version } = await draft.onSaved((at) => call("POST /v1/templates/{id}/publish", at));
    draft.stored.value = { ...draft.stored.value, publishedVersion: version, version, changed: false, changes: 0 };
    return `Version ${version} is published.`;
  }
  return (
    <Ask title="Publish the draft?" answer="Publish" disabled={errors > 0} action={publish} onDone={() => attempt(() => draft.refresh())} onClose={onClose}>
      <p>
        {publishedVersion ? `Emails that name this template use it from now on, instead of version ${publishedVersion}.` : "Then emails can name this template."} Its id is{" "}
        <code>{draft.id}</code>.
      </p>
      {errors > 0 && <Notice kind="bad">The source has errors, which the checks list. It cannot be published yet.</Notice>}
      {unsent.map(({ message }) => (
        <Notice key={message} kind="note">
          {message}
        </Notice>
      ))}
    </Ask>
  );
}

function Delete({ draft, onClose }: { draft: Draft; onClose: () => void }) {
  const go = useGo();
  async function remove() {
    await call("DELETE /v1/templates/{id}", { path: { id: draft.id } });
    draft.forget();
    go("/app/templates", true);
    return "The template is deleted.";
  }
  return (
    <Ask danger title={`Delete “${draft.content.value.name}”?`} answer="Delete the template" action={remove} onClose={onClose}>
      <Notice kind="bad">Emails that name it are refused. Its draft and versions are gone for good.</Notice>
    </Ask>
  );
}
