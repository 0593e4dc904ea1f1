import type { Operations, WebhookEvent } from "./types.d.ts";

export type * from "./types.d.ts";

export interface Settings {
  /** The API key; without it, the variable PILLARBOX_KEY has it. */
  key?: string;
  /** The address of the service; without it, the variable PILLARBOX_URL has it. */
  url?: string;
  /** How often a request is sent again that failed and may succeed: three times by default. */
  retries?: number;
  fetch?: typeof fetch;
}

/** A client of one service with one API key. */
export interface Pillarbox extends Operations {}
export class Pillarbox {
  constructor(settings?: Settings);
}

/** The service answered with an error. */
export class PillarboxError extends Error {
  status: number;
  /** The stable code for programs, such as `recipient_suppressed`. */
  code: string;
  type: string;
  details: Record<string, unknown>;
  /** Names the request in the service's log. */
  requestId: string;
}

/** A webhook does not come from the holder of the secret, or it is too old. */
export class InvalidSignature extends Error {}

/**
 * Return the event in the body of a webhook, if the holder of the secret sent it just now.
 * The body is what came, before it is parsed; the headers are a `Headers` or an object in lower case.
 */
export function verifyWebhook(
  body: string | Uint8Array,
  headers: Headers | Record<string, string | string[] | undefined>,
  secret: string,
): Promise<WebhookEvent>;
