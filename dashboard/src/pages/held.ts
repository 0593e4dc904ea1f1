// A list that stays as it is while somebody reads it.

import { useEffect, useState } from "preact/hooks";

import type { Message } from "../schema";

/** Return what a list shows while it is read: the rows that it has, as they are now, and how many are new. */
export function held(shown: Message[], now: Message[]): { items: Message[]; fresh: number } {
  const known = new Set(shown.map(({ messageId }) => messageId));
  const current = new Map(now.map((one) => [one.messageId, one]));
  return { items: shown.map((one) => current.get(one.messageId) ?? one), fresh: now.filter(({ messageId }) => !known.has(messageId)).length };
}

const NONE: Message[] = [];

/** Keep the rows where they are while the reader is among them; new ones wait. */
export function useHeld(now = NONE, of: string) {
  const [shown, setShown] = useState<{ of: string; items: Message[] }>();
  const reading = scrollY > 0 || document.querySelector("[data-held]:hover, dialog[open]");
  const stays = reading && shown?.of === of && shown.items.length > 0;
  useEffect(() => {
    if (!stays) setShown({ of, items: now });
  }, [now, of]);
  return { ...(stays ? held(shown.items, now) : { items: now, fresh: 0 }), release: () => setShown({ of, items: now }) };
}
