// What an author does with a template beside writing it.

import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";

import { attempt, useAction } from "../action";
import { call } from "../api";
import { Field } from "../parts/basics";
import { Buttons, Dialog } from "../parts/dialog";
import { Notice, Trouble } from "../parts/notice";
import { toast } from "../parts/toast";
import { useResource } from "../resource";
import { may } from "../rights";
import { session } from "../session";
import type { Draft, Values } from "./draft";
import { Versions } from "./versions";

type Window = "test" | "publish" | "delete" | "versions";

export function Actions({ draft, errors, values, set }: { draft: Draft; errors: number; values: Values; set: string }) {
  const { route } = useLocation();
  const [shown, setShown] = useState<Window>();
  const writable = may("templates");
  const onClose = () => setShown(undefined);
  const { publishedVersion, changed } = draft.stored.value;
  const isNew = changed || !publishedVersion || draft.changed.value;
  const duplicate = () =>
    attempt(async () => {
      const { id } = await draft.onSaved(({ path }) => call("POST /v1/templates/{id}/duplicate", { path }));
      route(`/app/templates/${id}`);
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
      {shown === "versions" && <Versions draft={draft} onClose={onClose} />}
    </>
  );
}

function Test({ draft, values, set, onClose }: { draft: Draft; values: Values; set: string; onClose: () => void }) {
  const members = useResource("GET /v1/members");
  const own = session.value?.user.email ?? "";
  const [to, setTo] = useState(own);
  const { busy, error, run } = useAction(async () => {
    await draft.onSaved(({ path }) => call("POST /v1/templates/{id}/test", { path, body: { to, variables: values } }));
    toast(`The test is on its way to ${to}.`);
    onClose();
  });
  const addresses = members.data?.items.map(({ email }) => email) ?? [own];
  return (
    <Dialog title="Send a test" onClose={onClose}>
      <form onSubmit={run}>
        <p>The draft, with the values of “{set}”. It counts like any other email.</p>
        <Trouble of={members} />
        <Field label="To" hint="Tests go to members of the account.">
          <select value={to} onChange={(event) => setTo(event.currentTarget.value)}>
            {addresses.map((address) => (
              <option key={address}>{address}</option>
            ))}
          </select>
        </Field>
        {error && <Notice kind="bad">{error}</Notice>}
        <Buttons onClose={onClose} answer="Send the test" disabled={busy} />
      </form>
    </Dialog>
  );
}

function Publish({ draft, errors, onClose }: { draft: Draft; errors: number; onClose: () => void }) {
  const { publishedVersion } = draft.stored.value;
  const { busy, error, run } = useAction(async () => {
    const { version } = await draft.onSaved((at) => call("POST /v1/templates/{id}/publish", at));
    draft.stored.value = { ...draft.stored.value, publishedVersion: version, version, changed: false, changes: 0 };
    toast(`Version ${version} is published.`);
    onClose();
    await draft.refresh();
  });
  return (
    <Dialog title="Publish the draft?" onClose={onClose}>
      <form onSubmit={run}>
        <p>
          {publishedVersion ? `Emails that name this template use it from now on, instead of version ${publishedVersion}.` : "Then emails can name this template."} Its id is{" "}
          <code>{draft.id}</code>.
        </p>
        {errors > 0 && <Notice kind="bad">The source has errors, which the checks list. It cannot be published yet.</Notice>}
        {error && <Notice kind="bad">{error}</Notice>}
        <Buttons onClose={onClose} answer="Publish" disabled={busy || errors > 0} />
      </form>
    </Dialog>
  );
}

function Delete({ draft, onClose }: { draft: Draft; onClose: () => void }) {
  const { route } = useLocation();
  const { busy, error, run } = useAction(async () => {
    await call("DELETE /v1/templates/{id}", { path: { id: draft.id } });
    draft.forget();
    toast("The template is deleted.");
    route("/app/templates", true);
  });
  return (
    <Dialog title={`Delete “${draft.content.value.name}”?`} onClose={onClose}>
      <form onSubmit={run}>
        <Notice kind="bad">Emails that name it are refused. Its draft and versions are gone for good.</Notice>
        {error && <Notice kind="bad">{error}</Notice>}
        <Buttons onClose={onClose} answer="Delete the template" danger disabled={busy} />
      </form>
    </Dialog>
  );
}
