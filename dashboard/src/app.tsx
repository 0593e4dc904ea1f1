// Shows the sign-in page, or the page of the address in the frame that all pages share.

import { useEffect, useErrorBoundary, useState } from "preact/hooks";
import { Route, Router, useLocation } from "preact-iso/router";

import { attempt } from "./action";
import { OPERATOR_ROUTES, ROUTES } from "./pages";
import SignIn from "./pages/sign-in";
import { Empty, Page } from "./parts/basics";
import { Loading, Notice } from "./parts/notice";
import { toast, Toasts } from "./parts/toast";
import { renew, session } from "./session";
import { Shell } from "./shell";

const RETRY = 5_000; // milliseconds

export function App() {
  const { path } = useLocation();
  const [down, setDown] = useState(false);
  useEffect(() => {
    if (session.value !== undefined || path === "/app/sign-in") return;
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
      {session.value.account || operates(path) ? (
        <Pages key={session.value.account?.id} />
      ) : (
        <NoAccount email={session.value.user.email} />
      )}
      <Toasts />
    </Shell>
  );
}

function Pages() {
  const { url } = useLocation();
  const [failure, recover] = useErrorBoundary();
  useEffect(recover, [url]);
  if (failure) return <Notice kind="bad">This page has failed. Load it again, or open another one.</Notice>;
  return (
    <Router>
      {[...ROUTES, ...(session.value?.user.operator ? OPERATOR_ROUTES : [])].map(({ path, component }) => (
        <Route path={path} component={component} key={path} />
      ))}
      <Route default component={Missing} />
    </Router>
  );
}

/** Return whether an operator has opened a page that needs no account. */
function operates(path: string): boolean {
  return !!session.value?.user.operator && `${path}/`.startsWith("/app/operator/");
}

function NoAccount({ email }: { email: string }) {
  const look = async () => {
    if (!(await renew())?.account) toast("You are still in no account.");
  };
  return (
    <Page title="You are in no account">
      <p class="lead">
        You are signed in as <b>{email}</b>. Ask an owner of your team’s account to add this address.
      </p>
      <p>
        <button type="button" class="button" onClick={() => attempt(look)}>
          Look again
        </button>
      </p>
    </Page>
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
