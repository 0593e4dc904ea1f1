// What the role of the signed-in user allows. The service decides; the pages only show it.

import type { Role } from "./schema";
import { session } from "./session";

const RIGHTS = {
  domains: ["owner", "developer"],
  keys: ["owner", "developer"],
  suppressions: ["owner", "developer"],
  members: ["owner"],
  account: ["owner"],
  agents: ["owner"],
  waiting: ["owner", "developer"],
  /** Also received mail, and to answer it. */
  content: ["owner", "developer"],
  webhooks: ["owner", "developer"],
  templates: ["owner", "developer", "author"],
} satisfies Record<string, Role[]>;

/** Return whether the user may change something. */
export function may(change: keyof typeof RIGHTS): boolean {
  const roles: string[] = RIGHTS[change];
  return roles.includes(session.value?.role ?? "");
}
