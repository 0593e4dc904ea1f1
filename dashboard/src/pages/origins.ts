// What emails were made from and sent with, by the names that the account gave.

import { call } from "../api";
import type { Message, SavedTemplate } from "../schema";

const PAGE = 100; // the most templates of one answer

/** Return all published templates of the account. */
export async function allPublished(signal: AbortSignal): Promise<SavedTemplate[]> {
  const found: SavedTemplate[] = [];
  for (;;) {
    const page = await call("GET /v1/templates", { query: { skip: found.length, limit: PAGE }, signal });
    found.push(...page.items);
    if (!page.items.length || found.length >= page.total) return found;
  }
}

/** The names of templates, also of starter templates, and of API keys, by their ids. */
export type Names = ReadonlyMap<string, string>;

export interface Origin {
  id: string;
  /** The name, or the id of what is deleted or what the reader may not list. */
  name: string;
}

export function namesOf(...lists: ({ id: string; name: string }[] | undefined)[]): Names {
  return new Map(lists.flatMap((list) => (list ?? []).map(({ id, name }) => [id, name] as const)));
}

export function originOf({ starterTemplate, templateId, keyId }: Pick<Message, "starterTemplate" | "templateId" | "keyId">, names: Names) {
  const named = (id: string | null): Origin | undefined => (id ? { id, name: names.get(id) ?? id } : undefined);
  return { template: named(starterTemplate ?? templateId), key: named(keyId) };
}
