// What a button or a form does, and what is said if it fails.

import { useState } from "preact/hooks";

import { toast } from "./parts/toast";

/** Run an action of a form, once at a time; keep what to say if it fails. */
export function useAction(action: () => Promise<void>) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  async function run(event?: Event) {
    event?.preventDefault();
    setBusy(true);
    setError("");
    try {
      await action();
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure));
    } finally {
      setBusy(false);
    }
  }
  return { busy, error, run: (event?: Event) => void run(event) };
}

/** Run an action of a button; say why it failed. */
export function attempt(action: () => Promise<void>): void {
  action().catch((failure: unknown) => toast((failure as Error).message, true));
}
