// The window that writes the emails of Activity to a file.

import { useEffect, useRef, useState } from "preact/hooks";

import { call } from "../api";
import { save } from "../csv";
import { count } from "../format";
import { Buttons, Dialog } from "../parts/dialog";
import { Notice } from "../parts/notice";
import type { Operations } from "../schema";
import { Export } from "./export";
import type { Names } from "./origins";

interface Properties {
  query: Operations["GET /v1/emails"]["query"];
  names: Names;
  onClose: () => void;
}

export function ExportWindow({ query, names, onClose }: Properties) {
  const stop = useRef(new AbortController());
  const [all] = useState(
    () => new Export(async (part) => call("GET /v1/emails", { query: { ...query, ...part }, signal: stop.current.signal }), names, query.to),
  );
  const [state, setState] = useState({ running: true, read: 0, error: "" });
  async function run() {
    stop.current = new AbortController();
    const { signal } = stop.current;
    setState({ running: true, read: all.read, error: "" });
    try {
      while (!all.done && !signal.aborted) {
        await all.next();
        setState({ running: true, read: all.read, error: "" });
      }
      if (all.done) save("emails.csv", all.file());
      setState({ running: false, read: all.read, error: "" });
    } catch (failure) {
      setState({ running: false, read: all.read, error: signal.aborted ? "" : (failure as Error).message });
    }
  }
  useEffect(() => {
    void run();
    return () => stop.current.abort();
  }, []);
  const { running, read, error } = state;
  const part = `${count(read)} of ${all.total === undefined ? "…" : count(all.total)} emails`;
  return (
    <Dialog title="Export emails" onClose={running ? undefined : onClose}>
      <progress class="whole" aria-label="Emails that are read" max={all.total ?? 1} value={all.done ? (all.total ?? 1) : read} />
      <p aria-live="polite">{all.done ? `The file emails.csv has ${count(read)} emails.` : running ? `Reading ${part}…` : `Stopped after ${part}.`}</p>
      {error && <Notice kind="bad">{error}</Notice>}
      {running ? (
        <p class="actions">
          <button type="button" class="button" data-harmless onClick={() => stop.current.abort()}>
            Stop
          </button>
        </p>
      ) : all.done ? (
        <p class="actions">
          <button type="button" class="button primary" onClick={onClose}>
            Done
          </button>
        </p>
      ) : (
        <>
          {read > 0 && (
            <p class="actions">
              <button type="button" class="button" onClick={() => save("emails-in-part.csv", all.file())}>
                Save what was read
              </button>
            </p>
          )}
          <Buttons cancel="Close" onClose={onClose} answer="Go on" onAnswer={() => void run()} />
        </>
      )}
    </Dialog>
  );
}
