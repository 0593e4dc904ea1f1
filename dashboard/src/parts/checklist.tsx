// The steps to the first email: each one ticks itself, and the list leaves when all are done.

import { isSettled, useResource } from "../resource";
import { may } from "../rights";
import { Icon } from "./icon";
import { stepsOf } from "./steps";

/** Return the list, null if all is done, and undefined until that is known. */
export function useChecklist() {
  const domains = useResource("GET /v1/domains");
  const senders = useResource("GET /v1/senders");
  const keys = useResource(may("keys") ? "GET /v1/keys" : null);
  const emails = useResource("GET /v1/emails", { query: { limit: 1 } }, true);
  const webhooks = useResource("GET /v1/webhooks");
  const account = useResource("GET /v1/account");
  if (![domains, senders, emails, webhooks, account, ...(may("keys") ? [keys] : [])].every(isSettled)) return undefined;
  if (!domains.data || !senders.data || !emails.data || !webhooks.data) return null;
  const steps = stepsOf({
    domains: domains.data.items,
    senders: senders.data.items,
    keys: keys.data?.items ?? [],
    webhooks: webhooks.data.items,
    emails: emails.data.total,
    contact: account.data?.contact ?? null,
  });
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
