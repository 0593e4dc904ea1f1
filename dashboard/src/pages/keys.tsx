// The API keys of the account: create one, see what each may do and when it was used, revoke it.

import { useState } from "preact/hooks";

import { useAction } from "../action";
import { keepAnswers } from "../answers";
import { call } from "../api";
import { count, minute } from "../format";
import { Ask } from "../parts/ask";
import { Badge, Empty, Field, Page, Time } from "../parts/basics";
import { Buttons, Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { Head } from "../parts/list";
import { OwnLog } from "../parts/log";
import { Notice, Progress } from "../parts/notice";
import { Find } from "../parts/search";
import { useFilters, useTyped } from "../query";
import { useAnswers, useResource } from "../resource";
import { may } from "../rights";
import type { CreateKeyRequest, Key, KeyList, KeyPreset, NewKey, Preset } from "../schema";
import { CreatedKey } from "./created-key";
import { dayOf, lastUses, limitsOf, MANY, matching, sentenceOf, shortOf } from "./key-list";

const SHOWN = 50;
const FEW = 8; // permissions
const uses = keepAnswers<Map<string, string>>();

export default function Keys() {
  if (!may("keys")) {
    return (
      <Page title="API keys">
        <Empty icon="keys" title="Your role does not manage API keys">
          <p>Owners and developers of the account create and revoke them.</p>
        </Empty>
      </Page>
    );
  }
  return <KeyPage />;
}

function KeyPage() {
  const list = useResource("GET /v1/keys");
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Key>();
  const [filters] = useFilters();
  const [text, setText] = useTyped(filters["find"]);
  const all = useUsed(list.data?.items ?? []);
  const keys = matching(all, text);
  const revoked = keys.filter((key) => key.revokedAt);
  const create = (
    <button type="button" class="button primary" disabled={!list.data} onClick={() => setCreating(true)}>
      <Icon name="plus" /> Create key
    </button>
  );
  return (
    <Page title="API keys" actions={create}>
      <p class="lead">Programs send with a key. Give each program its own, with no more than it needs.</p>
      <Progress of={list} />
      {(all.length > MANY || filters["find"]) && <Find text={text} placeholder="Name, creator, id, or a whole key" onFind={setText} />}
      {list.data && text && keys.length === 0 && (
        <Empty icon="search" title="No key matches">
          <p>A key of another account is not in this list, nor one that was revoked long ago.</p>
        </Empty>
      )}
      {list.data && all.every((key) => key.revokedAt) && (
        <Empty icon="keys" title="No keys yet">
          <p>
            Create a key to send your first email with it. <a href="/app/guides">Guides for your language</a>
          </p>
        </Empty>
      )}
      <Table caption="Keys" keys={keys.filter((key) => !key.revokedAt)} onRevoke={setRevoking} />
      {revoked.length > 0 && (
        <details class="more" open={text !== ""}>
          <summary>Revoked keys: {revoked.length}</summary>
          <Table caption="Revoked keys" keys={revoked} />
        </details>
      )}
      {creating && list.data && <Create terms={list.data} onClose={() => setCreating(false)} onCreated={list.reload} />}
      {revoking && <Revoke of={revoking} onClose={() => setRevoking(undefined)} onRevoked={list.reload} />}
    </Page>
  );
}

/** Return the keys with the last use that their emails show. */
function useUsed(keys: Key[]): Key[] {
  const recorded = keys.length > 0 ? keys.map(({ id, lastUsedAt }) => `${id} ${lastUsedAt}`).join() : null;
  const current = useAnswers(uses, recorded, (signal) =>
    lastUses(keys, async (query) => (await call("GET /v1/emails", { query, signal })).items),
  );
  return keys.map((key) => ({ ...key, lastUsedAt: current.data?.get(key.id) ?? key.lastUsedAt }));
}

function Table({ caption, keys, onRevoke }: { caption: string; keys: Key[]; onRevoke?: (key: Key) => void }) {
  const [whole, setWhole] = useState(false);
  if (keys.length === 0) return null;
  const rest = whole ? 0 : Math.max(keys.length - SHOWN, 0);
  return (
    <>
      <table class="list records">
        <Head caption={caption} columns={["Name", "May do", "Last used", "Created", ...(onRevoke ? [] : ["Revoked"])]} action={onRevoke && "Revoke"} />
        <tbody>
          {keys.slice(0, keys.length - rest).map((key) => (
            <tr key={key.id}>
              <td class="who">
                <b>{key.name}</b> {key.ending && <small>{shortOf(key)}</small>} <small>{key.id}</small>
              </td>
              <td class="what">
                {key.type === "preview" ? <Badge status="pending">preview</Badge> : <Badge status="sent">{key.preset ?? "custom"}</Badge>}{" "}
                {key.agent && <Badge status="note">agent</Badge>} <Scopes of={key.scopes} />
                {key.sources.length > 0 && <small>Only from {key.sources.join(", ")}</small>}
                {key.expiresAt && (
                  <small>Until {minute(key.expiresAt)}</small>
                )}
              </td>
              <td data-label="Last used">{key.lastUsedAt ? <Time at={key.lastUsedAt} /> : <span class="hint">never</span>}</td>
              <td data-label="Created">
                <Time at={key.createdAt} /> {key.createdBy && <small>by {key.createdBy}</small>}
              </td>
              <td class="do">
                {onRevoke ? (
                  <button type="button" class="button small danger" aria-label={`Revoke ${key.name}`} onClick={() => onRevoke(key)}>
                    Revoke
                  </button>
                ) : (
                  key.revokedAt && <Time at={key.revokedAt} />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rest > 0 && (
        <button type="button" class="button" onClick={() => setWhole(true)}>
          Show {count(rest)} more
        </button>
      )}
    </>
  );
}

/** What a key may do; many permissions are folded, so that they do not push the other keys away. */
function Scopes({ of: scopes }: { of: string[] }) {
  const all = <small>{scopes.join(", ")}</small>;
  if (scopes.length <= FEW) return all;
  return (
    <details>
      <summary>{scopes.length} permissions</summary>
      {all}
    </details>
  );
}

function Revoke({ of: key, onClose, onRevoked }: { of: Key; onClose: () => void; onRevoked: () => void }) {
  async function revoke() {
    await call("DELETE /v1/keys/{key_id}", { path: { key_id: key.id } });
    return "The key is revoked.";
  }
  return (
    <Ask danger title={`Revoke “${key.name}”?`} answer="Revoke the key" action={revoke} onDone={onRevoked} onClose={onClose}>
      <Notice kind="bad">
        Programs that use it can no longer send, from now on. The keys that it created end too, and its invitations that wait. This cannot be undone.
      </Notice>
      {key.scopes.some((scope) => scope.endsWith(":write")) && <Made of={key} />}
    </Ask>
  );
}

/** What a key and those that come from it did: what of it is no key and no invitation stays. */
function Made({ of: key }: { of: Key }) {
  const log = useResource("GET /v1/account/log", { query: { key: key.id } });
  if (!log.data) return <Progress of={log} />;
  return (
    <>
      <p>{log.data.items.length ? "It did the following. Members who joined, endpoints, senders and links to DNS records stay until you remove them." : "It added and changed nothing."}</p>
      <OwnLog of={log.data.items} />
      {log.data.nextCursor && <p class="hint">The account’s log has more.</p>}
    </>
  );
}

/** The presets that the page offers: this service has no campaigns. */
const ABOUT: Partial<Record<Preset, string>> = {
  send: "Send emails, and look up those of the account.",
  analytics: "Read only: emails, figures and templates.",
  custom: "The permissions that you choose.",
};

/** The permissions of keys that manage nothing: only owners give others. */
const SENDING = /^(emails|templates|webhooks|marketing):/;

interface CreateProperties {
  terms: KeyList;
  onClose: () => void;
  onCreated: () => void;
}

function Create({ terms, onClose, onCreated }: CreateProperties) {
  const [name, setName] = useState("");
  const [preset, setPreset] = useState<Preset>("send");
  const [scopes, setScopes] = useState<string[]>([]);
  const [lastDay, setLastDay] = useState("");
  const [sources, setSources] = useState("");
  const [created, setCreated] = useState<NewKey>();
  const chosen = terms.presets.find((one) => one.preset === preset);
  const managing = scopes.filter((scope) => !SENDING.test(scope));
  const { busy, error, run } = useAction(async () => {
    const body = { name, preset, ...(preset === "custom" && { scopes }), ...limitsOf(lastDay, sources) } as CreateKeyRequest;
    setCreated(await call("POST /v1/keys", { body }));
    onCreated();
  });
  if (created) {
    return (
      <Dialog title="Store the key now" wide>
        <CreatedKey of={created} smtp={terms.smtp} onClose={onClose} />
      </Dialog>
    );
  }
  return (
    <Dialog title="Create a key" wide onClose={onClose}>
      <form onSubmit={run}>
        <Field label="Name" hint="The program that uses it, such as “shop”.">
          <input required maxLength={128} value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </Field>
        <fieldset class="cards">
          <legend>Preset</legend>
          {terms.presets.filter(({ preset }) => preset in ABOUT).map((one) => (
            <Card key={one.preset} of={one} upgradeUrl={terms.upgradeUrl} checked={one.preset === preset} onChoose={() => setPreset(one.preset)} />
          ))}
        </fieldset>
        {preset === "custom" && (
          <fieldset class="options permissions">
            <legend>Permissions</legend>
            {chosen?.scopes.filter((scope) => SENDING.test(scope) || may("account")).map((scope) => (
              <label key={scope} class={chosen.refusedScopes.includes(scope) ? "off" : undefined}>
                <input
                  type="checkbox"
                  disabled={chosen.refusedScopes.includes(scope)}
                  checked={scopes.includes(scope)}
                  onChange={() => setScopes(scopes.includes(scope) ? scopes.filter((other) => other !== scope) : [...scopes, scope])}
                />
                <span>
                  <span class="words">{terms.permissions.find((one) => one.scope === scope)?.allows}</span> <code>{scope}</code>
                </span>
              </label>
            ))}
            {chosen?.reason && <p class="hint">{chosen.reason}</p>}
            {managing.length > 0 && (
              <Notice kind="bad">
                A program with this key manages the account as you do in the dashboard. Owners get an email about it.
              </Notice>
            )}
          </fieldset>
        )}
        <div class="pair">
          <Field label="Last day" hint="Optional. The key stops working at the end of this day, in your time zone.">
            <input type="date" min={dayOf(new Date())} value={lastDay} onInput={(event) => setLastDay(event.currentTarget.value)} />
          </Field>
          <Field label="Works only from" hint="Optional. Up to ten addresses or blocks of addresses, such as 192.0.2.0/24.">
            <input value={sources} placeholder="From everywhere" onInput={(event) => setSources(event.currentTarget.value)} />
          </Field>
        </div>
        <p>{sentenceOf(preset === "custom" ? scopes : (chosen?.scopes ?? []), terms.permissions)}</p>
        {error && <Notice kind="bad">{error}</Notice>}
        <Buttons onClose={onClose} answer="Create key" disabled={busy || (preset === "custom" && scopes.length === 0)} />
      </form>
    </Dialog>
  );
}

function Card({ of: one, upgradeUrl, checked, onChoose }: { of: KeyPreset; upgradeUrl: string; checked: boolean; onChoose: () => void }) {
  return (
    <div class={one.allowed ? "choose" : "choose off"}>
      <label>
        <input type="radio" name="preset" disabled={!one.allowed} checked={checked} onChange={onChoose} />
        <b>{one.preset}</b>
        <span>{ABOUT[one.preset]}</span>
        {checked && one.preset !== "custom" && (
          <span class="scopes">
            {one.scopes.map((scope) => (
              <code key={scope}>{scope}</code>
            ))}
          </span>
        )}
      </label>
      {!one.allowed && (
        <p class="hint">
          {one.reason} <a href={upgradeUrl}>Compare the plans</a>
        </p>
      )}
    </div>
  );
}
