// What is still missing in the DNS of a domain.

import type { SharedDomain } from "../schema";

/** Return in one sentence how far it is. */
export function summary({ status, records }: Pick<SharedDomain, "status" | "records">): string {
  if (status === "verified") return "All is done: the domain can send. Keep the records.";
  const found = records.filter(({ dns }) => dns.status === "present").length;
  if (records.length === 1 && found === 0) return "One record first. When DNS has it, the others follow here.";
  if (found === records.length) return "DNS has all of them. It takes some minutes until the domain can send.";
  return `DNS has ${found} of ${records.length}.`;
}
