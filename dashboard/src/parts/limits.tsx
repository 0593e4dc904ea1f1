// The limits of an account, and what is used of them.

import { count } from "../format";
import type { LimitState } from "../schema";
import { Time } from "./basics";

const WINDOWS: Record<LimitState["name"], string> = {
  minute: "Emails this minute",
  day: "Emails today",
  recipients: "Recipients today",
  month: "Emails this month",
};

export function Limits({ of: limits }: { of: LimitState[] }) {
  return (
    <div class="limits">
      {limits.map((limit) => (
        <div class="quota" key={limit.name}>
          <p>
            <span>{WINDOWS[limit.name]}</span>
            <b>
              {count(limit.used)} {limit.limit === null ? "of any number" : `of ${count(limit.limit)}`}
            </b>
          </p>
          {limit.limit !== null && (
            <progress class={limit.remaining === 0 ? "short" : undefined} max={Math.max(limit.limit, 1)} value={limit.used} aria-label={WINDOWS[limit.name]} />
          )}
          {limit.name === "month" && (
            <p class="hint">
              Resets <Time at={limit.resetsAt} />
            </p>
          )}
        </div>
      ))}
    </div>
  );
}
