// Sign in with a code that comes by email, or with a link.

import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";

import { attempt, useAction } from "../action";
import { ApiError } from "../http";
import icon from "../icon.svg";
import { keep as keepText, recall } from "../kept";
import { minute } from "../format";
import { Field, focus } from "../parts/basics";
import { Notice } from "../parts/notice";
import type { RequestedCode, SignInLink } from "../schema";
import { farewell, ownerOf, renew, requestCode, session, signIn, signInWithPasskey, supported } from "../session";

const FLOW = "pillarbox.flow"; // of this browser: the link of the email opens in another tab
const VALID = 600_000; // milliseconds
const DIGITS = 6; // of a code
/** What follows the # of the email's link: the first part of a flow, and the code. */
const BY_EMAIL = /^([^.]+)\.(\d{6,10})$/;

interface Flow extends RequestedCode {
  email: string;
  at: number;
}

/** Return the flow that this browser has begun, unless its code has expired. */
function begun(): Flow | null {
  try {
    const flow: Flow | null = JSON.parse(recall(FLOW) ?? "null");
    return flow && Date.now() - flow.at < VALID ? flow : null;
  } catch {
    return null; // not what this page has written
  }
}

export default function SignIn() {
  const { path, route } = useLocation();
  const [link, setLink] = useState(() => (path === "/app/sign-in" ? location.hash.slice(1) : ""));
  const [flow, setFlow] = useState<Flow | null>(begun);
  const [email, setEmail] = useState(flow?.email ?? session.value?.user.email ?? "");
  const [, start, code] = BY_EMAIL.exec(link) ?? [];
  const elsewhere = code !== undefined && flow?.flow.split(".")[0] !== start;
  const proof = code !== undefined && flow ? { flow: flow.flow, code } : { link };
  useEffect(() => {
    const before = document.title;
    document.title = "Sign in · Pillarbox";
    // The link of the email opens another tab. This one then has nothing left to ask.
    const follow = ({ key }: StorageEvent) => {
      if (key !== FLOW) return;
      setFlow(begun());
      if (!begun()) attempt(async () => void ((await renew()) && leave()));
    };
    addEventListener("storage", follow);
    return () => {
      removeEventListener("storage", follow);
      document.title = before;
    };
  }, []);

  function keep(next: Flow | null) {
    keepText(FLOW, next && JSON.stringify(next));
    setFlow(next);
  }
  async function enter(proof: Parameters<typeof signIn>[0]) {
    await signIn(proof);
    keep(null);
    leave();
  }
  /** Show the page that was asked for. This takes a link's secret out of the history too. */
  function leave() {
    if (path === "/app/sign-in") route("/app/", true);
  }
  return (
    <main class="alone">
      <div class="card sign-in">
        <img src={icon} alt="" width="40" height="40" />
        <h1>Sign in to Pillarbox</h1>
        {farewell.value && <Notice kind="note">{farewell.value}</Notice>}
        {elsewhere ? (
          <p>
            You asked for this code in another browser. Type it there: <b>{code}</b>
          </p>
        ) : link ? (
          <WithLink link={link} email={code === undefined ? undefined : flow?.email} onUse={() => enter(proof)} onLeave={() => setLink("")} />
        ) : flow ? (
          <WithCode of={flow} onCode={(code) => enter({ flow: flow.flow, code })} onLeave={() => keep(null)} />
        ) : (
          <>
            <WithAddress email={email} onEmail={setEmail} onFlow={keep} />
            {supported() && <WithPasskey onUsed={leave} />}
          </>
        )}
      </div>
    </main>
  );
}

function WithPasskey({ onUsed }: { onUsed: () => void }) {
  const { busy, error, run } = useAction(async () => {
    await signInWithPasskey();
    onUsed();
  });
  return (
    <>
      <button type="button" class="button" disabled={busy} onClick={run}>
        {busy ? "One moment…" : "Sign in with a passkey"}
      </button>
      {error && <Notice kind="bad">{error}</Notice>}
    </>
  );
}

interface AddressProperties {
  email: string;
  onEmail: (email: string) => void;
  onFlow: (flow: Flow) => void;
}

