// Back belongs to the topmost window: while one is open, its page has a second entry in the history.

import { useLocation } from "preact-iso/router";

interface Window {
  /** Close it, or ask first, or stay. */
  leave: () => void;
  /** Whether something is lost with it. */
  holds: () => boolean;
}

const ENTRY = { window: true };
const windows: Window[] = []; // that are open, the topmost last
let leaving = false;
let next: (() => void) | undefined; // once the entry is gone

const isEntry = () => history.state?.window === true;
const push = () => history.pushState(ENTRY, "");

/** Let Back leave a window, and ask before the page is unloaded, until the returned function is called. */
export function opened(window: Window): () => void {
  windows.push(window);
  if (!isEntry()) push();
  return () => {
    windows.splice(windows.indexOf(window), 1);
    queueMicrotask(() => windows.length === 0 && leave()); // another window may be about to open
  };
}

/** Return what shows an address as `route` does, also from a window: Back then leads to the page below it. */
export function useGo(): (href: string, replace?: boolean) => void {
  const { route } = useLocation();
  return (href, replace) => {
    if (!isEntry()) return route(href, replace);
    next = () => route(href, replace);
    leave();
  };
}

function leave(): void {
  if (leaving || !isEntry()) return;
  leaving = true;
  history.back();
}

addEventListener("popstate", () => {
  if (isEntry()) {
    if (windows.length === 0) leave(); // Forward led to a window that is closed
  } else if (leaving) {
    leaving = false;
    if (next) next();
    else if (windows.length > 0) push();
    next = undefined;
  } else {
    windows.at(-1)?.leave();
    // An entry that is pushed again would be one that browsers skip.
    setTimeout(() => windows.length > 0 && history.forward());
  }
});
addEventListener("beforeunload", (event) => windows.some(({ holds }) => holds()) && event.preventDefault());
leave(); // the window that was open before a reload is gone
