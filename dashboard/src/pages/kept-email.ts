// What can be done with an email whose content is kept: read it, and send it again.

import { call } from "../api";
import { once } from "../once";
import type { Message, MessageContent } from "../schema";

/** `others`: not for this role; `over`: not any more. */
export type ContentState = "kept" | "others" | "over";

/** Return whether content that is kept until a time can be read. */
export function stateOf(kept: string, readable: boolean, now = Date.now()): ContentState {
  if (Date.parse(kept) <= now) return "over";
  return readable ? "kept" : "others";
}

/** The content as the service returned it, and until when the link to the whole message works. */
export interface Reading {
  content: MessageContent;
  linkUntil: number;
}

/** The service's links work for five minutes. Its clock may differ from this one. */
const LINK = 4 * 60_000; // milliseconds

/** Read the content. The log of the account has an entry for each time. */
export async function read(id: string): Promise<Reading> {
  const linkUntil = Date.now() + LINK;
  return { content: await call("GET /v1/emails/{message_id}/kept", { path: { message_id: id } }), linkUntil };
}

/** What this tab sent again, also to other addresses: no list can be asked for those. */
const copies = new Map<string, Set<string>>();

/** Send an email again, to one address or to the same recipients; return the id of the new one.
 *
 * Until an answer has come, a further try for the same address repeats the request, also in another
 * window, so it sends nothing twice.
 */
export async function sendAgain(id: string, to?: string): Promise<string> {
  const path = { message_id: id };
  const { messageId } = await once(`resend ${id} ${to ?? ""}`, (idempotencyKey) =>
    call("POST /v1/emails/{message_id}/resend", { path, body: { to }, idempotencyKey }),
  );
  copies.set(id, new Set([...copiesOf(id), messageId]));
  return messageId;
}

/** Return the emails that repeat one, the oldest first: those of a list, and those that this tab made. */
export function copiesOf(id: string, listed: Message[] = []): string[] {
  const found = listed.filter(({ resendOf }) => resendOf === id).map(({ messageId }) => messageId);
  return [...new Set([...found, ...(copies.get(id) ?? [])])].sort(); // ids begin with their time
}

/** Return addresses as text, and of many the first three and how many more there are. */
export function shortList(addresses: string[]): string {
  const shown = addresses.length > 4 ? addresses.slice(0, 3) : addresses;
  const more = addresses.length - shown.length;
  return shown.join(", ") + (more ? ` and ${more} more` : "");
}
