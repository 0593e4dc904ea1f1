// One account, as an operator of the service sees and changes it.

import { useRoute } from "preact-iso/router";
import { useState } from "preact/hooks";

import { useAction } from "../../action";
import { call } from "../../api";
import { useFields } from "../../fields";
import { day } from "../../format";
import { Ask } from "../../parts/ask";
import { Badge, Facts, Field, Page, Time } from "../../parts/basics";
import { Limits } from "../../parts/limits";
import { Log } from "../../parts/log";
import { Notice, Progress } from "../../parts/notice";
import { toast } from "../../parts/toast";
import { useResource } from "../../resource";
import type { OperatedAccount, OwnLimitValues, Plan } from "../../schema";

const PLANS: Plan[] = ["free", "standard", "enterprise"];
const OWN: [keyof OwnLimitValues, string][] = [
  ["perMinute", "Emails per minute"],
  ["perDay", "Emails per day"],
  ["perMonth", "Emails per month"],
  ["recipientsPerDay", "Recipients per day"],
];

export default function Account() {
  const { id = "" } = useRoute().params;
  const account = useResource("GET /v1/operator/accounts/{account_id}", { path: { account_id: id } });
  const [suspending, setSuspending] = useState(false);
  const detail = account.data;
  const resume = useAction(async () => {
    await call("DELETE /v1/operator/accounts/{account_id}/suspension", { path: { account_id: id } });
    toast("The account works again.");
    account.reload();
  });
  const action = detail?.suspendedAt ? (
    <button type="button" class="button" disabled={resume.busy} onClick={resume.run}>
      Resume
    </button>
  ) : (
    <button type="button" class="button danger" disabled={!detail} onClick={() => setSuspending(true)}>
      Suspend
    </button>
  );
  return (
    <Page title={detail?.name ?? "Account"} actions={action}>
      <p class="crumbs">
        <a href="/app/operator/accounts">Accounts</a>
      </p>
      <Progress of={account} />
      {resume.error && <Notice kind="bad">{resume.error}</Notice>}
      {detail?.suspendedAt && (
        <Notice kind="bad">
          Suspended <Time at={detail.suspendedAt} />
          {detail.suspensionReason && `: ${detail.suspensionReason}`}
        </Notice>
      )}
      {detail && (
        <div class="columns">
          <About of={detail} />
          <Settings key={id} of={detail} onSaved={account.show} />
        </div>
      )}
      {detail && (
        <section class="card">
          <h2>Log</h2>
          {detail.log.length ? <Log of={detail.log} /> : <p class="hint">Nobody has changed this account.</p>}
          <p class="hint">Members of the account see it on their account page, without names and reasons.</p>
        </section>
      )}
      {suspending && <Suspend id={id} onClose={() => setSuspending(false)} onSuspended={account.reload} />}
    </Page>
  );
}

function About({ of: account }: { of: OperatedAccount }) {
  const facts = {
    Plan: <span class="plan">{account.plan}</span>,
    Status: account.suspendedAt ? <Badge status="failed">suspended</Badge> : <Badge status="delivered">active</Badge>,
    Account: <code>{account.id}</code>,
    Created: day(account.createdAt),
    Contact: account.contact ?? "none",
    "Default sender": account.defaultSender ?? "none yet",
    Partitions: account.shards,
  };
  return (
    <section class="card">
      <h2>Account</h2>
      <Facts of={facts} />
      <Limits of={account.limits} />
    </section>
  );
}

function Settings({ of: account, onSaved }: { of: OperatedAccount; onSaved: (account: OperatedAccount) => void }) {
  const { shown, changes, type, saved } = useFields({ plan: account.plan, ...account.ownLimits });
  const { plan, ...limits } = shown;
  const { busy, error, run } = useAction(async () => {
    if (Object.keys(changes).length === 0) return toast("Nothing has changed.");
    const { plan: chosen, ...own } = changes;
    // The service replaces all own limits, if there are any.
    const body = { plan: chosen, ownLimits: Object.keys(own).length > 0 ? limits : undefined };
    onSaved(await call("PATCH /v1/operator/accounts/{account_id}", { path: { account_id: account.id }, body }));
    saved(changes);
    toast("The account is changed.");
  });
  return (
    <section class="card">
      <h2>Plan and own limits</h2>
      <form class="settings" onSubmit={run}>
        <Field label="Plan" hint="API keys keep their permissions.">
          <select value={plan} onChange={(event) => type({ plan: event.currentTarget.value as Plan })}>
            {PLANS.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </Field>
        {OWN.map(([name, label]) => (
          <Field label={label} key={name}>
            <input
              type="number"
              min="0"
              max={10 ** 12}
              placeholder="the plan’s limit"
              value={limits[name] ?? ""}
              onInput={(event) => type({ [name]: event.currentTarget.value === "" ? null : event.currentTarget.valueAsNumber })}
            />
          </Field>
        ))}
        {error && <Notice kind="bad">{error}</Notice>}
        <p class="actions">
          <button class="button primary" disabled={busy}>
            Save
          </button>
        </p>
      </form>
    </section>
  );
}

function Suspend({ id, onClose, onSuspended }: { id: string; onClose: () => void; onSuspended: () => void }) {
  const [reason, setReason] = useState("");
  async function suspend() {
    await call("POST /v1/operator/accounts/{account_id}/suspension", { path: { account_id: id }, body: { reason } });
    return "The account is suspended.";
  }
  return (
    <Ask danger title="Suspend this account?" answer="Suspend the account" action={suspend} onDone={onSuspended} onClose={onClose}>
      <Notice kind="bad">All its API keys and members are refused from now on. Emails that were accepted before still go out.</Notice>
      <Field label="Reason" hint="Only operators see it.">
        <input required maxLength={128} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
      </Field>
    </Ask>
  );
}
