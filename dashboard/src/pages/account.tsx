// The settings of the account: its name, its brand in emails, and its limits.

import { useState } from "preact/hooks";

import { useAction } from "../action";
import { call } from "../api";
import { useFields } from "../fields";
import { day } from "../format";
import { Alerts } from "../parts/alerts";
import { Facts, Field, Page } from "../parts/basics";
import { CursorPager } from "../parts/cursor-pager";
import { Limits } from "../parts/limits";
import { OwnLog } from "../parts/log";
import { Notice, Progress, Trouble } from "../parts/notice";
import { Pauses } from "../parts/pauses";
import { toast } from "../parts/toast";
import { useResource } from "../resource";
import { may } from "../rights";
import type { Account as Detail } from "../schema";
import { renew } from "../session";
import { Keep } from "./keep";

export default function Account() {
  const account = useResource("GET /v1/account");
  return (
    <Page title="Account">
      <Progress of={account} />
      <Pauses of={account.data} onResumed={account.show} />
      {account.data && (
        <div class="columns">
          <Settings of={account.data} onSaved={account.show} />
          <Plan of={account.data} />
        </div>
      )}
      {account.data && <Keep of={account.data} onSaved={account.show} />}
      {/* Its answers may come first, and what is above would then move it. */}
      <div hidden={!account.data}>
        {may("account") && <Alerts />}
        <History />
      </div>
    </Page>
  );
}

function Settings({ of: account, onSaved }: { of: Detail; onSaved: (account: Detail) => void }) {
  const writable = may("account");
  const { shown, changes, type, saved } = useFields({
    name: account.name,
    brandName: account.brandName ?? "",
    fromName: account.fromName ?? "",
    logoUrl: account.logoUrl ?? "",
    accent: account.accent ?? "",
    supportEmail: account.supportEmail ?? "",
    companyAddress: account.companyAddress ?? "",
    actionUrl: account.actionUrl ?? "",
  });
  const { busy, error, run } = useAction(async () => {
    if (Object.keys(changes).length === 0) return toast("Nothing has changed.");
    onSaved(await call("PATCH /v1/account", { body: changes }));
    saved(changes);
    toast("The account is changed.");
    if (changes.name !== undefined) await renew();
  });
  return (
    <section class="card">
      <h2>Settings</h2>
      {!writable && <Notice kind="note">Owners of the account change its settings.</Notice>}
      <form class="settings" onSubmit={run}>
        <fieldset disabled={!writable}>
          <Field label="Name of the account">
            <input required maxLength={128} value={shown.name} onInput={(event) => type({ name: event.currentTarget.value })} />
          </Field>
          <Field label="Brand name" hint="In subject and head of starter templates, and beside the sender’s address if the sender has no name.">
            <input maxLength={128} placeholder={account.name} value={shown.brandName} onInput={(event) => type({ brandName: event.currentTarget.value })} />
          </Field>
          <Field label="Sender's display name" hint="What inboxes show next to the sender's address.">
            <input maxLength={1024} value={shown.fromName} onInput={(event) => type({ fromName: event.currentTarget.value })} />
          </Field>
          <Field label="Logo" hint="An https: URL. Recipients load it from there.">
            <input type="url" maxLength={2048} placeholder="https://shop.example/logo.png" value={shown.logoUrl} onInput={(event) => type({ logoUrl: event.currentTarget.value.trim() })} />
          </Field>
          <Field label="Accent colour" hint="Such as #0a7d5a. It must be visible in light and in dark.">
            <span class="accent">
              <input pattern="#[0-9a-fA-F]{6}" placeholder="#c4122f" value={shown.accent} onInput={(event) => type({ accent: event.currentTarget.value.trim() })} />
              <svg width="36" height="36" aria-hidden="true">
                <rect width="36" height="36" rx="8" fill={/^#[0-9a-f]{6}$/i.test(shown.accent) ? shown.accent : "#c4122f"} />
              </svg>
            </span>
          </Field>
          <Field label="Help" hint="An address or a link. Starter templates show it to people with a question.">
            <input maxLength={2048} placeholder="support@shop.example" value={shown.supportEmail} onInput={(event) => type({ supportEmail: event.currentTarget.value.trim() })} />
          </Field>
          <Field label="Postal address" hint="Of your company, at the end of starter templates.">
            <input maxLength={256} value={shown.companyAddress} onInput={(event) => type({ companyAddress: event.currentTarget.value })} />
          </Field>
          <Field label="Button of the welcome email" hint="The link to your product.">
            <input type="url" maxLength={2048} placeholder="https://shop.example" value={shown.actionUrl} onInput={(event) => type({ actionUrl: event.currentTarget.value.trim() })} />
          </Field>
        </fieldset>
        {error && <Notice kind="bad">{error}</Notice>}
        <p class="actions">
          <button class="button primary" disabled={busy || !writable}>
            Save
          </button>
        </p>
      </form>
    </section>
  );
}

function Plan({ of: account }: { of: Detail }) {
  return (
    <section class="card">
      <h2>Plan and limits</h2>
      <Facts of={{ Plan: account.plan, Account: <code>{account.id}</code>, Created: day(account.createdAt), "Default sender": account.defaultSender ?? "none yet" }} />
      <Limits of={account.limits} />
    </section>
  );
}

function History() {
  const [cursor, setCursor] = useState<string>();
  const [part, setPart] = useState<"changes" | "calls">("changes");
  const log = useResource("GET /v1/account/log", { query: { part, cursor } });
  return (
    <>
      <Trouble of={log} />
      {log.data && (
        <section class="card">
          <h2>Log</h2>
          <p class="hint">What operators of the service did to the account, and who changed its keys, members, endpoints, senders and domains.</p>
          <label>
            <input
              type="checkbox"
              checked={part === "calls"}
              onChange={(event) => {
                setPart(event.currentTarget.checked ? "calls" : "changes");
                setCursor(undefined);
              }}
            />{" "}
            Calls of keys, also those that were refused, and who read content
          </label>
          <OwnLog of={log.data.items} />
          <CursorPager cursor={cursor} next={log.data.nextCursor} onChange={setCursor} />
        </section>
      )}
    </>
  );
}
