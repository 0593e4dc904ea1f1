// Data of the service in a page: kept while the service is slow or down, and refreshed if it is live.

import { useEffect, useRef, useState } from "preact/hooks";

import { ApiError } from "./http";

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
}

interface Answer {
  data: unknown;
  at: Date;
}

const SLOW = 3_000; // milliseconds
const FASTEST = 5_000;
const SLOWEST = 30_000;
const BACKOFF = 1.5;
const CHECKED = "checkedAt"; // says only when the service looked at what may be the same as before

/** Answers by key: a page that is opened again shows them until the new ones come. */
const answers = new Map<string, Answer>();

export function forgetAnswers(): void {
  answers.clear();
}

/**
 * Load data whenever `key` changes; `live` loads it again while the page is visible.
 *
 * The wait between two loads grows while nothing changes or while the service does not answer. It
 * begins with `live`, if that is a number of milliseconds.
 */
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  live: boolean | number = false,
): Resource<T> {
  const [state, setState] = useState<{ key: string; answer?: Answer; error?: Error; slow: boolean }>(
    { key, answer: answers.get(key), slow: false },
  );
  const reload = useRef(() => {});
  useEffect(() => {
    const controller = new AbortController();
    let timer = 0;
    const shortest = typeof live === "number" ? live : FASTEST;
    let wait = shortest;
    let due = false;

    async function run() {
      clearTimeout(timer);
      due = false;
      const notice = window.setTimeout(() => setState((now) => ({ ...now, slow: true })), SLOW);
      try {
        const data = await load(controller.signal);
        const same = textOf(data) === textOf(answers.get(key)?.data);
        wait = same ? Math.min(wait * BACKOFF, SLOWEST) : shortest;
        const answer = { data, at: new Date() };
        answers.set(key, answer);
        setState({ key, answer, slow: false });
        if (live) again();
      } catch (error) {
        if (controller.signal.aborted) return;
        setState((now) => ({ key, answer: answers.get(key) ?? now.answer, error: error as Error, slow: false }));
        wait = Math.min(wait * BACKOFF, SLOWEST);
        if (!(error instanceof ApiError)) again();
      } finally {
        clearTimeout(notice);
      }
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

    setState((now) => ({ key, answer: answers.get(key) ?? now.answer, slow: false }));
    reload.current = () => void run();
    document.addEventListener("visibilitychange", look);
    void run();
    return () => {
      controller.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [key]);
  return {
    data: state.answer?.data as T | undefined,
    at: state.answer?.at,
    error: state.error,
    stale: state.key !== key || (state.answer !== undefined && state.answer !== answers.get(key)),
    slow: state.slow,
    reload: reload.current,
  };
}

function textOf(data: unknown): string | undefined {
  return JSON.stringify(data, (name, value: unknown) => (name === CHECKED ? undefined : value));
}
