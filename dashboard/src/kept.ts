// What this browser keeps. It may refuse to, in private windows or by a setting; pages work without it.

type Store = "localStorage" | "sessionStorage";

export function recall(name: string, store: Store = "localStorage"): string | null {
  try {
    return globalThis[store].getItem(name);
  } catch {
    return null;
  }
}

/** Keep a text under a name; null removes it. Return whether the browser did it: it may have no room. */
export function keep(name: string, text: string | null, store: Store = "localStorage"): boolean {
  try {
    if (text === null) globalThis[store].removeItem(name);
    else globalThis[store].setItem(name, text);
    return true;
  } catch {
    return false;
  }
}

/** Forget what is kept for this tab. */
export function forgetKept(): void {
  try {
    sessionStorage.clear();
  } catch {
    // Nothing is kept.
  }
}
