// A short message about something that has just happened, or has failed.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

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
  const place = useRef<HTMLDivElement>(null);
  const { text, failed } = message.value;
  useEffect(() => {
    place.current?.hidePopover();
    if (text) place.current?.showPopover(); // above the windows that are open
  }, [message.value]);
  return (
    <div ref={place} popover="manual" class="toasts" role={failed ? "alert" : "status"}>
      {text && <p class={failed ? "is-failed" : undefined}>{text}</p>}
    </div>
  );
}
