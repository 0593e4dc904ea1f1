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
let leaving = false; // for where the page is without its windows
let returning = false; // from where Back led
let next: (() => void) | undefined; // once the entry is gone

const isEntry = () => history.state?.window === true;
const push = () => history.pushState(ENTRY, "");

/** Let Back leave a window, and ask before the page is unloaded, until the returned function is called. */
export function opened(window: Window): () => void {
  windows.push(window);
  if (!isEntry() && !returning) push();
  return () => {
    windows.splice(windows.indexOf(window), 1);
    queueMicrotask(() => windows.length === 0 && leave()); // another window may be about to open
  };
}

/** Return what shows an address as `route` does, also from a window: Back then leads to the page below it. */
export function useGo(): (href: string, replace?: boolean) => void {
  const { route } = useLocation();
  return (href, replace) => {
    if (!isEntry() && !returning) return route(href, replace);
    next = () => route(href, replace);
    leave();
  };
}

function leave(): void {
  if (leaving || !isEntry()) return;
  leaving = true;
  history.back();
}

/** After Back, go forward again, as far as it takes, if a window stays. An entry that is pushed anew would be one that browsers skip. */
function settle(): void {
  if (windows.length > 0) return history.forward();
  returning = false;
  dispatchEvent(new PopStateEvent("popstate"));
}

// It is registered before the router, so that pages stay until it is known whether the window does.
addEventListener("popstate", (event) => {
  if (isEntry()) {
    returning = false;
    if (windows.length === 0 || next) leave(); // its window is closed: Forward led here, or Back from where a link in it led
  } else if (leaving || windows.length === 0) {
    leaving = false;
    if (next) next();
    else if (windows.length > 0) push();
    next = undefined;
  } else if (windows.length > 0) {
    event.stopImmediatePropagation();
    if (!returning) windows.at(-1)?.leave(); // else Back was pressed again meanwhile
    returning = true;
    setTimeout(settle);
  }
});

// A link waits until the page is below its windows: of two ways at once, browsers drop one, or undo the later one.
addEventListener(
  "click",
  (event) => {
    const link = event.target instanceof Element && event.target.closest("a");
    if (!link || next || windows.length > 0 || !(leaving || returning)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    next = () => link.dispatchEvent(new MouseEvent("click", event));
  },
  true,
);

addEventListener("beforeunload", (event) => windows.some(({ holds }) => holds()) && event.preventDefault());
leave(); // the window that was open before a reload is gone
