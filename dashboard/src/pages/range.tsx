// One button for the time that a list covers: the usual ranges, or days that one chooses.

import { useRef } from "preact/hooks";

import { zone } from "../format";
import { Icon } from "../parts/icon";
import { dayBefore, isTime, rangeText } from "./emails";

interface Properties {
  from: string;
  to: string;
  onChange: (range: { from: string; to: string }) => void;
}

const USUAL: Record<string, number> = { Today: 0, "Last 7 days": 6, "Last 30 days": 29 };

export function Range({ from, to, onChange }: Properties) {
  const place = useRef<HTMLDetailsElement>(null);
  function close(focused = true) {
    if (!place.current?.open) return;
    place.current.open = false;
    if (focused) place.current.querySelector("summary")?.focus();
  }
  function choose(range: { from: string; to: string }) {
    onChange(range);
    close();
  }
  const day = (text: string) => (isTime(text) ? "" : text);
  return (
    <details
      class="range"
      ref={place}
      onKeyDown={(event) => event.key === "Escape" && close()}
      onFocusOut={(event) => event.relatedTarget && !place.current?.contains(event.relatedTarget as Node) && close(false)}
    >
      <summary class="button">
        <span class="hidden">Time: </span>
        {rangeText(from, to)} <Icon name="down" />
      </summary>
      <div class="panel" tabIndex={-1}>
        <button type="button" onClick={() => choose({ from: "", to: "" })}>
          Any time
        </button>
        {Object.entries(USUAL).map(([name, days]) => (
          <button type="button" key={name} onClick={() => choose({ from: dayBefore(days), to: "" })}>
            {name}
          </button>
        ))}
        <label>
          <span>From</span>
          <input type="date" max={day(to)} value={day(from)} onChange={(event) => onChange({ from: event.currentTarget.value, to: day(to) })} />
        </label>
        <label>
          <span>To</span>
          <input type="date" min={day(from)} value={day(to)} onChange={(event) => onChange({ from: day(from), to: event.currentTarget.value })} />
        </label>
        <p class="hint">Days are those of {zone()}.</p>
      </div>
    </details>
  );
}
