// The pages that the navigation names.

import type { IconName } from "./parts/icon";

export interface Entry {
  href: string;
  name: string;
  icon: IconName;
}

export const NAVIGATION: Entry[] = [
  { href: "/app/", name: "Overview", icon: "overview" },
  { href: "/app/activity", name: "Activity", icon: "activity" },
  { href: "/app/templates", name: "Templates", icon: "templates" },
  { href: "/app/domains", name: "Domains", icon: "domains" },
  { href: "/app/webhooks", name: "Webhooks", icon: "webhooks" },
  { href: "/app/suppressions", name: "Suppressions", icon: "suppressions" },
  { href: "/app/keys", name: "API keys", icon: "keys" },
  { href: "/app/members", name: "Members", icon: "members" },
  { href: "/app/account", name: "Account", icon: "account" },
  { href: "/app/guides", name: "Guides", icon: "info" },
];

export const OPERATOR_NAVIGATION: Entry[] = [
  { href: "/app/operator/accounts", name: "Accounts", icon: "members" },
  { href: "/app/operator/sign-ups", name: "Sign-ups", icon: "account" },
  { href: "/app/operator/rates", name: "Rates", icon: "overview" },
  { href: "/app/operator/queues", name: "Queues", icon: "menu" },
  { href: "/app/operator/checks", name: "Checks", icon: "check" },
];
