// What a page says about data that could not be loaded, or is slow to come.

import type { ComponentChildren } from "preact";

import { clock } from "../format";
import { ApiError } from "../http";
import type { Resource } from "../resource";
import { Icon } from "./icon";

export function Notice({ kind, children }: { kind: "bad" | "note"; children: ComponentChildren }) {
  return (
    <div class={`notice is-${kind}`} role={kind === "bad" ? "alert" : "status"}>
      <Icon name={kind === "bad" ? "warning" : "info"} />
      <div>{children}</div>
    </div>
  );
}

/** Say why the data of a page is old, missing or late; nothing if all is well. */
export function Trouble({ of }: { of: Omit<Resource<unknown>, "show"> }) {
  if (of.error instanceof ApiError) return <Notice kind="bad">{of.error.message}</Notice>;
  if (of.error) {
    return (
      <Notice kind="bad">
        The service does not answer. {of.at && `You see the data of ${clock(of.at)}. `}
        It is asked again in a moment.{" "}
        <button type="button" class="link" onClick={of.reload}>
          Ask now
        </button>
      </Notice>
    );
  }
  return of.slow ? <Notice kind="note">The service is slow to answer. Please wait.</Notice> : null;
}

export function Loading() {
  return (
    <div class="loading" role="status">
      <span class="hidden">Loading</span>
    </div>
  );
}

/** What a page shows in place of data that it does not have yet, and above data that is old. */
export function Progress({ of }: { of: Omit<Resource<unknown>, "show"> }) {
  return (
    <>
      <Trouble of={of} />
      {!of.data && !of.error && <Loading />}
    </>
  );
}

/** Stands for a page whose file could not be loaded. */
export function LoadFailed() {
  return (
    <Notice kind="bad">
      The service does not answer.{" "}
      <button type="button" class="link" onClick={() => location.reload()}>
        Load the page again
      </button>
    </Notice>
  );
}
