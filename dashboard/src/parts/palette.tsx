// The window that jumps to a page, or to what the account has: a few letters, then Enter.

import { useEffect, useState } from "preact/hooks";

import { attempt } from "../action";
import { useResource } from "../resource";
import { may } from "../rights";
import { chooseAccount, session } from "../session";
import { useTemplates } from "../templates/list";
import { useGo } from "../windows";
import { Dialog } from "./dialog";
import { Icon } from "./icon";
import { type Jump, jumpsOf } from "./jumps";

const NEWEST = 50; // emails that are searched
const FINDS = "Page, template, domain, key, member, endpoint or email";

const reveal = (row: HTMLElement | null) => row?.scrollIntoView({ block: "nearest" });

interface Properties {
  /** Return what was typed before the window was there. */
  typed: () => string;
  onClose: () => void;
}

export function Palette({ typed, onClose }: Properties) {
  const now = session.value;
  const show = useGo();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  useEffect(() => setText(typed()), []); // the field has the focus now
  const asked = now?.account && text.trim() !== "";
  const things = {
    templates: useTemplates(!!asked).data,
    domains: useResource(asked ? "GET /v1/domains" : null).data?.items,
    keys: useResource(asked && may("keys") ? "GET /v1/keys" : null).data?.items.filter(({ revokedAt }) => !revokedAt),
    members: useResource(asked ? "GET /v1/members" : null).data?.items,
    endpoints: useResource(asked ? "GET /v1/webhooks" : null).data?.items,
    emails: useResource(asked ? "GET /v1/emails" : null, { query: { limit: NEWEST } }).data?.items,
  };
  const jumps = now ? jumpsOf(text, now, things) : [];
  const at = Math.min(chosen, jumps.length - 1);
  const go = ({ href, account }: Jump) => {
    onClose();
    if (href) show(href);
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
            aria-label={FINDS}
            aria-expanded
            aria-controls="jumps"
            aria-activedescendant={jumps[at] && `jump-${at}`}
            placeholder={FINDS}
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
        {jumps.length === 0 && <p class="hint">Nothing has these letters.</p>}
        {now?.account && <p class="hint">Of emails, the newest {NEWEST} by subject and recipient, and any by its message id; none by the Message-ID header.</p>}
      </div>
    </Dialog>
  );
}
