// What a button or a form does, and what is said if it fails.

import { useState } from "preact/hooks";

import { toast } from "./parts/toast";

/** Run an action of a form, once at a time; keep what to say if it fails. */
export function useAction(action: () => Promise<void>) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  async function run(event?: Event) {
    event?.preventDefault();
    const pressed = document.activeElement;
    setBusy(true);
    setError("");
    try {
      await action();
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure));
    } finally {
      setBusy(false);
      requestAnimationFrame(() => returnFocus(pressed));
    }
  }
  return { busy, error, run: (event?: Event) => void run(event) };
}

/** Focus an element again that lost the focus to nothing, as a button does that is disabled while its action runs. */
export function returnFocus(to: Element | null): void {
  if (document.activeElement === document.body && to instanceof HTMLElement && to.isConnected) to.focus();
}

/** Run an action of a button; say why it failed. */
export function attempt(action: () => Promise<void>): void {
  action().catch((failure: unknown) => toast((failure as Error).message, true));
}
