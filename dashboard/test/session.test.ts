// The token of a session: renewed, shared, and gone when the session ends.

import { deepEqual, equal, rejects } from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { keepAnswers } from "../src/answers";
import { call } from "../src/api";
import { may } from "../src/rights";
import type { AccessToken, Role } from "../src/schema";
import { bearer, chooseAccount, farewell, renew, session, signIn, signOut } from "../src/session";
import { anew, answering, type Asked, pass, refusal } from "./browser";

const CHOSEN = "pillarbox.account";
let tokens: number;

beforeEach(() => {
  anew();
  tokens = 0;
  session.value = undefined;
  farewell.value = "";
});

function begun(account = "a", role: Role = "owner"): AccessToken {
  tokens += 1;
  return { token: `token ${tokens}`, expiresIn: 900, user: { id: "u", email: "ada@shop.example" }, account: { id: account, name: account }, role, accounts: [] } as unknown as AccessToken;
}

/** Answer each exchange of the cookie with a new token, and other requests with `answer`. */
function serving(answer: (asked: Asked) => [number, unknown?] = () => [200, { items: [] }]) {
  return answering((asked) => {
    if (asked.path !== "session/token") return answer(asked);
    return [200, begun((asked.body as { accountId?: string }).accountId)];
  });
}

const paths = (asked: Asked[]) => asked.map(({ path }) => path);

test("callers at the same time share one exchange of the cookie", async () => {
  const asked = serving();
  deepEqual(await Promise.all([bearer(), bearer(), renew()]).then(([one, two]) => [one, two]), ["token 1", "token 1"]);
  deepEqual(paths(asked), ["session/token"]);
});

test("a token is used until its last minute, and then replaced", async () => {
  serving();
  await renew();
  await pass(839_999);
  equal(await bearer(), "token 1");
  await pass(1);
  equal(await bearer(), "token 2");
});

test("a token that is refused is replaced once, and the request is sent again", async () => {
  const asked = serving(({ headers }) => (headers["Authorization"] === "Bearer token 1" ? [401, refusal("invalid_session")] : [200, { items: [] }]));
  deepEqual(await call("GET /v1/keys"), { items: [] });
  deepEqual(paths(asked), ["session/token", "keys", "session/token", "keys"]);
  deepEqual(asked.at(-1)?.headers["Authorization"], "Bearer token 2");
});

test("a session that was ended elsewhere is said, and its answers are forgotten", async () => {
  const kept = keepAnswers<number>();
  serving();
  await renew();
  kept.set("x", { data: 1, at: new Date() });
  answering(() => [401, refusal("invalid_session")]);
  equal(await renew(), null);
  deepEqual([farewell.value, kept.size, await bearer()], ["Your session has ended. Sign in again.", 0, null]);
  equal(session.value?.user.id, "u"); // a page may wait for the same user
});

test("who is not signed in gets no farewell", async () => {
  answering(() => [401, refusal("invalid_session")]);
  equal(await bearer(), null);
  deepEqual([session.value, farewell.value], [null, ""]);
});

test("a service that does not answer ends no session", async () => {
  serving();
  await renew();
  answering(() => [503]);
  await rejects(renew(), /does not answer/);
  equal(session.value?.token, "token 1");
});

test("a tab keeps its account, and takes another one if the user has left it", async () => {
  const asked = serving();
  await chooseAccount("b");
  equal(session.value?.account?.id, "b");
  answering((one) => {
    asked.push(one);
    return (one.body as { accountId?: string }).accountId ? [422, refusal("validation_failed")] : [200, begun("a")];
  });
  await renew();
  deepEqual(asked.map(({ body }) => body), [{ accountId: "b" }, { accountId: "b" }, {}]);
  deepEqual([session.value?.account?.id, sessionStorage.getItem(CHOSEN)], ["a", "a"]);
});

test("another account or user forgets the answers of the former one", async () => {
  const kept = keepAnswers<number>();
  serving();
  await renew();
  kept.set("x", { data: 1, at: new Date() });
  await renew();
  equal(kept.size, 1);
  await chooseAccount("b");
  equal(kept.size, 0);
});

test("a sign-out ends the session and forgets the drafts, also if it had ended already", async () => {
  for (const status of [204, 401]) {
    serving(() => [status, status === 401 ? refusal("invalid_session") : undefined]);
    await renew();
    sessionStorage.setItem("pillarbox.draft.t", "{}");
    await signOut();
    deepEqual([session.value, sessionStorage.getItem("pillarbox.draft.t"), farewell.value], [null, null, ""]);
  }
});

test("without an answer to a sign-out the user stays signed in", async () => {
  serving(() => [500]);
  await renew();
  await rejects(signOut(), /does not answer/);
  equal(session.value?.token, "token 1");
});

test("a sign-in takes the farewell away", async () => {
  farewell.value = "Your session has ended.";
  const asked = answering(() => [200, begun()]);
  await signIn({ link: "secret" });
  deepEqual([asked[0]?.body, farewell.value, session.value?.role], [{ link: "secret" }, "", "owner"]);
});

test("each role may change what its row says", () => {
  const changes = ["domains", "keys", "suppressions", "members", "account", "webhooks", "templates"] as const;
  const allowed = (role: Role | null) => {
    session.value = { ...begun(), role };
    return changes.filter(may);
  };
  deepEqual(allowed("owner"), changes);
  deepEqual(allowed("developer"), ["domains", "keys", "suppressions", "webhooks", "templates"]);
  deepEqual(allowed("author"), ["templates"]);
  deepEqual([allowed("viewer"), allowed(null)], [[], []]);
});
