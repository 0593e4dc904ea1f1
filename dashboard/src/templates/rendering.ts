// What the service makes of a template and some values. The newest answer wins.

import { useEffect, useState } from "preact/hooks";

import { call } from "../api";
import { ApiError } from "../http";
import type { RenderedTemplate, RenderTemplateRequest } from "../schema";

const PAUSE = 250; // milliseconds without a change
const RETRY = 5_000;

export interface Rendering {
  /** The last answer. */
  answer?: RenderedTemplate;
  /** The last email that had no error. */
  email?: RenderedTemplate;
  error?: Error;
  /** Whether a newer answer is awaited. */
  waiting: boolean;
}

export function useRendering(wanted: RenderTemplateRequest): Rendering {
  const [state, setState] = useState<Rendering>({ waiting: true });
  const key = JSON.stringify(wanted);
  useEffect(() => {
    const controller = new AbortController();
    let timer = window.setTimeout(() => void run(), state.answer ? PAUSE : 0);
    setState((now) => ({ ...now, waiting: true }));
    async function run() {
      try {
        const answer = await call("POST /v1/templates/render", { body: wanted, signal: controller.signal });
        if (!controller.signal.aborted) setState(({ email }) => ({ answer, email: answer.html === null ? email : answer, waiting: false }));
      } catch (error) {
        if (controller.signal.aborted) return;
        setState((now) => ({ ...now, error: error as Error, waiting: false }));
        if (!(error instanceof ApiError) || error.status === 429) timer = window.setTimeout(() => void run(), RETRY);
      }
    }
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [key]);
  return state;
}
