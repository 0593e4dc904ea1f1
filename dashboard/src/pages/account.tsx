// The settings of the account: its name, its brand in emails, and its limits.

import { useState } from "preact/hooks";

import { useAction } from "../action";
import { call } from "../api";
import { count, day } from "../format";
import { Field, Page, Time } from "../parts/basics";
import { Loading, Notice, Trouble } from "../parts/notice";
import { toast } from "../parts/toast";
import { useResource } from "../resource";
import { may } from "../rights";
import type { Account as Detail } from "../schema";
import { renew } from "../session";

export default function Account() {
  const account = useResource("account", (signal) => call("GET /v1/account", { signal }));
  return (
    <Page title="Account">
      <Trouble of={account} />
      {!account.data && !account.error && <Loading />}
      {account.data && (
        <div class="columns">
          <Settings key={account.at?.getTime()} of={account.data} onSaved={account.reload} />
          <Plan of={account.data} />
        </div>
      )}
    </Page>
  );
}

function Settings({ of: account, onSaved }: { of: Detail; onSaved: () => void }) {
  const writable = may("account");
  const [name, setName] = useState(account.name);
  const [brandName, setBrandName] = useState(account.brandName ?? "");
  const [fromName, setFromName] = useState(account.fromName ?? "");
  const [logoUrl, setLogoUrl] = useState(account.logoUrl ?? "");
  const [accent, setAccent] = useState(account.accent ?? "");
  const { busy, error, run } = useAction(async () => {
    await call("PATCH /v1/account", { body: { name, brandName, fromName, logoUrl, accent } });
    toast("The account is changed.");
    if (name !== account.name) await renew();
    onSaved();
  });
  return (
    <section class="card">
      <h2>Settings</h2>
      {!writable && <Notice kind="note">Owners of the account change its settings.</Notice>}
      <form class="settings" onSubmit={run}>
        <fieldset disabled={!writable}>
          <Field label="Name of the account">
            <input required maxLength={128} value={name} onInput={(event) => setName(event.currentTarget.value)} />
          </Field>
          <Field label="Brand name" hint="At the top of the emails of starter templates.">
            <input maxLength={128} placeholder={account.name} value={brandName} onInput={(event) => setBrandName(event.currentTarget.value)} />
          </Field>
          <Field label="Sender's display name" hint="What inboxes show with the sender's address.">
            <input maxLength={1024} value={fromName} onInput={(event) => setFromName(event.currentTarget.value)} />
          </Field>
          <Field label="Logo" hint="An https: URL. Recipients load it from there.">
            <input type="url" maxLength={2048} placeholder="https://shop.example/logo.png" value={logoUrl} onInput={(event) => setLogoUrl(event.currentTarget.value.trim())} />
          </Field>
          <Field label="Accent colour" hint="Such as #0a7d5a. It must be visible in light and in dark.">
            <span class="accent">
              <input pattern="#[0-9a-fA-F]{6}" placeholder="#c4122f" value={accent} onInput={(event) => setAccent(event.currentTarget.value.trim())} />
              <svg width="36" height="36" aria-hidden="true">
                <rect width="36" height="36" rx="8" fill={/^#[0-9a-f]{6}$/i.test(accent) ? accent : "#c4122f"} />
              </svg>
            </span>
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

const WINDOWS: Record<Detail["limits"][number]["name"], string> = {
  minute: "Emails this minute",
  day: "Emails today",
  recipients: "Recipients today",
  month: "Emails this month",
};

function Plan({ of: account }: { of: Detail }) {
  return (
    <section class="card">
      <h2>Plan and limits</h2>
      <dl class="facts">
        <div>
          <dt>Plan</dt>
          <dd>{account.plan}</dd>
        </div>
        <div>
          <dt>Account</dt>
          <dd>
            <code>{account.id}</code>
          </dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>{day(account.createdAt)}</dd>
        </div>
        <div>
          <dt>Default sender</dt>
          <dd>{account.defaultSender ?? "none yet"}</dd>
        </div>
      </dl>
      <div class="limits">
        {account.limits.map((limit) => (
          <div class="quota" key={limit.name}>
            <p>
              <span>{WINDOWS[limit.name]}</span>
              <b>
                {count(limit.used)} {limit.limit === null ? "of any number" : `of ${count(limit.limit)}`}
              </b>
            </p>
            {limit.limit !== null && (
              <progress class={limit.remaining === 0 ? "short" : undefined} max={Math.max(limit.limit, 1)} value={limit.used} aria-label={WINDOWS[limit.name]} />
            )}
            {limit.name === "month" && (
              <p class="hint">
                Begins again <Time at={limit.resetsAt} />.
              </p>
            )}
          </div>
        ))}
      </div>
    </section>
  );
}
