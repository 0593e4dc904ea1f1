// What the page of a link to DNS records says in one sentence.

import { equal } from "node:assert/strict";
import { test } from "node:test";

import { summary } from "../src/pages/dns-summary";
import type { CheckedDnsRecord } from "../src/schema";

const record = (status: CheckedDnsRecord["dns"]["status"]) => ({ dns: { status } }) as CheckedDnsRecord;

test("the sentence says what is missing, and what comes next", () => {
  const said = (status: "pending" | "verified" | "failed", ...states: CheckedDnsRecord["dns"]["status"][]) => summary({ status, records: states.map(record) });
  equal(said("pending", "missing"), "One record first. When DNS has it, the others follow here.");
  equal(said("pending", "present", "missing", "differs"), "DNS has 1 of 3.");
  equal(said("failed", "present", "present"), "DNS has all of them. It takes some minutes until the domain can send.");
  equal(said("verified", "present", "missing"), "All is done: the domain can send. Keep the records.");
});
