// The passkeys of the user: add one, remove one, and sign out everywhere.

import { useState } from "preact/hooks";

import { useAction } from "../action";
import { call } from "../api";
import { Ask } from "../parts/ask";
import { Badge, Empty, Field, Page, Time } from "../parts/basics";
import { Icon } from "../parts/icon";
import { Head } from "../parts/list";
import { Notice, Progress } from "../parts/notice";
import { useResource } from "../resource";
import type { Passkey } from "../schema";
import { passkeys, session, signInWithPasskey, signOut, supported } from "../session";
import { nameOf } from "./passkey-names";

export function Passkeys() {
  const list = useResource("GET /v1/passkeys");
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Passkey>();
  const [leaving, setLeaving] = useState(false);
  const needed = session.value?.user.passkeyNeeded;
  const add = (
    <button type="button" class="button primary" disabled={!supported()} onClick={() => setAdding(true)}>
      <Icon name="plus" /> Add passkey
    </button>
  );
  return (
    <Page title="Passkeys" actions={add}>
      <p class="lead">A passkey signs you in with your fingerprint, your face or the PIN of a device. No site that only looks like this one can use it.</p>
      {/^[\d.]+$/.test(location.hostname) && (
        <Notice kind="note">
          Browsers have no passkeys for an address of digits. <a href={location.href.replace(location.hostname, "localhost")}>Open this page at localhost</a>, and sign in there.
        </Notice>
      )}
      {!supported() && <Notice kind="note">This browser has no passkeys.</Notice>}
      {needed && <Needed has={!!list.data?.items.length} />}
      <Progress of={list} />
      {!!list.data?.items.length && <List of={list.data.items} onRemove={setRemoving} />}
      {list.data?.items.length === 0 && !needed && <None />}
      <section class="card">
        <h2>Sign out everywhere</h2>
        <div class="settings">
          <p class="hint">Ends your sessions in all browsers, this one too, and the codes and links that are on their way. Passkeys stay: remove those of a device that you have lost.</p>
          <p class="actions">
            <button type="button" class="button danger" onClick={() => setLeaving(true)}>
              Sign out everywhere
            </button>
          </p>
        </div>
      </section>
      {adding && <Add onClose={() => setAdding(false)} onAdded={list.reload} />}
      {removing && <Remove of={removing} onClose={() => setRemoving(undefined)} onRemoved={list.reload} />}
      {leaving && (
        <Ask danger title="Sign out everywhere?" answer="Sign out everywhere" action={() => signOut(true)} onClose={() => setLeaving(false)}>
          <p>You have to sign in again in each browser.</p>
        </Ask>
      )}
    </Page>
  );
}

/** For operators who have to sign in with a passkey, and have not. */
function Needed({ has }: { has: boolean }) {
  const { busy, error, run } = useAction(signInWithPasskey);
  return (
    <>
      <Notice kind="note">
        You operate this service, so you have to sign in with a passkey. You can add one here if you signed in with a link of the command <code>pillarbox dashboard link</code>.
      </Notice>
      {error && <Notice kind="bad">{error}</Notice>}
      {has && (
        <p class="actions">
          <button type="button" class="button" disabled={busy} onClick={run}>
            {busy ? "One moment…" : "Sign in with a passkey"}
          </button>
        </p>
      )}
    </>
  );
}

function None() {
  return (
    <Empty icon="keys" title="You have no passkey">
      <p>You sign in with a code that comes by email. That keeps working when you add one.</p>
    </Empty>
  );
}

function List({ of: passkeys, onRemove }: { of: Passkey[]; onRemove: (passkey: Passkey) => void }) {
  return (
    <table class="list records">
      <Head caption="Passkeys" columns={["Name", "Added", "Last used"]} action="Remove" />
      <tbody>
        {passkeys.map((passkey) => (
          <tr key={passkey.id}>
            <td class="who">
              {passkey.name} {passkey.current && <Badge status="delivered">this session</Badge>} {passkey.synced && <Badge status="pending">synced</Badge>} {passkey.stoppedAt && <Badge status="failed">stopped: copied</Badge>}
            </td>
            <td data-label="Added">
              <Time at={passkey.createdAt} />
            </td>
            <td data-label="Last used">{passkey.lastUsedAt ? <Time at={passkey.lastUsedAt} /> : "Never"}</td>
            <td class="do">
              <button type="button" class="button small danger" aria-label={`Remove ${passkey.name}`} onClick={() => onRemove(passkey)}>
                Remove
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Add({ onClose, onAdded }: { onClose: () => void; onAdded: () => void }) {
  const [name, setName] = useState(() => nameOf(navigator.userAgent));
  async function add() {
    const [{ makePasskey }, challenge] = await Promise.all([passkeys(), call("POST /v1/passkeys/challenges")]);
    const made = await makePasskey(challenge);
    await call("POST /v1/passkeys", { body: { ...made, name } });
    return "The passkey is added.";
  }
  return (
    <Ask title="Add a passkey" answer="Continue" action={add} onDone={onAdded} onClose={onClose}>
      <Field label="Name" hint="It helps you to recognize the device. Then your browser asks where to keep the passkey.">
        <input required maxLength={64} value={name} onFocus={(event) => event.currentTarget.select()} onInput={(event) => setName(event.currentTarget.value)} />
      </Field>
    </Ask>
  );
}

function Remove({ of: passkey, onClose, onRemoved }: { of: Passkey; onClose: () => void; onRemoved: () => void }) {
  async function remove() {
    await call("DELETE /v1/passkeys/{passkey_id}", { path: { passkey_id: passkey.id } });
    return "The passkey is removed.";
  }
  return (
    <Ask danger title={`Remove ${passkey.name}?`} answer="Remove passkey" action={remove} onDone={onRemoved} onClose={onClose}>
      <p>It no longer signs you in, and other browsers that it signed in are signed out. Your device still shows it until you delete it there.</p>
    </Ask>
  );
}
