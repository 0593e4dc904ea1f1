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
import { LoadFailed } from "./parts/notice";

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
];

const templates = (name: "TemplateList" | "TemplatePage") =>
  lazy(() => import("./templates").then((pages) => pages[name], () => LoadFailed));

// Most are in one file, which is smaller than the requests for others would be.
export const ROUTES = [
  { path: "/app", component: Overview },
  { path: "/app/activity/:id?", component: Activity },
  { path: "/app/templates", component: templates("TemplateList") },
  { path: "/app/templates/:id", component: templates("TemplatePage") },
  { path: "/app/domains", component: Domains },
  { path: "/app/domains/:domain", component: DomainPage },
  { path: "/app/webhooks", component: Webhooks },
  { path: "/app/webhooks/:id", component: Endpoint },
  { path: "/app/suppressions", component: Suppressions },
  { path: "/app/keys", component: Keys },
  { path: "/app/members", component: Members },
  { path: "/app/account", component: Account },
];
