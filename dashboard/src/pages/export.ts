// The emails that the filters of Activity find, as a file: read in pages, however many there are.

import { csv } from "../csv";
import type { Message } from "../schema";
import { type Names, originOf } from "./origins";

const SIZE = 100; // the most emails of an answer
const COLUMNS = ["messageId", "createdAt", "updatedAt", "status", "recipient", "subject", "error", "template", "templateId", "key", "keyId", "tags"];

export interface Part {
  to?: string;
  skip: number;
  limit: number;
}

export type AskPage = (part: Part) => Promise<{ items: Message[]; total: number }>;

/**
 * Reads emails from the newest back, a page at a time. If a page fails, `next` asks for it again.
 *
 * Each page begins by time where the one before ended, so emails that come in or change meanwhile
 * shift nothing: each email that was there at the beginning, and still has the filtered status, is
 * in the file once.
 */
export class Export {
  read = 0;
  /** How many there were at the beginning. */
  total?: number;
  done = false;
  private readonly parts: Blob[] = ["\ufeff" + csv([COLUMNS])].map(blob);
  /** Those of the last millisecond that was read, which the next page may have again. */
  private last = new Set<string>();
  private skip = 0;

  private readonly ask: AskPage;
  private readonly names: Names;
  private to: string | undefined;

  constructor(ask: AskPage, names: Names, to?: string) {
    this.ask = ask;
    this.names = names;
    this.to = to;
  }

  async next(): Promise<void> {
    const { items, total } = await this.ask({ to: this.to, skip: this.skip, limit: SIZE });
    this.total ??= total;
    const fresh = items.filter(({ messageId }) => !this.last.has(messageId));
    this.parts.push(blob(csv(fresh.map((message) => row(message, this.names)))));
    this.read += fresh.length;
    this.done = items.length < SIZE;
    const end = items.at(-1)?.createdAt;
    if (!end) return;
    const to = after(end);
    if (to === this.to) this.skip += items.length; // a whole page of one millisecond
    else {
      this.skip = 0;
      this.last.clear();
    }
    for (const one of items) if (one.createdAt === end) this.last.add(one.messageId);
    this.to = to;
  }

  file(): Blob {
    return new Blob(this.parts, { type: "text/csv" });
  }
}

const blob = (text: string) => new Blob([text]);

/** Return the millisecond after a time: the end of a range is not part of it. */
const after = (time: string) => new Date(Date.parse(time) + 1).toISOString();

function row(message: Message, names: Names): string[] {
  const { template, key } = originOf(message, names);
  const tags = Object.entries(message.tags).map(([name, value]) => `${name}:${value}`);
  return [
    ...[message.messageId, message.createdAt, message.updatedAt, message.status, message.recipientEmail, message.subject, message.errorMessage],
    ...[template?.name, template?.id, key?.name, key?.id, tags.join(" ")],
  ].map((cell) => cell ?? "");
}
