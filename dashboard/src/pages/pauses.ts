// What an account, a key or a template may not send, in words.

import type { PauseItem } from "../schema";
import type { Names } from "./origins";

const CAUSES: Record<PauseItem["cause"], string> = {
  bounces: "too many of its emails bounced",
  complaints: "too many recipients reported its emails as spam",
  provider: "Amazon SES paused it",
};
const LEVELS: Record<PauseItem["level"], string> = {
  warn: "may soon be paused",
  brake: "sends at most a tenth of its limit",
  stop: "sends nothing",
};

/** Name what a pause is about. */
export function nameOf({ scope, id }: Pick<PauseItem, "scope" | "id">, names: Names): string {
  return id === null ? "The account" : `The ${scope} ${names.get(id) ?? id}`;
}

/** Say what a pause does, and why. */
export function reasonOf(pause: Pick<PauseItem, "level" | "cause">): string {
  return `${LEVELS[pause.level]}, because ${CAUSES[pause.cause]}.`;
}
