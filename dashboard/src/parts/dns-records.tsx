// The DNS records that a domain needs, and what DNS says of each.

import type { ComponentChildren } from "preact";

import { labelOf } from "../names";
import type { CheckedDnsRecord } from "../schema";
import { Badge, Copy } from "./basics";
import { Head } from "./list";

interface RecordsProperties {
  of: CheckedDnsRecord[];
  domain: string;
  /** What a record has below its value. */
  more?: (record: CheckedDnsRecord) => ComponentChildren;
}

export function DnsRecords({ of: records, domain, more }: RecordsProperties) {
  return (
    <>
      <table class="list zone">
        <Head caption="DNS records" columns={["Record", "Name", "Value", "Priority", "DNS says"]} />
        <tbody>
          {records.map((record) => (
            <Row key={`${record.type} ${record.host}`} of={record} domain={domain}>
              {more?.(record)}
            </Row>
          ))}
        </tbody>
      </table>
      <p class="hint">
        Most providers add {domain} to a name by themselves. If yours wants whole names, copy those with <b>whole</b>.
      </p>
    </>
  );
}

const PURPOSES: Record<string, string> = {
  OWNERSHIP: "Shows that the account may use the domain. Required.",
  DKIM: "Signs the emails. Required.",
  "MAIL FROM": "Lets bounces come back under the domain.",
  "MAIL FROM SPF": "Lets the provider send under the domain.",
  SPF: "For receivers that look at the domain itself.",
  ANSWERS: "Lets answers to your emails come to the service.",
  DMARC: "Says what receivers do with emails that are not signed, and who gets their reports.",
};

const ANSWERS: Record<CheckedDnsRecord["dns"]["status"], [string, string]> = {
  present: ["delivered", "found"],
  missing: ["pending", "not found"],
  differs: ["bounced", "another value"],
  unknown: ["pending", "no answer"],
};

interface RowProperties {
  of: CheckedDnsRecord;
  domain: string;
  children?: ComponentChildren;
}

function Row({ of: { purpose, type, host, value, dns }, domain, children }: RowProperties) {
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
