// The steps to the first email of an account.

import type { Account, Domain, Overview } from "../schema";

export interface Step {
  done: boolean;
  title: string;
  text: string;
  href: string;
  action: string;
}

type Found = Pick<Overview, "emails" | "keys" | "webhooks"> & {
  account: Pick<Account, "contact" | "defaultSender">;
  domains: Pick<Domain, "status">[];
};

/** Return the steps in their order, and which of them are done. */
export function stepsOf({ account: { contact, defaultSender: sender }, domains, emails, keys, webhooks }: Found): Step[] {
  const own = [
    {
      // An operator may have set the sender up without a domain of the account.
      done: !!sender || domains.some(({ status }) => status === "verified"),
      title: "Verify a domain",
      text: "DNS records show that it is yours.",
      href: "/app/domains",
      action: "Add a domain",
    },
    {
      done: !!sender,
      title: "Choose a default sender",
      text: "The address that your emails come from.",
      href: "/app/domains",
      action: "Add a sender",
    },
  ];
  const first = [
    {
      done: keys.some(({ revokedAt }) => !revokedAt) || emails > 0,
      title: "Create an API key",
      text: "Your application sends with it.",
      href: "/app/keys",
      action: "Create a key",
    },
    {
      done: emails > 0,
      title: "Send the first email",
      text: contact && !sender ? `To ${contact}: that needs no domain. It appears here within seconds.` : "Over HTTP or SMTP. It appears here within seconds.",
      href: "/app/activity",
      action: "Watch for it",
    },
  ];
  const events = [
    {
      done: webhooks.length > 0,
      title: "Receive events",
      text: "A webhook tells your application what happens to each email.",
      href: "/app/webhooks",
      action: "Add an endpoint",
    },
  ];
  return contact ? [...first, ...own, ...events] : [...own, ...first, ...events];
}
