// What the filters of the list of emails ask the service for.

import { clock, day, minute } from "../format";
import type { Filters } from "../query";
import type { Message, MessageDetail, Status } from "../schema";

export const STATUSES: Status[] = ["pending", "sent", "delivered", "bounced", "complained", "failed"];
/** The emails of a page. */
export const SIZE = 50;
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function isMessageId(text: string): boolean {
  return ID.test(text);
}

/** Whether an email is not sent yet because it was asked to wait. */
export function isWaiting(message: Message | MessageDetail): boolean {
  return message.status === "pending" && (message.held || message.scheduledAt !== null);
}

/** Return the page that the filters name, from 1. */
export function pageOf(filters: Filters): number {
  return Math.max(1, Number.parseInt(filters["page"] ?? "1", 10) || 1);
}

/** Return the id of the email before or after one in a list. */
export function neighbour(items: Message[], id: string, step: 1 | -1): string | undefined {
  const place = items.findIndex(({ messageId }) => messageId === id);
  return place < 0 ? undefined : items[place + step]?.messageId;
}

/** Return the parameters of the API; dates are whole days of the reader's own time, times are as they are. */
export function toQuery(filters: Filters, page: number) {
  const { status, key, template, tag, error, from, to } = filters;
  return {
    recipient: filters["recipient"] && recipient(filters["recipient"]),
    // The service finds an error alone: its emails have few statuses.
    status: error ? undefined : STATUSES.find((known) => known === status),
    error,
    keyId: key,
    template,
    tag,
    from: from && midnight(from, 0),
    to: to && midnight(to, 1),
    skip: (page - 1) * SIZE,
    limit: SIZE,
  };
}

/** Return what finds an address by its beginning, unless it is complete. */
function recipient(text: string): string {
  return text.endsWith("*") || /@[^@]+\.[a-z]{2,}$/i.test(text) ? text : `${text}*`;
}

/** Whether a filter is a time of its own, as a bar of the overview has it, and no day. */
export const isTime = (text = "") => text.includes("T");

/** Return the day of the reader's calendar that was some days before today, as a filter has it. */
export function dayBefore(days: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getFullYear(), now.getMonth(), now.getDate() - days)).toISOString().slice(0, 10);
}

/** Return the words for the time that a list covers. */
export function rangeText(from: string, to: string): string {
  const text = (at: string) => (isTime(at) ? minute(at) : day(`${at}T00:00:00`));
  if (!from && !to) return "Any time";
  if (!to) return from === dayBefore(0) ? "Today" : `Since ${text(from)}`;
  if (!from) return `Until ${text(to)}`;
  if (from === to) return text(from);
  return isTime(from) && isTime(to) && day(from) === day(to) ? `${text(from)} to ${clock(to)}` : `${text(from)} to ${text(to)}`;
}

function midnight(date: string, days: number): string | undefined {
  if (isTime(date)) return date;
  const time = new Date(`${date}T00:00:00`);
  if (Number.isNaN(time.getTime())) return undefined;
  time.setDate(time.getDate() + days);
  return time.toISOString();
}
