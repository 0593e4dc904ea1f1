// A window that asks before an action, for what it needs or whether to do it.

import type { ComponentChildren } from "preact";

import { useAction } from "../action";
import { Buttons, Dialog } from "./dialog";
import { Notice } from "./notice";
import { toast } from "./toast";

interface Properties {
  title: string;
  wide?: boolean;
  /** The text of the button that runs the action. */
  answer: string;
  /** The action takes something away. */
  danger?: boolean;
  disabled?: boolean;
  /** Return what to say when it is done. */
  action: () => Promise<string | void>;
  onDone?: () => void;
  onClose: () => void;
  children?: ComponentChildren;
}

/** Run the action and close the window; if the action fails, say why and keep what was entered. */
export function Ask({ title, wide, answer, danger, disabled, action, onDone, onClose, children }: Properties) {
  const { busy, error, run } = useAction(async () => {
    const said = await action();
    if (said) toast(said);
    onDone?.();
    onClose();
  });
  return (
    <Dialog title={title} wide={wide} onClose={onClose}>
      {/* The key that opened the window may still be down. */}
      <form onSubmit={run} onKeyDown={(event) => event.repeat && event.key === "Enter" && event.preventDefault()}>
        {children}
        {error && <Notice kind="bad">{error}</Notice>}
        <Buttons onClose={onClose} answer={answer} danger={danger} disabled={busy || disabled} />
      </form>
    </Dialog>
  );
}
