// Asks before an action that takes something away; if the action fails, it says why.

import type { ComponentChildren } from "preact";

import { useAction } from "../action";
import { Buttons, Dialog } from "./dialog";
import { Notice } from "./notice";

interface Properties {
  title: string;
  /** The text of the button that runs the action. */
  answer: string;
  action: () => Promise<void>;
  onClose: () => void;
  children?: ComponentChildren;
}

export function Question({ title, answer, action, onClose, children }: Properties) {
  const { busy, error, run } = useAction(action);
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {error && <Notice kind="bad">{error}</Notice>}
      <Buttons onClose={onClose} answer={answer} danger disabled={busy} onAnswer={run} />
    </Dialog>
  );
}
