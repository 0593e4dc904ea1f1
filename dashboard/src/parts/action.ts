// What a button or a form does: once at a time, and with a reason if it fails.

import { useState } from "preact/hooks";

export interface Action {
  busy: boolean;
  /** Why the last run failed. */
  error: string;
  run: (event: Event) => void;
}

/** Return an action; `onError` shows why it failed where no form does. */
export function useAction(action: () => Promise<void>, onError?: (reason: string) => void): Action {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  async function run(event: Event) {
    event.preventDefault();
    setBusy(true);
    setError("");
    try {
      await action();
    } catch (failure) {
      const reason = failure instanceof Error ? failure.message : String(failure);
      setError(reason);
      onError?.(reason);
    } finally {
      setBusy(false);
    }
  }
  return { busy, error, run: (event) => void run(event) };
}
