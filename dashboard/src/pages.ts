// Every page: where it is, and what it is called.

import lazy from "preact-iso/lazy";

import Account from "./pages/account";
import Activity from "./pages/activity";
import DomainPage from "./pages/domain";
import Domains from "./pages/domains";
import Endpoint from "./pages/endpoint";
import Keys from "./pages/keys";
import Members from "./pages/members";
import Overview from "./pages/overview";
import Suppressions from "./pages/suppressions";
import Webhooks from "./pages/webhooks";
import type { IconName } from "./parts/icon";

export interface Entry {
  href: string;
  name: string;
  icon: IconName;
}

export const NAVIGATION: Entry[] = [
  { href: "/app/", name: "Overview", icon: "overview" },
  { href: "/app/activity", name: "Activity", icon: "activity" },
  { href: "/app/domains", name: "Domains", icon: "domains" },
  { href: "/app/webhooks", name: "Webhooks", icon: "webhooks" },
  { href: "/app/suppressions", name: "Suppressions", icon: "suppressions" },
  { href: "/app/keys", name: "API keys", icon: "keys" },
  { href: "/app/members", name: "Members", icon: "members" },
  { href: "/app/account", name: "Account", icon: "account" },
];

export const OPERATOR_NAVIGATION: Entry[] = [
  { href: "/app/operator/accounts", name: "Accounts", icon: "members" },
  { href: "/app/operator/rates", name: "Rates", icon: "overview" },
  { href: "/app/operator/queues", name: "Queues", icon: "menu" },
  { href: "/app/operator/checks", name: "Checks", icon: "check" },
];

// All in one file, which is smaller than the request for another. A page with large packages of its
// own is loaded by `lazy` of preact-iso.
export const ROUTES = [
  { path: "/app", component: Overview },
  { path: "/app/activity/:id?", component: Activity },
  { path: "/app/domains", component: Domains },
  { path: "/app/domains/:domain", component: DomainPage },
  { path: "/app/webhooks", component: Webhooks },
  { path: "/app/webhooks/:id", component: Endpoint },
  { path: "/app/suppressions", component: Suppressions },
  { path: "/app/keys", component: Keys },
  { path: "/app/members", component: Members },
  { path: "/app/account", component: Account },
];

// Few users are operators, so these pages are in a file of their own.
const operator = <N extends keyof typeof import("./pages/operator")>(name: N) =>
  lazy(() => import("./pages/operator").then((pages) => pages[name]));

export const OPERATOR_ROUTES = [
  { path: "/app/operator", component: operator("Accounts") },
  { path: "/app/operator/accounts", component: operator("Accounts") },
  { path: "/app/operator/accounts/:id", component: operator("Account") },
  { path: "/app/operator/rates", component: operator("Rates") },
  { path: "/app/operator/queues", component: operator("Queues") },
  { path: "/app/operator/checks", component: operator("Checks") },
];
