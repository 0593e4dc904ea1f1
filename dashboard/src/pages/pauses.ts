// What an account, a key or a template may not send, in words.

import type { PauseItem } from "../schema";

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
export function nameOf({ scope, id }: Pick<PauseItem, "scope" | "id">): string {
  if (id === null) return "The account";
  return scope === "key" ? `The key ${id}` : `The template ${id}`;
}

/** Say what a pause does, and why. */
export function reasonOf(pause: Pick<PauseItem, "level" | "cause">): string {
  return `${LEVELS[pause.level]}, because ${CAUSES[pause.cause]}.`;
}
