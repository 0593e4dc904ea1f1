// The steps to the first email: each one ticks itself, and the list leaves when all are done.

import { useResource } from "../resource";
import { may } from "../rights";
import { Icon } from "./icon";

interface Step {
  done: boolean;
  title: string;
  text: string;
  href: string;
  action: string;
}

export function Checklist() {
  const domains = useResource("GET /v1/domains");
  const senders = useResource("GET /v1/senders");
  const keys = useResource(may("keys") ? "GET /v1/keys" : null);
  const emails = useResource("GET /v1/emails", { query: { limit: 1 } }, true);
  const webhooks = useResource("GET /v1/webhooks");
  if (!domains.data || !senders.data || !emails.data || !webhooks.data) return null;
  const sender = senders.data.items.some((one) => one.default);
  const steps: Step[] = [
    {
      // An operator may have set the sender up without a domain of the account.
      done: sender || domains.data.items.some(({ status }) => status === "verified"),
      title: "Verify a domain",
      text: "DNS records show that it is yours.",
      href: "/app/domains",
      action: "Add a domain",
    },
    {
      done: sender,
      title: "Choose a default sender",
      text: "The address that your emails come from.",
      href: "/app/domains",
      action: "Add a sender",
    },
    {
      done: !!keys.data?.items.some(({ revokedAt }) => !revokedAt) || emails.data.total > 0,
      title: "Create an API key",
      text: "Your application sends with it.",
      href: "/app/keys",
      action: "Create a key",
    },
    {
      done: emails.data.total > 0,
      title: "Send the first email",
      text: "Over HTTP or SMTP. It appears here within seconds.",
      href: "/app/activity",
      action: "Watch for it",
    },
    {
      done: webhooks.data.items.length > 0,
      title: "Receive events",
      text: "A webhook tells your application what happens to each email.",
      href: "/app/webhooks",
      action: "Add an endpoint",
    },
  ];
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
