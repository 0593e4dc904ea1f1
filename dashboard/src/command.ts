// The command that sends a first email with a new key.

/** Return the body of a request that sends the starter template `welcome`. */
export const welcome = (to: string) => JSON.stringify({ to, starterTemplate: "welcome", variables: { name: "Ada" } });

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
