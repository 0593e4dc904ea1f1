// A request that has one effect, also if its answer is lost and it is repeated.

import { ApiError } from "./http";
import { keep, recall } from "./kept";

/** The keys of requests that have no good answer yet, by what they do. */
const keys = new Map<string, string>();

/** Make a request with the key of the last try, also one before the page was loaded again, until it has succeeded. */
export async function once<T>(what: string, request: (idempotencyKey: string) => Promise<T>): Promise<T> {
  const key = keys.get(what) ?? recall(what, "sessionStorage") ?? crypto.randomUUID();
  keys.set(what, key);
  keep(what, key, "sessionStorage"); // who gets no answer loads the page again
  try {
    const answer = await request(key);
    forget(what);
    return answer;
  } catch (error) {
    // An earlier try, with another body, had succeeded.
    if (error instanceof ApiError && error.code === "idempotency_key_mismatch") forget(what);
    throw error;
  }
}

function forget(what: string): void {
  keys.delete(what);
  keep(what, null, "sessionStorage");
}
