// Modal windows: the browser keeps the focus inside, and Esc closes them.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

import { Icon } from "./icon";

interface Properties {
  title: ComponentChildren;
  /** A drawer comes from the right side and covers the whole height. */
  drawer?: boolean;
  wide?: boolean;
  /** Without it the window stays until one of its buttons removes it. */
  onClose?: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, drawer, wide, onClose, children }: Properties) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      // Later, because the browser moves the focus when the element is removed.
      requestAnimationFrame(() => before instanceof HTMLElement && before.focus());
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={drawer ? "drawer" : wide ? "window wide" : "window"}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault(); // the page removes the dialog
        onClose?.();
      }}
      onClick={(event) => event.target === element.current && onClose?.()}
    >
      <div class="inside">
        <header>
          <h2 id={id}>{title}</h2>
          {onClose && (
            <button type="button" class="button plain" aria-label="Close" onClick={onClose}>
              <Icon name="close" />
            </button>
          )}
        </header>
        {children}
      </div>
    </dialog>
  );
}
