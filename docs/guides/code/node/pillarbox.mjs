const API = `${process.env.PILLARBOX_URL}/api/v1`;
const HEADERS = {
  "X-API-Key": process.env.PILLARBOX_KEY,
  "User-Agent": "shop/1.0",
  "Content-Type": "application/json",
};

/** Pillarbox refused an email: `code` says why, and `message` says it to people. */
export class SendError extends Error {
  constructor(status, text) {
    super(`${status} ${text}`);
    try {
      this.code = JSON.parse(text).error.code;
    } catch {
      this.code = "unknown";
    }
  }
}

/** Returns the message's id. Each operation has a key of its own, which its retries repeat. */
export async function send(email, idempotencyKey, tries = 5) {
  let failure;
  let wait = 0;
  for (let attempt = 0; attempt < tries; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, wait * 1000));
    wait = 0.5 * 2 ** attempt + Math.random() / 4;
    try {
      const response = await fetch(`${API}/emails`, {
        method: "POST",
        headers: { ...HEADERS, "Idempotency-Key": idempotencyKey },
        body: JSON.stringify(email),
        signal: AbortSignal.timeout(30_000),
      });
      const text = await response.text();
      if (response.ok) return JSON.parse(text).messageId;
      failure = new SendError(response.status, text);
      wait = secondsToWait(response, wait);
    } catch (error) {
      failure = error; // no answer; the email may be accepted all the same
    }
    if (wait === null) break;
  }
  throw failure;
}

/** Returns the seconds until the next try, or null if no try can succeed soon. */
function secondsToWait({ status, headers }, usual) {
  if (status === 429) {
    // The limit of a minute ends soon, that of a day does not.
    const seconds = Number(headers.get("RateLimit-Reset") ?? 60);
    return seconds <= 60 ? seconds : null;
  }
  if (status >= 500 || headers.has("Retry-After")) {
    return Number(headers.get("Retry-After") ?? usual);
  }
  return null;
}
