// Who is signed in: a token in memory, renewed with a cookie that no script can read.

import { signal } from "@preact/signals";

import { ApiError, exchange } from "./http";

export interface Account {
  id: string;
  name: string;
}

export interface Session {
  token: string;
  expiresIn: number;
  user: { id: string; email: string; operator: boolean };
  account: (Account & { plan: string }) | null;
  role: string | null;
  accounts: (Account & { role: string })[];
}

/** Undefined until the service has answered; null if nobody is signed in. */
export const session = signal<Session | null | undefined>(undefined);
/** Why nobody is signed in, if it needs saying. */
export const farewell = signal("");

const MARGIN = 60_000; // milliseconds before the token expires
const CHOSEN = "pillarbox.account"; // of this tab: two tabs can show two accounts

let expires = 0;
let renewal: Promise<Session | null> | undefined;

/** Return a token that is valid for a while, or null if nobody is signed in. */
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
  const account = sessionStorage.getItem(CHOSEN);
  try {
    return begin(await post("/v1/session/token", account ? { account } : {}));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (account && error.status === 422) {
      sessionStorage.removeItem(CHOSEN); // the user has left this account
      return exchangeCookie();
    }
    if (error.status !== 401) throw error;
    if (session.value) farewell.value = "Your session has ended. Sign in again.";
    session.value = null;
    return null;
  }
}

/** Ask for a code by email; return what the code belongs to. */
export async function requestCode(email: string): Promise<string> {
  return (await post<{ flow: string }>("/v1/session/codes", { email })).flow;
}

/** Sign in with a code, or with what follows the # of a link. */
export async function signIn(proof: { flow: string; code: string } | { link: string }) {
  begin(await post("/v1/session", proof));
  farewell.value = "";
}

export async function signOut(): Promise<void> {
  const token = session.value?.token;
  session.value = null;
  sessionStorage.removeItem(CHOSEN);
  if (token) {
    await exchange("DELETE", "/v1/session", { headers: { Authorization: `Bearer ${token}` } });
  }
}

export async function chooseAccount(id: string): Promise<void> {
  sessionStorage.setItem(CHOSEN, id);
  await renew();
}

function post<T>(path: string, body: object): Promise<T> {
  return exchange<T>("POST", path, { body });
}

function begin(answer: Session): Session {
  expires = Date.now() + answer.expiresIn * 1000;
  if (answer.account) sessionStorage.setItem(CHOSEN, answer.account.id);
  session.value = answer;
  return answer;
}
