// Shows the sign-in page, or the page of the address in the frame that all pages share.

import type { ComponentChildren } from "preact";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { Route, Router, useLocation } from "preact-iso/router";

import { NoAccount, OPERATOR_ROUTES, Passkeys, ROUTES, SharedRecords } from "./pages";
import SignIn from "./pages/sign-in";
import { Empty } from "./parts/basics";
import { Invitations } from "./parts/invitations";
import { Loading, Notice } from "./parts/notice";
import { Toasts } from "./parts/toast";
import { farewell, renew, session, type Session } from "./session";
import { Shell } from "./shell";

const RETRY = 5_000; // milliseconds
const SHARED = "/app/dns";

export function App() {
  const { path, url } = useLocation();
  const [down, setDown] = useState(false);
  const typed = useRef(false);
  useEffect(() => {
    typed.current = false;
    const note = () => (typed.current = true);
    addEventListener("input", note);
    return () => removeEventListener("input", note);
  }, [url]);
  useEffect(() => {
    if (session.value !== undefined || path === "/app/sign-in" || path === SHARED) return;
    let timer = 0;
    const begin = () =>
      renew().then(
        () => setDown(false),
        () => {
          setDown(true);
          timer = window.setTimeout(begin, RETRY);
        },
      );
    void begin();
    return () => clearTimeout(timer);
  }, [path]);
  if (path === SHARED) {
    return (
      <Router>
        {[<Route path={SHARED} component={SharedRecords} key={SHARED} />]}
      </Router>
    );
  }
  // A page in which something was typed, or a window is open, waits below the sign-in; another one is of no use to who signs in.
  const ended = farewell.value !== "" && path !== "/app/sign-in";
  if (path === "/app/sign-in" || session.value === null || (ended && !typed.current && !document.querySelector("dialog[open]"))) {
    return <SignIn />;
  }
  if (!session.value) {
    return (
      <main class="alone">
        {down ? <Notice kind="bad">The service does not answer. It is asked again in a moment.</Notice> : <Loading />}
      </main>
    );
  }
  return (
    <>
      <Shell session={session.value}>
        {session.value.account && <Invitations />}
        <Pages key={`${session.value.user.id} ${session.value.account?.id}`} session={session.value} />
        <Toasts />
      </Shell>
      {ended && (
        <Above>
          <SignIn />
        </Above>
      )}
    </>
  );
}

/** Covers the page and all its windows. */
function Above({ children }: { children: ComponentChildren }) {
  const place = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = place.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      // Later, because the browser moves the focus when the element is removed.
      requestAnimationFrame(() => before instanceof HTMLElement && before.focus());
    };
  }, []);
  return (
    <dialog class="above" ref={place} aria-label="Sign in" onCancel={(event) => event.preventDefault()} onClose={() => place.current?.isConnected && place.current.showModal()}>
      {children}
    </dialog>
  );
}

function Pages({ session: { account, user } }: { session: Session }) {
  const { url } = useLocation();
  const [failure, recover] = useErrorBoundary((error) => console.error(error));
  useEffect(recover, [url]);
  if (failure) return <Notice kind="bad">This page has failed. Load it again, or open another one.</Notice>;
  return (
    <Router>
      {[...(account ? ROUTES : []), ...(user.operator ? OPERATOR_ROUTES : [])].map(({ path, component }) => (
        <Route path={path} component={component} key={path} />
      ))}
      <Route path="/app/passkeys" component={Passkeys} />
      <Route default component={account ? Missing : user.passkeyNeeded ? Passkeys : NoAccount} />
    </Router>
  );
}

function Missing() {
  return (
    <Empty icon="search" title="There is no such page">
      <p>
        <a href="/app/">Go to the overview</a>
      </p>
    </Empty>
  );
}
