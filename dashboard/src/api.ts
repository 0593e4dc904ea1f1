// The operations of the API, typed by docs/openapi.json and sent with the session's token.

import { ApiError, exchange } from "./http";
import type { Operations } from "./schema";
import { bearer, renew } from "./session";

type Name = keyof Operations;

/** Which one of an operation's resources, and which part of it. */
export interface Place<N extends Name> {
  path?: Record<string, string>;
  query?: Operations[N]["query"];
}

export interface Parameters<N extends Name> extends Place<N> {
  body?: Operations[N]["body"];
  /** The revision that the request replaces. */
  ifMatch?: number;
  /** Requests with the same one have one effect. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

/** Call an operation, such as `GET /v1/emails/{message_id}`. */
export async function call<N extends Name>(
  name: N,
  parameters: Parameters<N> = {},
): Promise<Operations[N]["response"]> {
  const [method = ""] = name.split(" ");
  const target = placeOf(name, parameters);
  const { ifMatch, idempotencyKey } = parameters;
  const conditions = {
    ...(ifMatch !== undefined && { "If-Match": `"${ifMatch}"` }),
    ...(idempotencyKey && { "Idempotency-Key": idempotencyKey }),
  };
  const send = (token: string | null) =>
    exchange<Operations[N]["response"]>(method, target, {
      body: parameters.body,
      headers: { Authorization: `Bearer ${token ?? ""}`, ...conditions },
      signal: parameters.signal,
    });
  try {
    return await send(await bearer());
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
    return send((await renew())?.token ?? null); // the token was revoked or is out of date
  }
}

/** Return the path and the query of a request. */
export function placeOf<N extends Name>(name: N, { path = {}, query = {} }: Place<N>): string {
  const [, target = ""] = name.split(" ");
  return target.replace(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(path[part] ?? "")) + search(query);
}

/** Return a query string with the values that are not empty. */
export function search(values: object): string {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
}
