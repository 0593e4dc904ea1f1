// What an account should look at.

import type { LimitState, Webhook } from "../schema";

/** The overview warns when more than this part of a quota is used. */
const HIGH_USE = 0.8;

export function isBroken(endpoint: Pick<Webhook, "disabledAt" | "failingSince">): boolean {
  return !!(endpoint.disabledAt ?? endpoint.failingSince);
}

export function isNearlyUsed({ limit, used }: Pick<LimitState, "limit" | "used">): boolean {
  return limit !== null && used >= limit * HIGH_USE;
}
