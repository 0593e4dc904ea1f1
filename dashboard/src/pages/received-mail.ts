// What is said of a received mail, and how it is answered once.

import { call } from "../api";
import { ApiError, sentence } from "../http";
import { once } from "../once";
import type { Automatic, ReceivedMail } from "../schema";

/** Why a mail is not answered. */
export const AUTOMATIC: Record<Automatic, string> = {
  reply: "The mail program of an absent person wrote this.",
  report: "A mail server wrote this, about a delivery.",
  list: "A mailing list sent this.",
};

const CHECKS = { spam: "spam", virus: "viruses", spf: "the sending server (SPF)", dkim: "the signature (DKIM)", dmarc: "the address (DMARC)" } as const;

/** Return the word for what matters most of a mail, its kind, and the sentence for it. */
export function stateOf({ from, verdicts, authenticated, automatic }: Pick<ReceivedMail, "from" | "verdicts" | "authenticated" | "automatic">): [string, string, string] {
  if (verdicts.virus === "fail") return ["virus", "failed", "Amazon SES found a virus. Open none of its files."];
  if (verdicts.spam === "fail") return ["spam", "bounced", "Amazon SES takes it for spam."];
  if (!authenticated) return ["not proven", "bounced", `Nothing proves that it is from ${from}: anybody can write any address.`];
  const proven = `${from.slice(from.lastIndexOf("@") + 1)} vouches for it.`;
  return automatic ? ["automatic", "pending", proven] : ["proven", "delivered", proven];
}

/** Return what the checks of a mail found, by outcome. */
export function checksOf(verdicts: ReceivedMail["verdicts"]): string {
  const of = (outcome: string) => (Object.keys(CHECKS) as (keyof typeof CHECKS)[]).filter((check) => verdicts[check] === outcome).map((check) => CHECKS[check]);
  const parts: [string, string[]][] = [["Passed", of("pass")], ["failed", of("fail")], ["not known", of("unknown")]];
  return parts.filter(([, checks]) => checks.length > 0).map(([word, checks]) => `${word}: ${checks.join(", ")}`).join("; ");
}

/** Answer a mail; return the id of the new email. Until an answer of the service has come, a further try sends nothing twice. */
export async function answer(id: string, body: { text: string; from?: string }): Promise<string> {
  try {
    const path = { received_id: id };
    const { messageId } = await once(`answer ${id}`, (idempotencyKey) => call("POST /v1/received/{received_id}/reply", { path, body, idempotencyKey }));
    return messageId;
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "idempotency_key_mismatch")) throw error;
    throw new Error("What you sent before has been sent, as it was then: see Activity. To send this one too, press Send again.");
  }
}

/** Return what is wrong with each field of a refused request, in sentences. */
export function faultsOf(error: unknown): Record<string, string> {
  const errors = error instanceof ApiError && error.details["errors"];
  return Object.fromEntries(Array.isArray(errors) ? errors.map((one) => [one.field, sentence(one)]) : []);
}
