// The alerts that owners choose from, and what is said of a test.

import type { AlertDetail, AlertTestResult } from "../schema";

type Kind = AlertDetail["off"][number];

export const KINDS: Record<Kind, string> = {
  sending: "Too many emails bounce or bring complaints",
  volume: "A key sends far more than usual",
  domain: "A domain can no longer be sent from",
  quota: "80% of a day’s or a month’s quota is used",
  endpoint: "A webhook endpoint fails, is disabled or too slow",
  agent: "An agent’s email waits for an owner",
  unused_key: "Nothing was sent with a key for 90 days",
};

/** Turn a kind off or on; the kinds that are off are one text, so that a change is seen. */
export function flipped(off: string, kind: string): string {
  const kinds = kindsOf(off);
  const others = kinds.filter((each) => each !== kind);
  return textOf(others.length < kinds.length ? others : [...kinds, kind as Kind]);
}

export const textOf = (kinds: Kind[]) => [...kinds].sort().join(" ");

export const kindsOf = (off: string) => off.split(" ").filter(Boolean) as Kind[];

export function testWords({ mail, post }: AlertTestResult): string {
  const chat = post && (post.error ? `The post failed: ${post.error}.` : "The test is posted.");
  return [chat, mail && "An email comes in a minute or two."].filter(Boolean).join(" ");
}
