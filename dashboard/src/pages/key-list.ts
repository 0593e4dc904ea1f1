// The list of API keys: how each is shown and found, and when it was last used.

import type { Key, KeyList, Message } from "../schema";

/** A list with more keys can be searched. */
export const MANY = 10;
const NEWEST = 100; // the most emails of an answer
const HOUR = 3_600_000; // milliseconds
const DAY = 24 * HOUR;
/** The most keys whose emails are looked up one by one. */
const MOST = 20;

/** Return the first and the last characters of a key's text; nothing if its ending is not known. */
export function shortOf({ id, type, ending }: Key): string | null {
  return ending && `bx_${type}_${accountOf(id).slice(0, 4)}…${ending}`;
}

/** Return the keys with a text in their name, id or creator. A whole key finds the one that ends like it. */
export function matching(keys: Key[], text: string): Key[] {
  const wanted = text.trim().toLowerCase();
  return keys.filter((key) => {
    const start = `bx_${key.type}_${accountOf(key.id)}`;
    if (key.ending && wanted.startsWith(start)) return wanted.endsWith(key.ending) && wanted.length > start.length;
    return [key.name, key.id, key.createdBy, shortOf(key)].some((part) => part?.toLowerCase().includes(wanted));
  });
}

/** The emails of one key, or of all, the newest first. */
export type Ask = (query: { keyId?: string; limit: number }) => Promise<Message[]>;

/**
 * Return when each key was last used, as far as that differs from what the list of keys says.
 *
 * That list is up to an hour behind. So the newest emails are read, and for keys that they do not
 * have the newest of each, if it was used within a day: for longer, an hour makes no difference.
 */
export async function lastUses(keys: Key[], ask: Ask, now = Date.now()): Promise<Map<string, string>> {
  const newest = await ask({ limit: NEWEST });
  const uses = new Map<string, string>();
  const note = ({ keyId, createdAt }: Message) => keyId && !uses.has(keyId) && uses.set(keyId, createdAt);
  newest.forEach(note);
  if (newest.length < NEWEST) return uses; // these are all
  const used = ({ lastUsedAt }: Key) => Date.parse(lastUsedAt ?? "");
  const rest = keys.filter((key) => !uses.has(key.id) && now - used(key) < DAY).sort((one, other) => used(other) - used(one));
  for (const { id } of rest.slice(0, MOST)) (await ask({ keyId: id, limit: 1 })).forEach(note);
  return uses;
}

const accountOf = (id: string) => id.slice("key_".length, -8);

/** Return a day as a date field has it, in the reader's time zone. */
export function dayOf(time: Date): string {
  return [time.getFullYear(), time.getMonth() + 1, time.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}

/** Return the limits of a new key: it ends after its last day, and works from some addresses only. */
export function limitsOf(lastDay: string, sources: string): { expiresAt?: string; sources?: string[] } {
  const [year = 0, month = 1, day = 0] = lastDay.split("-").map(Number);
  const blocks = sources.split(/[\s,;]+/).filter(Boolean);
  return { ...(lastDay && { expiresAt: new Date(year, month - 1, day + 1).toISOString() }), ...(blocks.length > 0 && { sources: blocks }) };
}

/** Return in one sentence what a key with some permissions may do. */
export function sentenceOf(scopes: string[], permissions: KeyList["permissions"]): string {
  const words = permissions.filter(({ scope }) => scopes.includes(scope)).map(({ allows }) => allows);
  return words.length > 0 ? `A program with this key may: ${words.join("; ")}.` : "Choose what the key may do.";
}
