// The domains that the account sends from, and its senders.

import { useState } from "preact/hooks";

import { attempt } from "../action";
import { call } from "../api";
import { hostOf } from "../names";
import { Ask } from "../parts/ask";
import { Badge, Empty, Field, Page, Time } from "../parts/basics";
import { Icon } from "../parts/icon";
import { Head } from "../parts/list";
import { Progress } from "../parts/notice";
import { toast } from "../parts/toast";
import { domainAt } from "../places";
import { useResource } from "../resource";
import { may } from "../rights";
import type { Domain, Sender } from "../schema";
import { useGo } from "../windows";

export default function Domains() {
  const list = useResource("GET /v1/domains", {}, true);
  const go = useGo();
  const [adding, setAdding] = useState(false);
  const add = may("domains") && (
    <button type="button" class="button primary" onClick={() => setAdding(true)}>
      <Icon name="plus" /> Add domain
    </button>
  );
  return (
    <Page title="Domains" actions={add}>
      <p class="lead">Emails come from addresses of these domains. DNS records show that they are yours.</p>
      <Progress of={list} />
      {list.data?.items.length === 0 && (
        <Empty icon="domains" title="No domains yet">
          <p>
            Add the domain that your emails come from, such as the one of your website. <a href="/app/guides/domains">What it needs</a>
          </p>
        </Empty>
      )}
      {!!list.data?.items.length && (
        <table class="list">
          <Head columns={["Domain", "State", "Added"]} />
          <tbody>
            {list.data.items.map((one) => (
              <tr key={one.domain}>
                <td class="who">
                  <a class="row" href={domainAt(one.domain)}>
                    {one.domain}
                  </a>
                </td>
                <td>
                  <DomainState of={one} />
                </td>
                <td class="when">
                  <Time at={one.createdAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {list.data && <Senders domains={list.data.items} />}
      {adding && <AddDomain onClose={() => setAdding(false)} onAdded={(name) => go(domainAt(name))} />}
    </Page>
  );
}

const BADGES: Record<Domain["status"], string> = { verified: "delivered", pending: "pending", failed: "failed" };

export function DomainState({ of: { status } }: { of: Pick<Domain, "status"> }) {
  return <Badge status={BADGES[status]}>{status}</Badge>;
}

function AddDomain({ onClose, onAdded }: { onClose: () => void; onAdded: (domain: string) => void }) {
  const [name, setName] = useState("");
  const add = async () => onAdded((await call("POST /v1/domains", { body: { domain: hostOf(name) } })).domain);
  return (
    <Ask title="Add a domain" answer="Add domain" action={add} onClose={onClose}>
      <Field label="Domain" hint="You need access to its DNS. Addresses of its subdomains need no domain of their own.">
        <input required autocomplete="off" autocapitalize="off" spellcheck={false} placeholder="shop.example" value={name} onInput={(event) => setName(event.currentTarget.value)} onChange={() => setName(hostOf(name))} />
      </Field>
    </Ask>
  );
}

function Senders({ domains }: { domains: Domain[] }) {
  const senders = useResource("GET /v1/senders");
  const [adding, setAdding] = useState(false);
  const ready = domains.filter(({ status }) => status === "verified");
  return (
    <section class="part" id="senders">
      <header class="head">
        <h2>Senders</h2>
        {may("domains") && ready.length > 0 && (
          <button type="button" class="button" onClick={() => setAdding(true)}>
            <Icon name="plus" /> Add sender
          </button>
        )}
      </header>
      <Progress of={senders} />
      {senders.data?.items.length === 0 && (
        <Empty icon="activity" title="No senders yet">
          <p>
            {ready.length > 0 ? "Add the address that your emails come from." : "Verify a domain first. Then add one of its addresses here."} <a href="/app/guides/domains">Domains and senders</a>
          </p>
        </Empty>
      )}
      {!!senders.data?.items.length && (
        <table class="list senders">
          <Head columns={["Address", "State"]} action="Actions" />
          <tbody>
            {senders.data.items.map((sender) => (
              <SenderRow key={sender.address} of={sender} onChange={senders.reload} />
            ))}
          </tbody>
        </table>
      )}
      {adding && <AddSender domain={ready[0]?.domain ?? ""} onClose={() => setAdding(false)} onAdded={senders.reload} />}
    </section>
  );
}

function SenderRow({ of: { address, verified, default: isDefault }, onChange }: { of: Sender; onChange: () => void }) {
  const [removing, setRemoving] = useState(false);
  const path = { sender: address };
  const choose = () =>
    attempt(async () => {
      await call("PUT /v1/senders/{sender}/default", { path });
      toast(`Emails without a sender come from ${address}.`);
      onChange();
    });
  async function remove() {
    await call("DELETE /v1/senders/{sender}", { path });
    return `${address} is removed.`;
  }
  return (
    <tr>
      <td class="who">{address}</td>
      <td>
        {isDefault ? <Badge status="sent">default</Badge> : !verified && <Badge status="pending">not verified</Badge>}
      </td>
      <td class="when">
        {may("domains") && (
          <span class="actions">
            {verified && !isDefault && (
              <button type="button" class="button small" onClick={choose}>
                Make default
              </button>
            )}
            <button type="button" class="button small danger" aria-label={`Remove ${address}`} onClick={() => setRemoving(true)}>
              Remove
            </button>
          </span>
        )}
        {removing && (
          <Ask danger title={`Remove ${address}?`} answer="Remove the sender" action={remove} onDone={onChange} onClose={() => setRemoving(false)}>
            <p>No key can send from it any more.{isDefault && " Emails without a sender are refused until you choose another default."}</p>
          </Ask>
        )}
      </td>
    </tr>
  );
}

export function AddSender({ domain, onClose, onAdded }: { domain: string; onClose: () => void; onAdded: () => void }) {
  const [address, setAddress] = useState("");
  async function add() {
    await call("POST /v1/senders", { body: { address } });
    return `${address} is added.`;
  }
  return (
    <Ask title="Add a sender" answer="Add sender" action={add} onDone={onAdded} onClose={onClose}>
      <Field label="Address" hint="An address of a verified domain. It needs no mailbox, but replies go there.">
        <input type="email" required autocomplete="off" placeholder={`hello@${domain}`} value={address} onInput={(event) => setAddress(event.currentTarget.value.trim())} />
      </Field>
    </Ask>
  );
}
