// A list whose rows open a drawer with an address of its own.

import { useLayoutEffect, useRef } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso/router";

import { search } from "./api";
import { useGo } from "./windows";

/** Whether the page opened the drawer, so that Back leads to the list. */
let opened = false;

export const noteOpened = () => (opened = true);

/** Return the id of what is in the drawer, and a function that closes it. */
export function useDrawer(list: string): { id?: string; close: () => void } {
  const { id } = useRoute().params;
  const { back, query } = useLocation();
  const go = useGo();
  useLayoutEffect(() => {
    // The router scrolls to the top of what it takes for another page.
    const place = scrollY;
    if (id) queueMicrotask(() => scrollTo(0, place));
  }, [id]);
  function close() {
    if (opened) back();
    else go(list + search(query), true);
    opened = false;
  }
  return { id, close };
}

/** A row opens what its link leads to where one clicks, unless a text was selected: a link's text cannot be. */
export function useRow() {
  const link = useRef<HTMLAnchorElement>(null);
  function open(event: MouseEvent) {
    const own = (event.target as Element).closest("a");
    if (!own && !String(getSelection())) link.current?.click();
  }
  return { link, open };
}
