// The state of an invitation, and what it means to remove a member or to take an owner's rights.

import type { Member, Role } from "../schema";

const LIFETIME = 7 * 86_400_000; // milliseconds, of the link in the email

/** Whether the link of an invitation no longer signs in. A code still does, so that the person can join. */
export const hasExpired = (invitedAt: string, now = Date.now()) => now - Date.parse(invitedAt) >= LIFETIME;

/** Return the words for removing a member, for leaving, and for withdrawing an invitation. */
export function removal({ email, current, pending }: Member) {
  if (current) return { button: "Leave", label: "Leave the account", title: "Leave this account?", answer: "Leave the account", loser: "You lose" };
  if (pending) return { button: "Withdraw", label: `Withdraw the invitation of ${email}`, title: `Withdraw the invitation of ${email}?`, answer: "Withdraw it", loser: "" };
  return { button: "Remove", label: `Remove ${email}`, title: `Remove ${email}?`, answer: "Remove the member", loser: "The member loses" };
}

export function article(role: Role): string {
  return /^[ao]/.test(role) ? `an ${role}` : `a ${role}`;
}

/** Return the words of the question before an owner gets another role. Other members are asked about without one. */
export function demotion({ email, role, current }: Member, to: Role) {
  if (role !== "owner") return undefined;
  if (current) return { title: "Give up the rights of an owner?", answer: `Make me ${article(to)}`, who: "You" };
  return { title: `Take the rights of an owner from ${email}?`, answer: `Make the member ${article(to)}`, who: email };
}
