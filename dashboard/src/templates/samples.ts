// The named sets of values that previews and tests use, and the fields that change them.

import type { TemplateVariable } from "../schema";
import type { Content, Values } from "./draft";

/** The set that a template without any begins with. */
export const FIRST = "sample";

/** A value of the template: one field, or a list whose entries have the fields in `entries`. */
export interface Place {
  path: string;
  variable: TemplateVariable;
  entries: string[];
}

/** Return the values that need a field of their own, in the order of the template. */
export function places(variables: TemplateVariable[]): Place[] {
  const found = new Map<string, Place>();
  for (const variable of variables) {
    const [path = "", ...rest] = variable.path.split("[]");
    const place = found.get(path) ?? { path, variable, entries: [] };
    const entry = rest.join("[]").replace(/^\./, "");
    if (entry) place.entries.push(entry);
    found.set(path, place);
  }
  return [...found.values()];
}

export function valuesOf({ samples }: Content, set: string): Values {
  return (samples[set] as Values | undefined) ?? {};
}

export function read(values: Values, path: string): unknown {
  return path.split(".").reduce<unknown>((part, name) => (isObject(part) && Object.hasOwn(part, name) ? part[name] : undefined), values);
}

/** Return values with one changed; undefined removes it, and objects that are left empty. */
export function write(values: Values, path: string, value: unknown): Values {
  const [name = "", ...rest] = path.split(".");
  const inner = values[name];
  const next = rest.length ? write(isObject(inner) ? inner : {}, rest.join("."), value) : value;
  const { [name]: _, ...others } = values;
  if (next === undefined || (rest.length && isObject(next) && !Object.keys(next).length)) return others;
  return { ...values, [name]: next };
}

/** Return what an author typed, as a number or true or false if the value was one before. */
export function typed(text: string, before: unknown): unknown {
  if (typeof before === "number" && text.trim() && Number.isFinite(Number(text))) return Number(text);
  if (typeof before === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text === "" ? undefined : text;
}

export function isObject(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Return the sets with another name of one, which keeps its place in the list. */
export function renamed(samples: Content["samples"], set: string, name: string): Content["samples"] {
  return Object.fromEntries(Object.entries(samples).map(([one, values]) => [one === set ? name : one, values]));
}
