// The fields of a form about something that the service has, which may answer while one types.

import { useState } from "preact/hooks";

interface Fields<T> {
  /** What each field shows: what was typed, else what the service has. */
  shown: T;
  /** What was typed and differs from what the service has. */
  changes: Partial<T>;
  type: (part: Partial<T>) => void;
  /** Note that the service has taken changes; what was typed since then stays. */
  saved: (changes: Partial<T>) => void;
}

/** Keep what is typed when the service answers; other fields show what it has now. */
export function useFields<T extends object>(stored: T): Fields<T> {
  const [typed, setTyped] = useState<Partial<T>>({});
  return {
    shown: { ...stored, ...typed },
    changes: without(typed, stored),
    type: (part) => setTyped((now) => ({ ...now, ...part })),
    saved: (changes) => setTyped((now) => without(now, changes)),
  };
}

/** Return what a part has that differs from another one. */
function without<T extends object>(part: Partial<T>, other: Partial<T>): Partial<T> {
  const names = Object.keys(part) as (keyof T)[];
  const left: Partial<T> = {};
  for (const name of names) if (part[name] !== other[name]) left[name] = part[name];
  return left;
}
