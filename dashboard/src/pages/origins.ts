// What emails were made from and sent with, by the names that the account gave.

import type { Message } from "../schema";

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
