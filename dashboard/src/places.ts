// Where the pages about something are.

import { search } from "./api";
import type { Status } from "./schema";

export const domainAt = (domain: string) => `/app/domains/${encodeURIComponent(domain)}`;

/** Which of the account's emails a page is about. */
export interface Chosen {
  template?: string;
  key?: string;
}

/** The emails of a time, also those of one status or with one error. */
export const emailsAt = (chosen: Chosen, from: string, to: string, which: { status?: Status; error?: string } = {}) =>
  `/app/activity${search({ ...chosen, ...which, from, to })}`;
