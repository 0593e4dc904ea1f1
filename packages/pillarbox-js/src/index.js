import { operations } from "./operations.js";

const VERSION = "0.1.0";
const TIMEOUT = 35_000; // milliseconds until a try is given up; the service answers within 30 s
const RETRIES = 3;
const FIRST_WAIT = 500;
const LONGEST_WAIT = 60_000;
const TOLERANCE = 300; // seconds
const AGAIN = new Set([500, 502, 503, 504]);
const REPEATABLE = new Set(["GET", "DELETE", "PATCH", "PUT"]);

export class PillarboxError extends Error {
  constructor(message, fields) {
    super(`${fields.code}: ${message}`);
    this.name = "PillarboxError";
    Object.assign(this, fields);
  }
}

export class InvalidSignature extends Error {
  name = "InvalidSignature";
}

export class Pillarbox {
  #base;
  #headers;
  #retries;
  #fetch;

  constructor({ key, url, retries = RETRIES, fetch = globalThis.fetch } = {}) {
    const variables = globalThis.process?.env ?? {};
    key ??= variables.PILLARBOX_KEY;
    url ??= variables.PILLARBOX_URL;
    for (const [name, value] of Object.entries({ key, url })) {
      if (!value) {
        throw new TypeError(`Give \`${name}\`, or set the variable PILLARBOX_${name.toUpperCase()}.`);
      }
    }
    this.#base = url.replace(/\/+$/, "").replace(/\/api$/, "");
    this.#headers = { "X-API-Key": key, "User-Agent": `pillarbox-js/${VERSION}` };
    this.#retries = retries;
    this.#fetch = fetch;
  }

  async _call(operation, values) {
    const rest = [...values];
    const path = operation.path.replace(/\{\w+\}/g, () => segment(rest.shift()));
    const body = operation.body ? rest.shift() : undefined;
    const query = operation.query ? rest.shift() : undefined;
    const { idempotencyKey, signal } = rest.shift() ?? {};
    const headers = { ...this.#headers };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (operation.idempotent) headers["Idempotency-Key"] = idempotencyKey ?? crypto.randomUUID();
    const repeatable = operation.idempotent || REPEATABLE.has(operation.method);
    const request = {
      method: operation.method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    };
    const url = this.#base + path + search(query);
    for (let tried = 1; ; tried += 1) {
      let response, text, failure;
      try {
        const limit = AbortSignal.timeout(TIMEOUT);
        response = await this.#fetch(url, {
          ...request,
          signal: signal ? AbortSignal.any([signal, limit]) : limit,
        });
        text = await response.text();
      } catch (error) {
        if (signal?.aborted) throw error;
        failure = error;
      }
      const answer = failure ? undefined : parsed(text);
      const wait = tried > this.#retries ? undefined : waitBefore(response, answer, failure, repeatable, tried);
      if (wait === undefined) {
        if (failure) {
          const reason = failure.cause?.code ?? failure.message;
          throw new TypeError(`${this.#base} does not answer: ${reason}`, { cause: failure });
        }
        if (response.ok) return text ? answer : undefined;
        throw errorOf(response, answer);
      }
      await pause(wait, signal);
    }
  }
}

for (const [name, operation] of Object.entries(operations)) {
  Pillarbox.prototype[name] = function (...values) {
    return this._call(operation, values);
  };
}

/** Return the event in the body of a webhook, if the holder of the secret sent it just now. */
export async function verifyWebhook(body, headers, secret) {
  const read = (name) =>
    (typeof headers.get === "function" ? headers.get(name) : headers[name]) ?? "";
  const id = read("webhook-id");
  const moment = read("webhook-timestamp");
  if (!id || !/^\d+$/.test(moment)) {
    throw new InvalidSignature("A header is missing: webhook-id, webhook-timestamp or webhook-signature.");
  }
  if (Math.abs(Date.now() / 1000 - Number(moment)) > TOLERANCE) {
    throw new InvalidSignature("The webhook is over five minutes old, or a clock is wrong.");
  }
  const octets = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = joined(new TextEncoder().encode(`${id}.${moment}.`), octets);
  const key = await crypto.subtle.importKey(
    "raw", fromBase64(secret.replace(/^whsec_/, "")), { name: "HMAC", hash: "SHA-256" }, false, ["verify"],
  );
  for (const each of read("webhook-signature").split(" ")) {
    const [kind, value] = each.split(",");
    if (kind === "v1" && (await isRight(key, value, signed))) {
      return JSON.parse(new TextDecoder().decode(octets));
    }
  }
  throw new InvalidSignature("The signature is wrong: the secret or the body is another one.");
}

async function isRight(key, signature, signed) {
  let octets;
  try {
    octets = fromBase64(signature ?? "");
  } catch {
    return false; // not base64
  }
  return crypto.subtle.verify("HMAC", key, octets, signed);
}

function segment(value) {
  if (value === undefined || value === null || value === "") throw new TypeError("An id is missing.");
  return encodeURIComponent(value);
}

function search(query) {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null);
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not the service's answer
  }
}

function waitBefore(response, answer, failure, repeatable, tried) {
  if (failure) return repeatable ? backoff(tried) : undefined;
  const throttled = response.status === 429;
  const inFlight = response.status === 409 && answer?.error?.code === "idempotency_in_flight";
  if (!(throttled || inFlight || (AGAIN.has(response.status) && repeatable))) return undefined;
  const { headers } = response;
  const asked = headers.get("Retry-After") ?? (throttled ? headers.get("RateLimit-Reset") : null);
  if (asked === null || !/^\d+$/.test(asked)) return backoff(tried);
  // The limit of a minute ends soon, that of a day does not.
  return Number(asked) * 1000 <= LONGEST_WAIT ? Number(asked) * 1000 : undefined;
}

function backoff(tried) {
  const longest = Math.min(FIRST_WAIT * 2 ** (tried - 1), LONGEST_WAIT);
  return longest / 2 + (Math.random() * longest) / 2;
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

function errorOf(response, answer) {
  const error = answer?.error ?? {};
  return new PillarboxError(error.message ?? `The answer has the status ${response.status}.`, {
    status: response.status,
    code: error.code ?? "unknown",
    type: error.type ?? "unknown",
    details: error.details ?? {},
    requestId: response.headers.get("X-Request-Id") ?? "",
  });
}

function fromBase64(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function joined(first, second) {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}
