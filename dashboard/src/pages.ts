// Every page: where it is, and what shows it.

import lazy from "preact-iso/lazy";

import Activity from "./pages/activity";
import Overview from "./pages/overview";
import { LoadFailed } from "./parts/notice";

/** Return a page of the second file, which is loaded when one of its pages is opened. */
const later = <N extends keyof typeof import("./later")>(name: N) =>
  lazy(() => import("./later").then((pages) => pages[name], () => LoadFailed));

// Two files for all pages: each further one would add a request for what they share.
export const ROUTES = [
  { path: "/app", component: Overview },
  { path: "/app/activity/received/:id?", component: later("Received") },
  { path: "/app/activity/:id?", component: Activity },
  { path: "/app/templates", component: later("TemplateList") },
  { path: "/app/templates/:id", component: later("TemplatePage") },
  { path: "/app/domains", component: later("Domains") },
  { path: "/app/domains/:domain", component: later("DomainPage") },
  { path: "/app/webhooks", component: later("Webhooks") },
  { path: "/app/webhooks/:id", component: later("Endpoint") },
  { path: "/app/suppressions", component: later("Suppressions") },
  { path: "/app/keys", component: later("Keys") },
  { path: "/app/members", component: later("Members") },
  { path: "/app/account", component: later("Account") },
  { path: "/app/guides/:name?", component: later("Guide") },
];

export const OPERATOR_ROUTES = [
  { path: "/app/operator", component: later("OperatorAccounts") },
  { path: "/app/operator/accounts", component: later("OperatorAccounts") },
  { path: "/app/operator/accounts/:id", component: later("OperatorAccount") },
  { path: "/app/operator/sign-ups", component: later("SignUps") },
  { path: "/app/operator/rates", component: later("Rates") },
  { path: "/app/operator/queues", component: later("Queues") },
  { path: "/app/operator/checks", component: later("Checks") },
];

export const NoAccount = later("NoAccount");
/** It is for people without an account. */
export const SharedRecords = later("SharedRecords");
export const Passkeys = later("Passkeys");
