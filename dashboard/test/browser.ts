// Stands in for the browser: runs hooks without a page, and answers requests instead of the service.

import { mock } from "node:test";
import { h, render } from "preact";
import { act } from "preact/test-utils";

import { forgetAnswers } from "../src/answers";

/** Run a hook in a component that shows nothing; `now` is what it returned last. */
export async function running<T>(hook: (argument: string) => T, argument = "") {
  const place = {} as Element;
  const found = { now: undefined as T };
  function Component({ of }: { of: string }) {
    found.now = hook(of);
    return null;
  }
  const show = (of: string) => act(() => render(h(Component, { of }), place));
  await show(argument);
  return Object.assign(found, { show, leave: () => act(() => render(null, place)) });
}

/** Let a time pass and what it causes happen. */
export async function pass(milliseconds = 0): Promise<void> {
  await act(() => mock.timers.tick(milliseconds));
  for (let step = 0; step < 50; step += 1) await Promise.resolve();
  await act(() => {});
}

export interface Asked {
  method: string;
  path: string;
  body: unknown;
  headers: Record<string, string>;
}

type Answer = [status: number, body?: unknown] | Promise<[status: number, body?: unknown]>;

/** Answer requests; an exception is a service that cannot be reached. Return what was asked. */
export function answering(answer: (asked: Asked) => Answer): Asked[] {
  const all: Asked[] = [];
  globalThis.fetch = async (url, request = {}) => {
    const asked = {
      method: request.method ?? "GET",
      path: String(url).replace("/api/v1/", ""),
      body: request.body === undefined ? undefined : JSON.parse(String(request.body)),
      headers: request.headers as Record<string, string>,
    };
    all.push(asked);
    const [status, body] = await answer(asked);
    request.signal?.throwIfAborted();
    return new Response(body === undefined ? null : JSON.stringify(body), { status });
  };
  return all;
}

export function refusal(code: string, details: object = {}): { error: object } {
  return { error: { code, message: `${code}.`, type: "x", details } };
}

/** Begin a test at a known time, without what the one before kept. */
export function anew(): void {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: Date.parse("2026-05-05T12:00:00Z") });
  sessionStorage.clear();
  forgetAnswers();
}

/** A promise that a test keeps. */
export function later<T>() {
  let keep: (value: T) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const promise = new Promise<T>((resolve, reject) => ([keep, fail] = [resolve, reject]));
  return { promise, keep, fail };
}
