// Modal windows: the browser keeps the focus inside; they decide where it begins, and keep input.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";

import { opened } from "../windows";
import { Icon } from "./icon";

interface Properties {
  /** Another title is another window: the focus begins anew, and nothing is entered yet. */
  title: ComponentChildren;
  /** A drawer comes from the right side and covers the whole height. */
  drawer?: boolean;
  /** It has an address of its own, which Back leaves. */
  addressed?: boolean;
  wide?: boolean;
  /** Without it the window stays until one of its buttons removes it, as one with a secret must. */
  onClose?: () => void;
  children: ComponentChildren;
}

/** What one enters. A choice of what to see is none. */
const FIELDS = ":is(input, select, textarea):not(.segments *)";

/** A window. Esc, ✕, Back and a click beside it ask first if the user has entered something. */
export function Dialog({ title, drawer, addressed, wide, onClose, children }: Properties) {
  const element = useRef<HTMLDialogElement>(null);
  const begun = useRef({ entered: false, content: "" });
  const beside = useRef(false);
  const [asking, setAsking] = useState(false);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    return () => {
      element.current?.close();
      // Later, because the browser moves the focus when the element is removed.
      requestAnimationFrame(() => focusAfter(opener));
    };
  }, []);
  useEffect(() => {
    const dialog = element.current;
    if (!dialog) return;
    begun.current = { entered: false, content: contentOf(dialog) };
    setAsking(false);
    dialog.scrollTop = 0; // the window before may be scrolled down
    const focused = document.activeElement;
    if (!dialog.open || focused === dialog || !dialog.contains(focused)) open(dialog);
  }, [title]);

  function isTouched() {
    const { entered, content } = begun.current;
    return entered && element.current !== null && contentOf(element.current) !== content;
  }
  function leave() {
    if (!onClose) return;
    if (isTouched()) setAsking(true);
    else onClose();
  }
  const now = { leave, holds: () => !onClose || isTouched() };
  const latest = useRef(now);
  latest.current = now;
  useLayoutEffect(() => (addressed ? undefined : opened({ leave: () => latest.current.leave(), holds: () => latest.current.holds() })), []);
  const own = (event: Event) => event.target === element.current;
  return (
    <dialog
      ref={element}
      class={drawer ? "drawer" : wide ? "window wide" : "window"}
      aria-labelledby={id}
      onInput={() => (begun.current.entered = true)}
      onCancel={(event) => {
        if (!own(event)) return; // that of a file that was not chosen
        event.preventDefault(); // the page removes the dialog
        leave();
      }}
      onClose={(event) => {
        // Browsers let a second Esc close any dialog.
        if (!own(event) || !element.current?.isConnected) return;
        open(element.current);
        leave();
      }}
      // A text selection that begins or ends inside is no click beside the window.
      onPointerDown={(event) => (beside.current = own(event))}
      onMouseDown={(event) => own(event) && event.preventDefault()} // the field keeps the focus
      onPointerUp={(event) => (beside.current &&= own(event))}
      onClick={(event) => own(event) && beside.current && leave()}
    >
      <div class="inside">
        <header>
          <h2 id={id} tabIndex={-1}>
            {title}
          </h2>
          {onClose && (
            <button type="button" class="button plain" aria-label="Close" onClick={leave}>
              <Icon name="close" />
            </button>
          )}
        </header>
        {children}
      </div>
      {asking && onClose && (
        <Dialog title="Discard what you entered?" onClose={() => setAsking(false)}>
          <p>It is not saved.</p>
          <Buttons cancel="Keep editing" onClose={() => setAsking(false)} answer="Discard" danger onAnswer={onClose} />
        </Dialog>
      )}
    </dialog>
  );
}

interface Answers {
  /** The way out, which changes nothing. */
  cancel?: string;
  onClose: () => void;
  answer: string;
  /** Without it the answer submits the form. */
  onAnswer?: () => void;
  danger?: boolean;
  disabled?: boolean;
}

/** The last row of a window. */
export function Buttons({ cancel = "Cancel", onClose, answer, onAnswer, danger, disabled }: Answers) {
  return (
    <p class="actions">
      <button type="button" class="button" data-harmless onClick={onClose}>
        {cancel}
      </button>
      <button type={onAnswer ? "button" : "submit"} class={`button ${danger ? "danger" : "primary"}`} disabled={disabled} onClick={onAnswer}>
        {answer}
      </button>
    </p>
  );
}

/** Show a window, with the focus on its first field, else its harmless button, else its title. */
function open(dialog: HTMLDialogElement): void {
  if (!dialog.open) dialog.showModal();
  const first = [...dialog.querySelectorAll<HTMLElement>(FIELDS)].find((field) => !field.matches(":disabled"));
  (first ?? dialog.querySelector<HTMLElement>("[data-harmless]") ?? dialog.querySelector("h2"))?.focus();
}

/** Focus what opened a window; if that was an address, or a button that is gone or off now, the page's heading. */
function focusAfter(opener: Element | null): void {
  if (opener instanceof HTMLElement) opener.focus();
  if (document.activeElement === document.body) document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
}

/** Return what the fields of a window hold. */
function contentOf(dialog: HTMLDialogElement): string {
  const fields = [...dialog.querySelectorAll<HTMLInputElement>(FIELDS)];
  return JSON.stringify(fields.map(({ type, checked, value }) => (type === "radio" || type === "checkbox" ? checked : value)));
}
