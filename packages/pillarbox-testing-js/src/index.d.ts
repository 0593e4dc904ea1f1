export interface Delivery {
  address: string;
  kind: "to" | "cc" | "bcc";
  /** `delivered`, `bounced`, `complained`, `refused`, … */
  outcome: string;
  reason?: string;
}

/** An email as its recipients got it. */
export interface Email {
  id: string;
  /** The `messageId` that the API returned. */
  messageId: string | null;
  from: string;
  recipients: string[];
  subject: string;
  text: string | null;
  html: string | null;
  /** The likeliest first. */
  codes: string[];
  links: string[];
  headers: { name: string; value: string }[];
  attachments: { filename: string | null; contentType: string; size: number; number: number }[];
  deliveries: Delivery[];
}

/** A webhook as its receiver got it. */
export interface ReceivedWebhook {
  id: string;
  /** The same for each attempt. */
  eventId: string;
  type: string;
  messageId: string;
  recipient: string;
  signature: "valid" | "invalid" | "stale" | "missing" | "unknown";
  attempt: number;
  body: string;
  /** The decoded body; undefined if it is no JSON. */
  payload: any;
  headers: { name: string; value: string }[];
}

export interface Inbox {
  url: string;
  /** The newest email to an address with this text in its subject; waits for it, ten seconds by default. */
  waitFor(query?: { to?: string; subject?: string; timeout?: number }): Promise<Email>;
  /** What has come so far, the newest first, refused emails too. */
  emails(query?: { to?: string; subject?: string }): Promise<Email[]>;
}

export interface Webhooks {
  url: string;
  /** The newest webhook of a type such as `email.delivered`; waits for it. */
  waitFor(
    type?: string,
    query?: { message?: string; recipient?: string; timeout?: number },
  ): Promise<ReceivedWebhook>;
  /** Answers an email as its recipient, and waits for the `email.received` that follows. */
  waitForReply(email: Email, text: string, options?: { timeout?: number }): Promise<ReceivedWebhook>;
  all(): Promise<ReceivedWebhook[]>;
  /** Another receiver: `/hooks/NAME`. */
  at(receiver: string): Webhooks;
}

export interface Pillarbox {
  /** Without `/api/v1`. */
  url: string;
  key: string;
  smtp: { host: string; port: number; username: string; password: string; certificate: string };
  inbox: Inbox;
  webhooks: Webhooks;
  /** An address that no other test uses. */
  address(name?: string): string;
}

/** The running stack; its inbox and its webhooks leave out what came before. */
export function pillarbox(): Promise<Pillarbox>;

/** For `test.extend` of Playwright and Vitest. */
export const fixtures: {
  pillarbox: (context: object, use: (value: Pillarbox) => Promise<void>) => Promise<void>;
};

/** No email came, or SES refused it; the text says which and what came instead. */
export class NoEmail extends Error {}
/** No webhook came. */
export class NoWebhook extends Error {}
/** No local stack answers; the text says what to do. */
export class StackNotRunning extends Error {}
