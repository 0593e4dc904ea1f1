// A short message about something that has just happened.

import { signal } from "@preact/signals";

const SHOWN = 4_000; // milliseconds
const message = signal("");
let timer = 0;

export function toast(text: string): void {
  message.value = text;
  clearTimeout(timer);
  timer = window.setTimeout(() => (message.value = ""), SHOWN);
}

export function Toasts() {
  return (
    <div class="toasts" role="status">
      {message.value && <p>{message.value}</p>}
    </div>
  );
}
