// The filters of a page, which its address holds: a reload, a link and Back keep them.

import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";

import { search } from "./api";
import { useGo } from "./windows";

export type Filters = Record<string, string>;

/** Return the filters, and a function that changes some of them; an empty value removes one. */
export function useFilters(): [Filters, (changes: Filters, replace?: boolean) => void] {
  const { query, url } = useLocation();
  const go = useGo();
  const change = (changes: Filters, replace = false) =>
    go((url.split("?")[0] ?? "") + search({ ...query, ...changes }), replace);
  return [query, change];
}

/** Return what is typed in the field of a filter, until the filter changes. */
export function useTyped(filter = ""): [string, (text: string) => void] {
  const [text, setText] = useState(filter);
  useEffect(() => setText(filter), [filter]);
  return [text, setText];
}
