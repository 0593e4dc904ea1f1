// One domain: each DNS record that it needs, and what DNS says of it now.

import { useState } from "preact/hooks";
import { useRoute } from "preact-iso/router";

import { attempt } from "../action";
import { call } from "../api";
import { clock, minute } from "../format";
import { withReports } from "../names";
import { Ask } from "../parts/ask";
import { Code, Page } from "../parts/basics";
import { Dialog } from "../parts/dialog";
import { DnsRecords } from "../parts/dns-records";
import { Icon } from "../parts/icon";
import { Progress } from "../parts/notice";
import { toast } from "../parts/toast";
import { useResource } from "../resource";
import { may } from "../rights";
import type { DomainDetail, DomainLinkItem } from "../schema";
import { useGo } from "../windows";
import { AddSender, DomainState } from "./domains";
import { Receiving } from "./receiving";

const SHORTEST = 10_000; // milliseconds between two looks at DNS

export default function DomainPage() {
  const { params } = useRoute();
  const name = params["domain"] ?? "";
  const path = { domain: name };
  const domain = useResource("GET /v1/domains/{domain}", { path }, SHORTEST);
  const [reports, setReports] = useState("");
  const data = domain.data && { ...domain.data, records: domain.data.records.map((one) => (one.purpose === "DMARC" ? { ...one, value: withReports(one.value, reports) } : one)) };
  return (
    <Page
      title={data?.domain ?? name}
      actions={
        data && (
          <>
            <a class="button" download={`${data.domain}.zone`} href={zoneFile(data)}>
              Zone file
            </a>
            {may("domains") && <Share of={data} onDone={domain.reload} />}
            {may("domains") && data.status === "failed" && <Restart name={data.domain} onDone={domain.reload} />}
            {may("domains") && data.status === "verified" && <NewSender domain={data.domain} />}
            {may("domains") && <Remove name={data.domain} />}
          </>
        )
      }
    >
      <p class="crumbs">
        <a href="/app/domains">Domains</a>
      </p>
      <Progress of={domain} />
      {data && (
        <>
          <p class="state" role="status">
            <DomainState of={data} /> {data.status === "pending" && data.records.length === 1 ? FIRST : ADVICE[data.status]}
          </p>
          <p class="lead">
            {lead(data)} where the DNS of {data.domain} is managed.
            {domain.at && ` DNS was asked at ${clock(domain.at)}, and is asked every 10 to 30 seconds while you look.`}
          </p>
          <DnsRecords of={data.records} domain={data.domain} more={(record) => record.purpose === "DMARC" && record.dns.status !== "present" && <Reports to={reports} onChange={setReports} />} />
          <p class="hint">
            <a href="/app/guides/domains">If a record is not found</a>
          </p>
          <Receiving of={data} onSaved={domain.show} />
        </>
      )}
    </Page>
  );
}

const FIRST = "One record first: it shows that the domain is yours. When DNS has it, the other records follow here.";

function lead({ status, records }: DomainDetail): string {
  if (status === "verified") return "These records stay";
  return records.length > 1 ? "Create these records" : "Create this record";
}

const ADVICE: Record<DomainDetail["status"], string> = {
  pending: "You can send from it when DNS has its records. That takes minutes, and for some providers hours.",
  verified: "You can send from its addresses.",
  failed: "The provider does not find the DKIM records. Create them again, then check again: it looks for 72 hours.",
};

/** Who gets the reports about mail under the domain; the value follows, and DNS has what the owner puts there. */
function Reports({ to, onChange }: { to: string; onChange: (address: string) => void }) {
  return (
    <label class="field">
      <span class="hint">Send reports to</span>
      <input type="email" autocomplete="email" placeholder="No reports" value={to} onInput={(event) => onChange(event.currentTarget.value.trim())} />
    </label>
  );
}

/** Return a file that a DNS provider can import (RFC 1035 section 5). */
function zoneFile({ domain, records }: DomainDetail): string {
  const lines = records.map(({ type, host, value }) => {
    const data = type === "TXT" ? `"${value}"` : `${value}.`;
    return `${host}. 3600 IN ${type} ${data}`;
  });
  return `data:text/dns,${encodeURIComponent([`; DNS records of ${domain}`, ...lines, ""].join("\n"))}`;
}

function NewSender({ domain }: { domain: string }) {
  const go = useGo();
  const [adding, setAdding] = useState(false);
  return (
    <>
      <button type="button" class="button primary" onClick={() => setAdding(true)}>
        <Icon name="plus" /> Add sender
      </button>
      {adding && <AddSender domain={domain} onClose={() => setAdding(false)} onAdded={() => go("/app/domains")} />}
    </>
  );
}

function Restart({ name, onDone }: { name: string; onDone: () => void }) {
  async function restart() {
    await call("POST /v1/domains/{domain}", { path: { domain: name } });
    toast("The provider looks for the records again. Compare them: they may have changed.");
    onDone();
  }
  return (
    <button type="button" class="button primary" onClick={() => attempt(restart)}>
      Check again
    </button>
  );
}

function Remove({ name }: { name: string }) {
  const go = useGo();
  const [asking, setAsking] = useState(false);
  async function remove() {
    await call("DELETE /v1/domains/{domain}", { path: { domain: name } });
    go("/app/domains", true);
    return `${name} is removed.`;
  }
  return (
    <>
      <button type="button" class="button danger" onClick={() => setAsking(true)}>
        Remove
      </button>
      {asking && (
        <Ask danger title={`Remove ${name}?`} answer="Remove the domain" action={remove} onClose={() => setAsking(false)}>
          <p>You can add no more senders of it. Its DNS records stay as they are.</p>
        </Ask>
      )}
    </>
  );
}

/** A link for the person who manages the DNS and has no account here. */
function Share({ of: { domain, linkExpiresAt }, onDone }: { of: DomainDetail; onDone: () => void }) {
  const [asking, setAsking] = useState(false);
  const [link, setLink] = useState<DomainLinkItem>();
  const path = { domain };
  async function create() {
    setLink(await call("POST /v1/domains/{domain}/link", { path }));
    onDone();
  }
  async function end() {
    await call("DELETE /v1/domains/{domain}/link", { path });
    toast("The link works no longer.");
    onDone();
  }
  return (
    <>
      <button type="button" class="button" onClick={() => setAsking(true)}>
        Share records
      </button>
      {linkExpiresAt && (
        <button type="button" class="button" onClick={() => attempt(end)}>
          End the link
        </button>
      )}
      {asking && (
        <Ask title="Share the DNS records" answer="Create a link" action={create} onClose={() => setAsking(false)}>
          <p>The link shows the records of {domain} and what DNS says of them, and nothing else. It needs no signing in, and works for 14 days.</p>
          {linkExpiresAt && <p>There is a link that works until {minute(linkExpiresAt)}. A new one ends it.</p>}
        </Ask>
      )}
      {link && (
        <Dialog title="Send this link" wide>
          <p>Send it to the person who manages the DNS of {domain}. It is shown only once, and works until {minute(link.expiresAt)}.</p>
          <Code text={link.url} />
          <p class="actions">
            <button type="button" class="button primary" onClick={() => setLink(undefined)}>
              I have copied it
            </button>
          </p>
        </Dialog>
      )}
    </>
  );
}
