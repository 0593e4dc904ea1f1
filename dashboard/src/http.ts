// One JSON request to the service.

import type { ErrorBody } from "./schema";

/** The service refused a request. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: Record<string, unknown>;

  constructor(status: number, code: string, message: string, details: Record<string, unknown> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** The service cannot be reached, does not answer in time or answers no JSON. */
export class Unreachable extends Error {
  constructor() {
    super("The service does not answer.");
  }
}

const PATIENCE = 30_000; // milliseconds

interface Options {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Send a request; return the JSON of the response, undefined if it has none. */
export async function exchange<T>(method: string, path: string, options: Options = {}): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json", ...options.headers };
  const request: RequestInit = { method, headers, signal: deadline(options.signal) };
  if (options.body !== undefined) {
    headers["Content-Type"] = "application/json";
    request.body = JSON.stringify(options.body);
  }
  let response: Response;
  let text: string;
  try {
    response = await fetch(`/api${path}`, request);
    text = await response.text();
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Unreachable();
  }
  const content = parse(text);
  if (response.ok) return content as T;
  const error = (content as { error?: ErrorBody } | undefined)?.error;
  if (!error || response.status >= 500) throw new Unreachable();
  throw new ApiError(response.status, error.code, explain(error), error.details);
}

/** Return what is wrong with all fields, in sentences. */
function explain({ message, details }: ErrorBody): string {
  const errors = details?.["errors"];
  return Array.isArray(errors) ? errors.map(sentence).join(" ") : message;
}

/** Return what is wrong with a field. Most messages go on from its name. */
export function sentence({ field, message }: { field: string; message: string }): string {
  const ending = message.endsWith(".") ? "" : ".";
  if (field.includes(".")) return `${field}: ${message}${ending}`; // such as a variable of a template
  const name = field.replace(/[A-Z]/g, (letter: string) => ` ${letter.toLowerCase()}`);
  const text: string = /^(must|is|has|cannot|needs)\b/.test(message) ? `${name} ${message}` : message;
  return `${text[0]?.toUpperCase()}${text.slice(1)}${ending}`;
}

function deadline(signal?: AbortSignal): AbortSignal {
  const limit = AbortSignal.timeout(PATIENCE);
  return signal ? AbortSignal.any([signal, limit]) : limit;
}

function parse(text: string): unknown {
  try {
    return text ? JSON.parse(text) : undefined;
  } catch {
    throw new Unreachable();
  }
}
