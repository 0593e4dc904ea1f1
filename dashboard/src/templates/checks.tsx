// What is wrong with a template, with the lines.

import { Icon } from "../parts/icon";
import type { Severity, TemplateProblem } from "../schema";

const BADGES: Record<Severity, string> = { error: "failed", warning: "bounced", note: "sent" };
const ORDER: Severity[] = ["error", "warning", "note"];

interface Properties {
  problems: TemplateProblem[];
  onGo: (line: number) => void;
}

/** Errors and warnings, and folded what only some mail programs lack. */
export function Checks({ problems, onGo }: Properties) {
  const notes = problems.filter(({ severity }) => severity === "note");
  const sorted = problems.filter(({ severity }) => severity !== "note").sort((one, other) => ORDER.indexOf(one.severity) - ORDER.indexOf(other.severity));
  return (
    <section class="checks" aria-label="Checks">
      <h2>Checks</h2>
      {sorted.length === 0 && (
        <p class="hint">
          <Icon name="check" /> Nothing to mend.
        </p>
      )}
      <Problems of={sorted} onGo={onGo} />
      {notes.length > 0 && (
        <details>
          <summary>{notes.length === 1 ? "One note" : `${notes.length} notes`} about mail programs that show less</summary>
          <Problems of={notes} onGo={onGo} />
        </details>
      )}
    </section>
  );
}

function Problems({ of, onGo }: { of: TemplateProblem[]; onGo: (line: number) => void }) {
  return (
    <ul>
      {of.map(({ severity, message, field, line, suggestion }, index) => (
        <li key={index}>
          <span class={`badge is-${BADGES[severity]}`}>{severity}</span>
          <span>
            {line ? (
              <button type="button" class="link" onClick={() => onGo(line)}>
                Line {line}
              </button>
            ) : (
              field !== "source" && <b>{field}</b>
            )}{" "}
            {message}
            {suggestion && (
              <>
                {" "}
                Allowed: <code>{suggestion}</code>
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
