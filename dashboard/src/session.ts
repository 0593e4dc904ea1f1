// Who is signed in: a token in memory, renewed with a cookie that no script can read.

import { signal } from "@preact/signals";

import { forgetAnswers } from "./answers";
import { ApiError, exchange } from "./http";
import { forgetKept, keep, recall } from "./kept";
import type { AccessToken, Operations, RequestedCode, SignInRequest } from "./schema";

export type Session = AccessToken;

/** Undefined until the service has answered; null if the user is not signed in. */
export const session = signal<Session | null | undefined>(undefined);
/** Why the session has ended, if the sign-in page has to say so. Until the next sign-in `session` is the one that ended. */
export const farewell = signal("");
/** Counts the sign-ins after a farewell: what a page had asked for then has to be asked again. */
export const signIns = signal(0);

const MARGIN = 60_000; // milliseconds before the token expires
const CHOSEN = "pillarbox.account"; // of this tab: two tabs can show two accounts

let expires = 0;
let renewal: Promise<Session | null> | undefined;

/** Return a token that is valid for a while, or null if the user is not signed in. */
export async function bearer(): Promise<string | null> {
  if (session.value && Date.now() < expires - MARGIN) return session.value.token;
  return (await renew())?.token ?? null;
}

/** Exchange the cookie for a new token; simultaneous callers share one request. */
export function renew(): Promise<Session | null> {
  renewal ??= exchangeCookie().finally(() => (renewal = undefined));
  return renewal;
}

async function exchangeCookie(): Promise<Session | null> {
  const account = recall(CHOSEN, "sessionStorage");
  try {
    return begin(await post("POST /v1/session/token", account ? { accountId: account } : {}));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (account && error.status === 422) {
      keep(CHOSEN, null, "sessionStorage"); // the user has left this account
      return exchangeCookie();
    }
    if (error.status !== 401) throw error;
    if (!session.value) end();
    else {
      farewell.value = "Your session has ended. Sign in again.";
      expires = 0;
      forgetAnswers();
    }
    return null;
  }
}

/** Ask for a code by email; return what the code belongs to, and whether newcomers get one. */
export function requestCode(email: string): Promise<RequestedCode> {
  return post("POST /v1/session/codes", { email });
}

/** Return whom a link would sign in, and who invites the user to which account. */
export const ownerOf = (link: string) => post("POST /v1/session/links", { link });

/** Sign in with a code, or with what follows the # of a link. */
export async function signIn(proof: SignInRequest): Promise<void> {
  begin(await post("POST /v1/session", proof));
}

/** Whether this browser has passkeys. */
export const supported = () => "PublicKeyCredential" in window;

/** Load what asks for passkeys: few sign-ins need it. */
export const passkeys = () =>
  import("./passkeys").catch(() => {
    throw new Error("A part of this page could not be loaded. Load the page again.");
  });

/** Sign in with a passkey that the user chooses. */
export async function signInWithPasskey(): Promise<void> {
  const [{ askForPasskey }, challenge] = await Promise.all([passkeys(), post("POST /v1/session/passkeys/challenges")]);
  const answer = await askForPasskey(challenge);
  begin(await post("POST /v1/session/passkeys", answer));
  farewell.value = "";
}

/** End the session, for all tabs, or every session of the user. If the service does not answer, the user stays signed in. */
export async function signOut(everywhere = false): Promise<void> {
  const token = await bearer();
  try {
    if (token) await exchange("DELETE", `/v1/session${everywhere ? "?all=true" : ""}`, { headers: { Authorization: `Bearer ${token}` } });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error; // it has ended already
  }
  forgetKept(); // also drafts
  end();
  farewell.value = "";
}

export async function chooseAccount(id: string): Promise<void> {
  keep(CHOSEN, id, "sessionStorage");
  await renew();
}

type Posted = "POST /v1/session" | `POST /v1/session/passkeys${"" | "/challenges"}` | "POST /v1/session/codes" | "POST /v1/session/links" | "POST /v1/session/token";

function post<N extends Posted>(name: N, body?: Operations[N]["body"]): Promise<Operations[N]["response"]> {
  return exchange("POST", name.slice("POST ".length), { body });
}

function begin(answer: Session): Session {
  const before = session.value;
  // Also if another user has signed in, in another tab.
  if (before?.account?.id !== answer.account?.id || before?.user.id !== answer.user.id) forgetAnswers();
  expires = Date.now() + answer.expiresIn * 1000;
  if (answer.account) keep(CHOSEN, answer.account.id, "sessionStorage");
  session.value = answer;
  if (farewell.value) signIns.value += 1;
  farewell.value = "";
  return answer;
}

function end(): void {
  session.value = null;
  forgetAnswers();
}
