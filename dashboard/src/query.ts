// The filters of a page, which its address holds: a reload, a link and Back keep them.

import { useLocation } from "preact-iso/router";

import { search } from "./api";

export type Filters = Record<string, string>;

/** Return the filters, and a function that changes some of them; an empty value removes one. */
export function useFilters(): [Filters, (changes: Filters, replace?: boolean) => void] {
  const { query, url, route } = useLocation();
  const change = (changes: Filters, replace = false) =>
    route((url.split("?")[0] ?? "") + search({ ...query, ...changes }), replace);
  return [query, change];
}
