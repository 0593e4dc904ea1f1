// The frame of every page: navigation, account and menu.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";

import { attempt } from "./action";
import icon from "./icon.svg";
import { INBOX } from "./inbox";
import { type Entry, NAVIGATION, OPERATOR_NAVIGATION } from "./navigation";
import { holdTyping } from "./keys";
import { Segments } from "./parts/basics";
import { Icon } from "./parts/icon";
import { chooseAccount, type Session, signOut } from "./session";
import { THEMES, theme } from "./theme";

type Palette = typeof import("./later").Palette;

export function Shell({ session, children }: { session: Session; children: ComponentChildren }) {
  const { path } = useLocation();
  const [palette, setPalette] = useState<{ Palette: Palette; typed: () => string }>();
  const loading = useRef(false);
  async function load() {
    if (loading.current) return;
    loading.current = true;
    const typed = holdTyping();
    try {
      const { Palette } = await import("./later");
      setPalette({ Palette, typed });
    } catch (failure) {
      typed();
      throw failure;
    } finally {
      loading.current = false;
    }
  }
  const jump = () => attempt(load);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== "k" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
      event.preventDefault(); // browsers search with it
      if (!document.querySelector("dialog[open]")) jump();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  useEffect(() => {
    for (const id of ["navigation", "menu"]) hide(id);
  }, [path]);
  return (
    <div class="shell">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="side">
        <a class="brand" href="/app/">
          <img src={icon} alt="" width="24" height="24" /> Pillarbox
        </a>
        {(session.account || session.user.operator) && (
          <button type="button" class="button plain narrow" popovertarget="navigation" aria-label="Pages">
            <Icon name="menu" />
          </button>
        )}
        <button type="button" class="account" popovertarget="menu">
          <span>
            <b>{session.account?.name ?? "No account"}</b>
            {session.account ? <small class="plan">{session.account.plan} plan</small> : <small>{session.user.email}</small>}
          </span>
          <Icon name="down" />
        </button>
        <Menu session={session} />
        <button type="button" class="jump" aria-label="Jump to…" aria-keyshortcuts="Control+K Meta+K" onClick={jump}>
          <Icon name="search" /> <span>Jump to…</span> <kbd aria-hidden="true">{/Mac|iP/.test(navigator.platform) ? "⌘K" : "Ctrl K"}</kbd>
        </button>
        <nav id="navigation" popover="auto" aria-label="Pages">
          {session.account && <Links to={NAVIGATION} path={path} />}
          {INBOX && (
            <a href={INBOX}>
              <Icon name="activity" /> Inbox of this stack
            </a>
          )}
          {session.user.operator && (
            <>
              <h2>Operator</h2>
              <Links to={OPERATOR_NAVIGATION} path={path} />
            </>
          )}
        </nav>
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      {palette && <palette.Palette typed={palette.typed} onClose={() => setPalette(undefined)} />}
    </div>
  );
}

function Links({ to, path }: { to: Entry[]; path: string }) {
  return (
    <>
      {to.map(({ href, name, icon }) => (
        <a key={href} href={href} aria-current={isCurrent(href, path) ? "page" : undefined}>
          <Icon name={icon} /> {name}
        </a>
      ))}
    </>
  );
}

function Menu({ session }: { session: Session }) {
  async function choose(id: string) {
    hide("menu");
    await chooseAccount(id);
  }
  return (
    <div id="menu" class="menu" popover="auto">
      <p class="who">
        {session.user.email}
        {session.role && <small>{session.role}</small>}
      </p>
      {session.accounts.length > 1 && (
        <ul aria-label="Accounts">
          {session.accounts.map(({ id, name }) => (
            <li key={id}>
              <button type="button" aria-current={id === session.account?.id} onClick={() => attempt(() => choose(id))}>
                {name} {id === session.account?.id && <Icon name="check" />}
              </button>
            </li>
          ))}
        </ul>
      )}
      <a href="/app/passkeys">Passkeys</a>
      <Segments name="Colours" of={THEMES} value={theme.value} onChange={(name) => (theme.value = name)} />
      <button type="button" onClick={() => attempt(() => signOut())}>
        Sign out
      </button>
    </div>
  );
}

function hide(id: string) {
  const element = document.getElementById(id);
  if (element?.matches(":popover-open")) element.hidePopover();
}

function isCurrent(href: string, path: string): boolean {
  const place = href.replace(/\/$/, "");
  return place === "/app" ? path === place : path === place || path.startsWith(`${place}/`);
}
