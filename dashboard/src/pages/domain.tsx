// One domain: each DNS record that it needs, and what DNS says of it now.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso/router";

import { attempt } from "../action";
import { call } from "../api";
import { clock } from "../format";
import { labelOf, withReports } from "../names";
import { Ask } from "../parts/ask";
import { Badge, Copy, Page } from "../parts/basics";
import { Head } from "../parts/list";
import { Progress } from "../parts/notice";
import { toast } from "../parts/toast";
import { useResource } from "../resource";
import { may } from "../rights";
import type { CheckedDnsRecord, DomainDetail } from "../schema";
import { DomainState } from "./domains";

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
            {may("domains") && data.status === "failed" && <Restart name={data.domain} onDone={domain.reload} />}
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
          <table class="list zone">
            <Head caption="DNS records" columns={["Record", "Name", "Value", "Priority", "DNS says"]} />
            <tbody>
              {data.records.map((record) => (
                <Record key={`${record.type} ${record.host}`} of={record} domain={data.domain}>
                  {record.purpose === "DMARC" && record.dns.status !== "present" && <Reports to={reports} onChange={setReports} />}
                </Record>
              ))}
            </tbody>
          </table>
          <p class="hint">
            Most providers add {data.domain} to a name by themselves. If yours wants whole names, copy those with <b>whole</b>. <a href="/app/guides/domains">If a record is not found</a>
          </p>
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

const PURPOSES: Record<string, string> = {
  OWNERSHIP: "Shows that your account may use the domain. Required.",
  DKIM: "Signs your emails. Required.",
  "MAIL FROM": "Lets bounces come back under your domain.",
  "MAIL FROM SPF": "Lets the provider send under your domain.",
  SPF: "For receivers that look at the domain itself.",
  DMARC: "Says what receivers do with emails that are not signed, and who gets their reports.",
};

const ANSWERS: Record<CheckedDnsRecord["dns"]["status"], [string, string]> = {
  present: ["delivered", "found"],
  missing: ["pending", "not found"],
  differs: ["bounced", "another value"],
  unknown: ["pending", "no answer"],
};

/** Who gets the reports about mail under the domain; the value follows, and DNS has what the owner puts there. */
function Reports({ to, onChange }: { to: string; onChange: (address: string) => void }) {
  return (
    <label class="field">
      <span class="hint">Send reports to</span>
      <input type="email" autocomplete="email" placeholder="nobody" value={to} onInput={(event) => onChange(event.currentTarget.value.trim())} />
    </label>
  );
}

interface RecordProperties {
  of: CheckedDnsRecord;
  domain: string;
  children?: ComponentChildren;
}

function Record({ of: { purpose, type, host, value, dns }, domain, children }: RecordProperties) {
  const [kind, text] = ANSWERS[dns.status];
  const label = labelOf(host, domain);
  const { priority, target } = targetOf(type, value);
  const which = `${purpose} ${label}`;
  return (
    <tr>
      <td class="who">
        {purpose} <code>{type}</code>
        <p class="hint">{PURPOSES[purpose]}</p>
      </td>
      <td class="what" data-label="Name">
        <code>{label}</code>
        <span class="actions">
          <Copy text={label} label={`Copy the name of ${which}`} />
          <Copy text={host} label={`Copy the whole name of ${which}`}>
            Whole
          </Copy>
        </span>
      </td>
      <td class="what" data-label="Value">
        <code>{target}</code>
        <span class="actions">
          <Copy text={target} label={`Copy the value of ${which}`} />
        </span>
        {children}
      </td>
      <td data-label={priority && "Priority"}>{priority}</td>
      <td>
        <Badge status={kind}>{text}</Badge>
        {dns.status === "differs" && (
          <div class="differs">
            {dns.values.map((one) => (
              <code key={one}>{one}</code>
            ))}
            {dns.advice && <p class="hint">{dns.advice}</p>}
          </div>
        )}
      </td>
    </tr>
  );
}

/** Return what an MX record points at, and its priority, which providers ask for on its own. */
function targetOf(type: string, value: string): { priority?: string; target: string } {
  const [, priority, target] = (type === "MX" && /^(\d+) (.+)$/.exec(value)) || [];
  return target ? { priority, target } : { target: value };
}

/** Return a file that a DNS provider can import (RFC 1035 section 5). */
function zoneFile({ domain, records }: DomainDetail): string {
  const lines = records.map(({ type, host, value }) => {
    const data = type === "TXT" ? `"${value}"` : `${value}.`;
    return `${host}. 3600 IN ${type} ${data}`;
  });
  return `data:text/dns,${encodeURIComponent([`; DNS records of ${domain}`, ...lines, ""].join("\n"))}`;
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
  const { route } = useLocation();
  const [asking, setAsking] = useState(false);
  async function remove() {
    await call("DELETE /v1/domains/{domain}", { path: { domain: name } });
    route("/app/domains", true);
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
