// The steps to the first email: each one ticks itself, and the list leaves when all are done.

import { isSettled, type Resource, useResource } from "../resource";
import type { Overview } from "../schema";
import { Icon } from "./icon";
import { stepsOf } from "./steps";

/** Return the list, null if all is done, and undefined until that is known; `emails` are those that the page knows of. */
export function useChecklist(overview: Resource<Overview>, emails: number) {
  const domains = useResource("GET /v1/domains");
  if (!isSettled(domains) || !isSettled(overview)) return undefined;
  if (!domains.data || !overview.data) return null;
  const steps = stepsOf({ ...overview.data, domains: domains.data.items, emails: Math.max(emails, overview.data.emails) });
  const next = steps.find(({ done }) => !done);
  if (!next) return null;
  return (
    <section class="card checklist" aria-labelledby="first-steps">
      <h2 id="first-steps">First steps</h2>
      <ol>
        {steps.map((step) => (
          <li key={step.title} class={step.done ? "done" : undefined}>
            <span class="tick">
              {step.done && <Icon name="check" />}
              <span class="hidden">{step.done ? "Done:" : "To do:"}</span>
            </span>
            <span>
              <b>{step.title}</b>
              <span class="hint">{step.text}</span>
            </span>
            {!step.done && (
              <a class={`button small ${step === next ? "primary" : ""}`} href={step.href}>
                {step.action}
              </a>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
