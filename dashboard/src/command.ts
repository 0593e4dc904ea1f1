// The command that sends a first email with a new key.

/** Return a `curl` line that a shell can run as it is. */
export function curlWith(origin: string, key: string, to: string): string {
  const email = { to, starterTemplate: "welcome", variables: { name: "Ada" } };
  const body = JSON.stringify(email).replaceAll("'", "'\\''"); // an address may contain a quote
  return [
    `curl ${origin}/api/v1/emails`,
    `  -H 'X-API-Key: ${key}'`,
    "  -H 'Content-Type: application/json'",
    `  -d '${body}'`,
  ].join(" \\\n");
}
