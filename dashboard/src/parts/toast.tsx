// A short message about something that has just happened, or has failed.

import { signal } from "@preact/signals";

const SHOWN = 4_000; // milliseconds
const SHOWN_FAILURE = 15_000;
const message = signal({ text: "", failed: false });
let timer = 0;

export function toast(text: string, failed = false): void {
  message.value = { text, failed };
  clearTimeout(timer);
  timer = window.setTimeout(() => (message.value = { text: "", failed: false }), failed ? SHOWN_FAILURE : SHOWN);
}

export function Toasts() {
  const { text, failed } = message.value;
  return (
    <div class="toasts" role={failed ? "alert" : "status"}>
      {text && <p class={failed ? "is-failed" : undefined}>{text}</p>}
    </div>
  );
}
