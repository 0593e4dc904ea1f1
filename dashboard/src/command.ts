// The commands that the pages show.

import type { Account } from "./schema";

/** Return the body of a request that sends the starter template `welcome`. */
export const welcome = (to: string) => JSON.stringify({ to, starterTemplate: "welcome", variables: { name: "Ada" } });

/** Return who gets the first email. Until an account has a sender, the service takes emails to its contact alone. */
export const firstRecipient = (account: Account | undefined, own: string) => (account && !account.defaultSender && account.contact) || own;

/** Return a `curl` line that reads a path of the API. */
export const curlOf = (origin: string, path: string, key: string) => `curl ${origin}/api${path} -H 'X-API-Key: ${key}'`;

/** Return a `curl` line that a shell can run as it is. */
export function curlWith(origin: string, key: string, to: string): string {
  const body = welcome(to).replaceAll("'", "'\\''"); // an address may contain a quote
  return [
    `curl ${origin}/api/v1/emails`,
    `  -H 'X-API-Key: ${key}'`,
    "  -H 'Content-Type: application/json'",
    `  -d '${body}'`,
  ].join(" \\\n");
}
