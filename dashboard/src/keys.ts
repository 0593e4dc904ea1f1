// Keys of a page, which do nothing while one types.

import { useEffect, useRef } from "preact/hooks";

/** Run an action when its key is pressed alone; in a window only if the page says so, and never in one above it. */
export function useKeys(actions: Record<string, () => void>, inWindow = false): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    function press(event: KeyboardEvent) {
      const action = latest.current[event.key];
      // An arrow scrolls what has the focus to be scrolled.
      const scrolls = event.key.startsWith("Arrow") ? ", [tabindex='0']" : "";
      const elsewhere = (event.target as Element).closest(`input, select, textarea, dialog${inWindow ? " dialog" : ""}${scrolls}`);
      if (!action || elsewhere || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      action();
    }
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [inWindow]);
}

/** Keep what is typed while a window is loaded; the returned function ends that, and returns the text. */
export function holdTyping(): () => string {
  let text = "";
  function press(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.key.length > 1 && event.key !== "Enter")) return;
    if (event.key.length === 1) text += event.key;
    event.preventDefault();
    event.stopPropagation();
  }
  addEventListener("keydown", press, true);
  return () => {
    removeEventListener("keydown", press, true);
    return text;
  };
}
