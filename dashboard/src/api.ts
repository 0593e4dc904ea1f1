// The operations of the API, typed by docs/openapi.json and sent with the session's token.

import { ApiError, exchange } from "./http";
import type { Operations } from "./schema";
import { bearer, renew } from "./session";

type Name = keyof Operations;

export interface Parameters<N extends Name> {
  path?: Record<string, string>;
  query?: Operations[N]["query"];
  body?: Operations[N]["body"];
  /** The revision that the request replaces. */
  ifMatch?: number;
  signal?: AbortSignal;
}

/** Call an operation, such as `GET /v1/emails/{message_id}`. */
export async function call<N extends Name>(
  name: N,
  parameters: Parameters<N> = {},
): Promise<Operations[N]["response"]> {
  const [method, path] = name.split(" ") as [string, string];
  const target = fill(path, parameters.path ?? {}) + search(parameters.query ?? {});
  const condition = parameters.ifMatch === undefined ? undefined : { "If-Match": `"${parameters.ifMatch}"` };
  const send = (token: string | null) =>
    exchange<Operations[N]["response"]>(method, target, {
      body: parameters.body,
      headers: { Authorization: `Bearer ${token ?? ""}`, ...condition },
      signal: parameters.signal,
    });
  try {
    return await send(await bearer());
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
    return send((await renew())?.token ?? null); // the token was revoked or is out of date
  }
}

function fill(path: string, values: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
}

/** Return a query string with the values that are not empty. */
export function search(values: object): string {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
}
