// Where one can jump to with a few letters: pages, accounts and emails.

import type { AccessToken, Message } from "../schema";
import { isMessageId } from "../pages/emails";
import { type Entry, NAVIGATION, OPERATOR_NAVIGATION } from "../navigation";
import type { IconName } from "./icon";

export interface Jump {
  /** Not twice in a list. */
  id: string;
  name: string;
  /** What it is, if its name does not say it. */
  about?: string;
  icon: IconName;
  href?: string;
  /** The account to show. */
  account?: string;
}

/** What few know by the name in the navigation, and where it is. */
const WORDS: Record<string, string> = {
  "/app/": "figures analytics quota dashboard",
  "/app/activity": "emails messages log search export csv",
  "/app/templates": "editor drafts mjml html",
  "/app/domains": "senders dns dkim spf dmarc",
  "/app/webhooks": "endpoints events deliveries secret",
  "/app/suppressions": "bounces blocked unsubscribed",
  "/app/keys": "tokens smtp password credentials create",
  "/app/members": "team users invite roles",
  "/app/guides": "help docs documentation",
  "/app/account": "settings brand logo plan limits",
};
const MOST = 8; // emails

/** Return the places of a session whose names have all words of a text, and its newest emails. */
export function jumpsOf(text: string, { user, account, accounts }: Pick<AccessToken, "user" | "account" | "accounts">, emails: Message[]): Jump[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (...parts: string[]) => words.every((word) => parts.some((part) => part.toLowerCase().includes(word)));
  const pages: (Entry & { about?: string })[] = [
    ...(account ? NAVIGATION : []),
    ...(user.operator ? OPERATOR_NAVIGATION.map((one) => ({ ...one, about: "Operator" })) : []),
  ];
  return [
    ...(account ? searches(text.trim()) : []),
    ...pages.filter(({ href, name, about = "" }) => has(name, about, WORDS[href] ?? "")).map((page) => ({ id: page.href, ...page })),
    ...accounts
      .filter(({ id, name }) => id !== account?.id && has(name, id))
      .map(({ id, name }) => ({ id, name, about: "Switch account", icon: "account" as const, account: id })),
    ...emails
      .filter(({ subject, recipientEmail }) => words.length > 0 && has(subject, recipientEmail))
      .slice(0, MOST)
      .map(({ messageId, subject, recipientEmail }) => ({ id: messageId, name: subject || "(no subject)", about: recipientEmail, icon: "activity" as const, href: `/app/activity/${messageId}` })),
  ];
}

/** Return what a text finds that is a message id, or looks like a recipient. */
function searches(text: string): Jump[] {
  if (isMessageId(text)) return [{ id: "message", name: `Open the email ${text}`, icon: "search", href: `/app/activity/${text.toLowerCase()}` }];
  if (!text.includes("@")) return [];
  return [{ id: "recipient", name: `Find emails to ${text}`, icon: "search", href: `/app/activity?recipient=${encodeURIComponent(text)}` }];
}
