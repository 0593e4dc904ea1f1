// Shows the sign-in page, or the page of the address in the frame that all pages share.

import { useEffect, useErrorBoundary, useState } from "preact/hooks";
import { Route, Router, useLocation } from "preact-iso/router";

import { NoAccount, OPERATOR_ROUTES, Passkeys, ROUTES, SharedRecords } from "./pages";
import SignIn from "./pages/sign-in";
import { Empty } from "./parts/basics";
import { Invitations } from "./parts/invitations";
import { Loading, Notice } from "./parts/notice";
import { Toasts } from "./parts/toast";
import { renew, session, type Session } from "./session";
import { Shell } from "./shell";

const RETRY = 5_000; // milliseconds
const SHARED = "/app/dns";

export function App() {
  const { path } = useLocation();
  const [down, setDown] = useState(false);
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
  if (path === "/app/sign-in" || session.value === null) {
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
    <Shell session={session.value}>
      {session.value.account && <Invitations />}
      <Pages key={session.value.account?.id} session={session.value} />
      <Toasts />
    </Shell>
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
