// The window that jumps to a page, an account or an email: a few letters, then Enter.

import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";

import { attempt } from "../action";
import { useResource } from "../resource";
import { chooseAccount, session } from "../session";
import { Dialog } from "./dialog";
import { Icon } from "./icon";
import { type Jump, jumpsOf } from "./jumps";

const NEWEST = 50; // emails that are searched

const reveal = (row: HTMLElement | null) => row?.scrollIntoView({ block: "nearest" });

interface Properties {
  /** Return what was typed before the window was there. */
  typed: () => string;
  onClose: () => void;
}

export function Palette({ typed, onClose }: Properties) {
  const now = session.value;
  const { route } = useLocation();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  useEffect(() => setText(typed()), []); // the field has the focus now
  const emails = useResource(now?.account ? "GET /v1/emails" : null, { query: { limit: NEWEST } });
  const jumps = now ? jumpsOf(text, now, emails.data?.items ?? []) : [];
  const at = Math.min(chosen, jumps.length - 1);
  const go = ({ href, account }: Jump) => {
    onClose();
    if (href) route(href);
    else if (account) attempt(() => chooseAccount(account));
  };
  function press(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && jumps.length) setChosen((at + step + jumps.length) % jumps.length);
    else if (event.key === "Enter" && jumps[at]) go(jumps[at]);
    else return;
    event.preventDefault();
  }
  return (
    <Dialog title="Jump to" onClose={onClose}>
      {/* A window asks before it forgets what was entered, and this is nothing to keep. */}
      <div class="palette" onInput={(event) => event.stopPropagation()}>
        <div class="search">
          <Icon name="search" />
          <input
            type="text"
            role="combobox"
            aria-label="Page, account, address or message id"
            aria-expanded
            aria-controls="jumps"
            aria-activedescendant={jumps[at] && `jump-${at}`}
            placeholder="Page, account, address or message id"
            autocomplete="off"
            spellcheck={false}
            value={text}
            onInput={(event) => {
              setText(event.currentTarget.value);
              setChosen(0);
            }}
            onKeyDown={press}
          />
        </div>
        <ul id="jumps" role="listbox" aria-label="Places">
          {jumps.map((jump, index) => (
            <li key={jump.id} id={`jump-${index}`} role="option" aria-selected={index === at} ref={index === at ? reveal : null} onPointerMove={() => setChosen(index)} onClick={() => go(jump)}>
              <Icon name={jump.icon} /> <span>{jump.name}</span> {jump.about && <small>{jump.about}</small>}
            </li>
          ))}
        </ul>
        {jumps.length === 0 && <p class="hint">Nothing has these letters. An address or a message id finds emails.</p>}
      </div>
    </Dialog>
  );
}