function WithAddress({ email, onEmail, onFlow }: AddressProperties) {
  const { busy, error, run } = useAction(async () => onFlow({ email, ...(await requestCode(email)), at: Date.now() }));
  return (
    <form onSubmit={run}>
      <Field label="Email address" error={error}>
        <input ref={focus} type="email" required autocomplete="email" value={email} onInput={(event) => onEmail(event.currentTarget.value.trim())} />
      </Field>
      <button class="button primary" disabled={busy}>
        {busy ? "One moment…" : "Send me a code"}
      </button>
      <p class="hint">No account yet? Enter your address too.</p>
    </form>
  );
}

function WithCode({ of: { email, newcomers }, onCode, onLeave }: { of: Flow; onCode: (code: string) => Promise<void>; onLeave: () => void }) {
  const [code, setCode] = useState("");
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (code.length === DIGITS) form.current?.requestSubmit();
  }, [code]);
  const { busy, error, run } = useAction(async () => {
    try {
      await onCode(code);
    } catch (failure) {
      setCode((now) => (now === code ? "" : now)); // unless the next one is being typed
      throw isRefused(failure) ? new Error("This code is wrong or has expired.") : failure;
    }
  });
  return (
    <form ref={form} onSubmit={run}>
      <p>
        If <b>{email}</b> may sign in, a code is on its way there. It is valid for 10 minutes, in this browser alone.
      </p>
      {newcomers && !newcomers.admitted && (
        <p class="hint">
          Only members of an account get one{newcomers.until ? ` until ${minute(newcomers.until)}: others have to wait.` : "."} If you have no account, ask an owner of your team's account or the operator of this service.
        </p>
      )}
      <Field label="Code" error={error}>
        <input
          class="digits"
          ref={focus}
          required
          inputMode="numeric"
          autocomplete="one-time-code"
          pattern="[0-9]{6,10}"
          maxLength={10}
          value={code}
          onInput={(event) => setCode((event.currentTarget.value = event.currentTarget.value.replace(/\D/g, "")))}
        />
      </Field>
      <button class="button primary" disabled={busy}>
        {busy ? "One moment…" : "Sign in"}
      </button>
      <button type="button" class="link" onClick={onLeave}>
        Use another address, or ask for a new code
      </button>
    </form>
  );
}

/** Whether a code or a link does not work. */
function isRefused(failure: unknown): boolean {
  return failure instanceof ApiError && failure.status === 401;
}

interface LinkProperties {
  link: string;
  /** Whom a code of this browser signs in. The service says it of other links. */
  email?: string | undefined;
  onUse: () => Promise<void>;
  onLeave: () => void;
}

/** Ask before a link is used, and say whom it signs in: it may be somebody else's, who has sent it. */
function WithLink({ link, email, onUse, onLeave }: LinkProperties) {
  const [owner, setOwner] = useState<Partial<SignInLink> | undefined>(email ? { email } : undefined);
  const invitation = owner?.invitation;
  const { busy, error, run } = useAction(async () => {
    try {
      if (owner) await onUse();
      else setOwner(await ownerOf(link));
    } catch (failure) {
      throw isRefused(failure) ? new Error("This link does not work: it was used, is too old, or is not the whole link. Sign in with a code, or ask for a new link.") : failure;
    }
  });
  useEffect(() => {
    if (!owner) void run();
  }, []);
  return (
    <form onSubmit={run}>
      {invitation && (
        <p>
          <b>{invitation.invitedBy ?? "The operator"}</b> invites you to the account <b>{invitation.name}</b>, with the role {invitation.role}. You are asked again before you join.
        </p>
      )}
      {owner && (
        <p>
          This link signs you in as <b>{owner.email}</b>, once. Do not use it if that is somebody else.
        </p>
      )}
      {error && <Notice kind="bad">{error}</Notice>}
      <button class="button primary" disabled={busy}>
        {busy ? "One moment…" : "Sign in"}
      </button>
      <button type="button" class="link" onClick={onLeave}>
        Sign in with a code instead
      </button>
    </form>
  );
}
