// For users in no account: create one, ask for one, or ask an owner of a team.

import { useState } from "preact/hooks";

import { attempt, useAction } from "../action";
import { call } from "../api";
import { Field, focus, Page } from "../parts/basics";
import { Loading, Notice } from "../parts/notice";
import { Invitations } from "../parts/invitations";
import { toast } from "../parts/toast";
import { solve } from "../proof";
import { useResource } from "../resource";
import { chooseAccount, renew, session } from "../session";

export function NoAccount() {
  const { data, error, reload } = useResource("GET /v1/sign-up");
  const look = async () => {
    if (!(await renew())?.account) toast("You are still in no account.");
    reload();
  };
  const status = data?.status;
  const can = status === "available" || status === "on_approval";
  return (
    <Page title="You are in no account">
      <p class="lead">
        You are signed in as <b>{session.value?.user.email}</b>.{" "}
        {status === "pending"
          ? "You have asked for an account. The operator of this service decides, and you get an email."
          : status === "refused"
            ? "The operator of this service has refused your request for an account."
            : "To join a team, ask an owner of its account to add this address."}
      </p>
      <Invitations />
      {!data && (error ? <Notice kind="bad">{error.message}</Notice> : <Loading />)}
      {can && <Form onApproval={status === "on_approval"} onAsked={reload} />}
      <p>
        <button type="button" class={can ? "link" : "button"} onClick={() => attempt(look)}>
          Look again
        </button>
      </p>
    </Page>
  );
}

function Form({ onApproval, onAsked }: { onApproval: boolean; onAsked: () => void }) {
  const [name, setName] = useState("");
  const { busy, error, run } = useAction(async () => {
    // A new challenge, because the one of the page may be too old by now.
    const { challenge } = await call("GET /v1/sign-up");
    if (!challenge) return onAsked();
    const { account } = await call("POST /v1/sign-up", { body: { name, proof: await solve(challenge) } });
    if (account) await chooseAccount(account.id);
    else onAsked();
  });
  return (
    <form class="card settings" onSubmit={run}>
      <Field label="Name of the account" hint="Of your team or company. You can change it later." error={error}>
        <input ref={focus} required maxLength={128} autocomplete="organization" value={name} onInput={(event) => setName(event.currentTarget.value)} />
      </Field>
      {onApproval && <p class="hint">The operator of this service looks at each request before the account exists.</p>}
      <button class="button primary" disabled={busy}>
        {busy ? "One moment…" : onApproval ? "Ask for the account" : "Create the account"}
      </button>
    </form>
  );
}
