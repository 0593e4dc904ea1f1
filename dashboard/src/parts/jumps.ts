// Where one can jump to with a few letters: pages, what the account has, other accounts and emails.

import type { AccessToken, Domain, Key, Member, Message, Webhook } from "../schema";
import { isMessageId } from "../pages/emails";
import { type Entry, NAVIGATION, OPERATOR_NAVIGATION } from "../navigation";
import { domainAt } from "../places";
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
const MOST_EMAILS = 4;
const MOST_THINGS = 8;

/** What a session can jump to beside its pages; what is not known yet is left out. */
export interface Things {
  templates?: { id: string; name: string; category: string }[];
  domains?: Pick<Domain, "domain">[];
  keys?: Pick<Key, "id" | "name">[];
  members?: Pick<Member, "email">[];
  endpoints?: Pick<Webhook, "id" | "url">[];
  emails?: Message[];
}

/** Return what has all words of a text: places, what the account has, and a few of its newest emails. An address searches all emails first. */
export function jumpsOf(text: string, { user, account, accounts }: Pick<AccessToken, "user" | "account" | "accounts">, things: Things): Jump[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (...parts: string[]) => words.every((word) => parts.some((part) => part.toLowerCase().includes(word)));
  const pages: (Entry & { about?: string })[] = [
    ...(account ? NAVIGATION : []),
    ...(user.operator ? OPERATOR_NAVIGATION.map((one) => ({ ...one, about: "Operator" })) : []),
  ];
  const { templates = [], domains = [], keys = [], members = [], endpoints = [], emails = [] } = words.length > 0 ? things : {};
  const found: Jump[] = [
    ...templates.map(({ id, name, category }) => ({ id, name, about: `Template, ${category}`, icon: "templates" as const, href: `/app/templates/${id}` })),
    ...domains.map(({ domain }) => ({ id: domain, name: domain, about: "Domain", icon: "domains" as const, href: domainAt(domain) })),
    ...keys.map(({ id, name }) => ({ id, name, about: "API key", icon: "keys" as const, href: `/app/keys?find=${id}` })),
    ...members.map(({ email }) => ({ id: email, name: email, about: "Member", icon: "members" as const, href: "/app/members" })),
    ...endpoints.map(({ id, url }) => ({ id, name: url, about: "Endpoint", icon: "webhooks" as const, href: `/app/webhooks/${id}` })),
  ];
  const wanted = text.trim();
  const all: Jump[] =
    account && words.length === 1 && !isMessageId(wanted)
      ? [{ id: "all", name: `Search all emails to ${wanted}`, about: "Recipient", icon: "search", href: `/app/activity?recipient=${encodeURIComponent(wanted)}` }]
      : [];
  const isAddress = wanted.includes("@");
  return [
    ...(isAddress ? all : []),
    ...(account && isMessageId(wanted) ? [{ id: "message", name: `Open the email ${wanted}`, icon: "search" as const, href: `/app/activity/${wanted.toLowerCase()}` }] : []),
    ...pages.filter(({ href, name, about = "" }) => has(name, about, WORDS[href] ?? "")).map((page) => ({ id: page.href, ...page })),
    ...accounts
      .filter(({ id, name }) => id !== account?.id && has(name, id))
      .map(({ id, name }) => ({ id, name, about: "Switch account", icon: "account" as const, account: id })),
    ...found.filter(({ id, name, about }) => has(id, name, about ?? "")).slice(0, MOST_THINGS),
    ...emails
      .filter(({ subject, recipientEmail }) => has(subject, recipientEmail))
      .slice(0, MOST_EMAILS)
      .map(({ messageId, subject, recipientEmail }) => ({ id: messageId, name: subject || "(no subject)", about: recipientEmail, icon: "activity" as const, href: `/app/activity/${messageId}` })),
    ...(isAddress ? [] : all),
  ];
}
