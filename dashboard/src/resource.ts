// Data of the service in a page: kept while the service is slow or down, and refreshed if it is live.

import { useEffect, useRef, useState } from "preact/hooks";

import { type Answer, type Answers, keepAnswers } from "./answers";
import { call, type Place, placeOf } from "./api";
import { ApiError } from "./http";
import type { Operations } from "./schema";
import { signIns } from "./session";

export interface Resource<T> {
  /** The last answer, also while a new one is awaited. */
  data?: T;
  /** When it came. */
  at?: Date;
  /** Why the last request failed. */
  error?: Error;
  /** Whether `data` is of another request than the current one. */
  stale: boolean;
  slow: boolean;
  reload: () => void;
  /** Show what another request has returned; an answer that is still awaited is older. */
  show: (data: T) => void;
}

/** Whether a first answer has come, or an error in its place. */
export const isSettled = ({ data, error }: Pick<Resource<unknown>, "data" | "error">) => data !== undefined || error !== undefined;

interface State<T> {
  key: string | null;
  answer?: Answer<T>;
  error?: Error;
  slow: boolean;
}

type Get = Extract<keyof Operations, `GET ${string}`>;

const SLOW = 3_000; // milliseconds
const FASTEST = 5_000;
const SLOWEST = 30_000;
const BACKOFF = 1.5;
const CHECKED = "checkedAt"; // says only when the service looked at what may be the same as before

const responses = keepAnswers<unknown>();

interface UnderWay {
  answer: Promise<unknown>;
  /** How many wait for the answer. */
  users: number;
  end: () => void;
}

const underWay = new Map<string, UnderWay>();

function begin(key: string, ask: (signal: AbortSignal) => Promise<unknown>): UnderWay {
  const controller = new AbortController();
  const leave = () => {
    if (underWay.get(key) === request) underWay.delete(key);
  };
  const end = () => {
    controller.abort();
    leave();
  };
  const request: UnderWay = { answer: ask(controller.signal).finally(leave), users: 0, end };
  underWay.set(key, request);
  return request;
}

/** Ask once for what several parts of a page ask for at the same time; give up when all of them have. */
function shared<T>(key: string, signal: AbortSignal, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const request = underWay.get(key) ?? begin(key, ask);
  request.users += 1;
  signal.addEventListener("abort", () => {
    request.users -= 1;
    if (request.users === 0) request.end();
  });
  return request.answer as Promise<T>;
}

/**
 * Load what an operation returns, whenever its path or query changes; null loads nothing.
 *
 * The answer is kept by operation, path and query, so it has the operation's type.
 */
export function useResource<N extends Get>(
  name: N | null,
  place: Place<N> = {},
  live: boolean | number = false,
): Resource<Operations[N]["response"]> {
  const key = name && `${name} ${placeOf(name, place)}`;
  return useAnswers(
    responses as Answers<Operations[N]["response"]>,
    key,
    (signal) => shared(key ?? "", signal, (signal) => call(name as N, { ...place, signal })),
    live,
  );
}

/**
 * Load data whenever `key` changes; `live` loads it again while the page is visible.
 *
 * The wait between two loads grows while nothing changes or while the service does not answer. It
 * begins with `live`, if that is a number of milliseconds.
 */
export function useAnswers<T>(
  kept: Answers<T>,
  key: string | null,
  load: (signal: AbortSignal) => Promise<T>,
  live: boolean | number = false,
): Resource<T> {
  const last = key === null ? undefined : kept.get(key);
  const [state, setState] = useState<State<T>>({ key, answer: last, slow: false });
  const signIn = signIns.value;
  const actions = useRef<Pick<Resource<T>, "reload" | "show">>({ reload: () => {}, show: () => {} });
  useEffect(() => {
    if (key === null) return;
    const asked = key;
    const shortest = typeof live === "number" ? live : FASTEST;
    let controller = new AbortController();
    let timer = 0;
    let wait = shortest;
    let due = false;

    async function run() {
      const { signal } = begin();
      const notice = window.setTimeout(() => setState((now) => ({ ...now, slow: true })), SLOW);
      try {
        const data = await load(signal);
        if (!signal.aborted) take(data);
      } catch (error) {
        if (signal.aborted) return;
        setState((now) => ({ key, answer: kept.get(asked) ?? now.answer, error: error as Error, slow: false }));
        wait = Math.min(wait * BACKOFF, SLOWEST);
        if (!(error instanceof ApiError)) again();
      } finally {
        clearTimeout(notice);
      }
    }
    /** Give up the request that runs, because its answer would be older than the next one. */
    function begin() {
      clearTimeout(timer);
      due = false;
      controller.abort();
      return (controller = new AbortController());
    }
    function take(data: T) {
      const same = textOf(data) === textOf(kept.get(asked)?.data);
      wait = same ? Math.min(wait * BACKOFF, SLOWEST) : shortest;
      const answer = { data, at: new Date() };
      kept.set(asked, answer);
      setState({ key, answer, slow: false });
      if (live) again();
    }
    function again() {
      timer = window.setTimeout(() => {
        due = true;
        look();
      }, wait);
    }
    function look() {
      if (due && !document.hidden) void run();
    }

    setState((now) => ({ key, answer: kept.get(asked) ?? now.answer, slow: false }));
    const show = (data: T) => {
      begin();
      take(data);
    };
    actions.current = { reload: () => void run(), show };
    document.addEventListener("visibilitychange", look);
    void run();
    return () => {
      controller.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [key, signIn]);
  return {
    data: state.answer?.data,
    at: state.answer?.at,
    error: state.error,
    stale: state.key !== key || (state.answer !== undefined && state.answer !== last),
    slow: state.slow,
    ...actions.current,
  };
}

function textOf(data: unknown): string | undefined {
  return JSON.stringify(data, (name, value: unknown) => (name === CHECKED ? undefined : value));
}
