// What is wrong with a template, with the lines.

import { Icon } from "../parts/icon";
import type { Severity, TemplateProblem } from "../schema";

const BADGES: Record<Severity, string> = { error: "failed", warning: "bounced", note: "sent" };
const ORDER: Severity[] = ["error", "warning", "note"];

export function Checks({ problems, onGo }: { problems: TemplateProblem[]; onGo: (line: number) => void }) {
  const sorted = problems.toSorted((one, other) => ORDER.indexOf(one.severity) - ORDER.indexOf(other.severity));
  return (
    <section class="checks" aria-label="Checks">
      <h2>Checks</h2>
      {problems.length === 0 && (
        <p class="hint">
          <Icon name="check" /> Nothing to mend.
        </p>
      )}
      <ul>
        {sorted.map(({ severity, message, field, line, suggestion }, index) => (
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
    </section>
  );
}
