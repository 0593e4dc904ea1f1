// The addresses that the account does not send to.

import { useState } from "preact/hooks";

import { attempt, useAction } from "../action";
import { call } from "../api";
import { addressesOf, csv, save, textOf, toCsv } from "../csv";
import { count } from "../format";
import { Ask } from "../parts/ask";
import { Badge, Empty, Field, Page, Time } from "../parts/basics";
import { CursorPager } from "../parts/cursor-pager";
import { Buttons, Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { Head } from "../parts/list";
import { Notice, Progress } from "../parts/notice";
import { Search } from "../parts/search";
import { useFilters } from "../query";
import { useResource } from "../resource";
import { may } from "../rights";
import type { Suppression } from "../schema";

const SIZE = 50;
const LARGEST = 1_000; // of a request

export default function Suppressions() {
  const [{ search, cursor }, change] = useFilters();
  const list = useResource("GET /v1/suppressions", { query: { search, cursor, limit: SIZE } });
  const [adding, setAdding] = useState(false);
  const [importing, setImporting] = useState(false);
  const [removing, setRemoving] = useState<Suppression>();
  const writable = may("suppressions");
  const items = list.data?.items ?? [];
  const actions = (
    <>
      <button type="button" class="button" onClick={() => attempt(saveAll)}>
        Export
      </button>
      <button type="button" class="button" disabled={!writable} onClick={() => setImporting(true)}>
        Import
      </button>
      <button type="button" class="button primary" disabled={!writable} onClick={() => setAdding(true)}>
        <Icon name="plus" /> Add address
      </button>
    </>
  );
  return (
    <Page title="Suppressions" actions={actions}>
      <p class="lead">Nothing is sent to these addresses. The service adds those that bounced or complained.</p>
      {!writable && <Notice kind="note">Owners and developers add and remove addresses.</Notice>}
      <Search value={search ?? ""} placeholder="How the address begins" most={200} onSearch={(text) => change({ search: text, cursor: "" })} />
      <Progress of={list} />
      {list.data && items.length === 0 && (
        <Empty icon="suppressions" title={search ? "No address begins like this" : "No suppressed addresses"}>
          {search ? (
            <p>Search for the beginning of an address.</p>
          ) : (
            <p>
              Import the list of your former service, so that you do not send to those addresses again. <a href="/app/guides">Coming from another service</a>
            </p>
          )}
        </Empty>
      )}
      {items.length > 0 && (
        <table class={`list records ${list.stale ? "stale" : ""}`}>
          <Head caption="Suppressed addresses" columns={["Address", "Reason", "Since"]} action="Remove" />
          <tbody>
            {items.map((one) => (
              <tr key={one.address}>
                <td class="who">{one.erased ? <span class="hint">an erased address</span> : one.address}</td>
                <td class="what">
                  <Badge status={one.reason === "manual" ? "pending" : one.reason}>{one.reason}</Badge>{" "}
                  {one.messageId && <a href={`/app/activity/${one.messageId}`}>Show the email</a>}
                </td>
                <td data-label="Since">
                  <Time at={one.createdAt} />
                </td>
                <td class="do">
                  <button type="button" class="button small" disabled={!writable || one.erased} aria-label={`Remove ${one.address}`} onClick={() => setRemoving(one)}>
                    Remove
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <CursorPager cursor={cursor} next={list.data?.nextCursor} onChange={(to) => change({ cursor: to })} />
      {adding && <Add onClose={() => setAdding(false)} onAdded={list.reload} />}
      {importing && <Import onClose={() => setImporting(false)} onAdded={list.reload} />}
      {removing && <Remove of={removing} onClose={() => setRemoving(undefined)} onRemoved={list.reload} />}
    </Page>
  );
}

function Add({ onClose, onAdded }: { onClose: () => void; onAdded: () => void }) {
  const [address, setAddress] = useState("");
  async function add() {
    await call("POST /v1/suppressions", { body: { address } });
    return "Nothing is sent to this address any more.";
  }
  return (
    <Ask title="Suppress an address" answer="Add address" action={add} onDone={onAdded} onClose={onClose}>
      <Field label="Address">
        <input type="email" required value={address} onInput={(event) => setAddress(event.currentTarget.value.trim())} />
      </Field>
    </Ask>
  );
}

interface Imported {
  added: number;
  refused: { address: string; message: string }[];
}

function Import({ onClose, onAdded }: { onClose: () => void; onAdded: () => void }) {
  const [addresses, setAddresses] = useState<string[]>([]);
  const [result, setResult] = useState<Imported>();
  const { busy, error, run } = useAction(async () => {
    const sum: Imported = { added: 0, refused: [] };
    for (let start = 0; start < addresses.length; start += LARGEST) {
      const part = addresses.slice(start, start + LARGEST);
      const answer = await call("POST /v1/suppressions", { body: { addresses: part } });
      sum.added += answer.items.length;
      sum.refused.push(...answer.refused.map(({ idx, message }) => ({ address: part[idx] ?? "", message })));
    }
    setResult(sum);
    onAdded();
  });
  if (result) {
    return (
      <Dialog title="The file is imported" onClose={onClose}>
        <p>{count(result.added)} addresses are suppressed.</p>
        {result.refused.length > 0 && (
          <>
            <h3>{count(result.refused.length)} lines are left out</h3>
            <ul class="scroll">
              {result.refused.map(({ address, message }) => (
                <li key={address}>
                  <code>{address}</code> {message}
                </li>
              ))}
            </ul>
          </>
        )}
        <p class="actions">
          {result.refused.length > 0 && (
            <button type="button" class="button" onClick={() => save("refused.csv", new Blob([csv(refusedRows(result))], { type: "text/csv" }))}>
              Save these lines
            </button>
          )}
          <button type="button" class="button primary" onClick={onClose}>
            Done
          </button>
        </p>
      </Dialog>
    );
  }
  async function choose(field: HTMLInputElement) {
    const file = field.files?.[0];
    const found = file ? addressesOf(textOf(new Uint8Array(await file.arrayBuffer()))) : [];
    if (file === field.files?.[0]) setAddresses(found); // else another file was chosen since
  }
  return (
    <Dialog title="Import a list" onClose={onClose}>
      <form onSubmit={run}>
        <Field label="File" hint="CSV with a column “email” or “address”, such as Excel saves, or one address a line." error={error}>
          <input type="file" accept=".csv,.txt,text/csv,text/plain" required onChange={(event) => void choose(event.currentTarget)} />
        </Field>
        <p aria-live="polite">{addresses.length > 0 && `The file has ${count(addresses.length)} different addresses.`}</p>
        <Buttons onClose={onClose} answer={busy ? "One moment…" : "Import"} disabled={busy || addresses.length === 0} />
      </form>
    </Dialog>
  );
}

const refusedRows = ({ refused }: Imported) => [["address", "why"], ...refused.map((one) => [one.address, one.message])];

function Remove({ of: one, onClose, onRemoved }: { of: Suppression; onClose: () => void; onRemoved: () => void }) {
  async function remove() {
    await call("DELETE /v1/suppressions/{address}", { path: { address: one.address } });
    return "Emails to this address are sent again.";
  }
  return (
    <Ask danger title={`Send to ${one.address} again?`} answer="Remove the address" action={remove} onDone={onRemoved} onClose={onClose}>
      {one.reason === "complained" && <Notice kind="bad">The recipient called an email of yours spam. Another complaint harms all of your emails.</Notice>}
      {one.reason === "bounced" && <Notice kind="note">The address did not exist. If it still does not, it is added again.</Notice>}
    </Ask>
  );
}

/** Read the whole list, and let the browser save it as a file. */
async function saveAll(): Promise<void> {
  const items: Suppression[] = [];
  let cursor: string | undefined;
  do {
    const page = await call("GET /v1/suppressions", { query: { limit: LARGEST, cursor } });
    items.push(...page.items);
    cursor = page.nextCursor ?? undefined;
  } while (cursor);
  save("suppressions.csv", new Blob([toCsv(items)], { type: "text/csv" }));
}
