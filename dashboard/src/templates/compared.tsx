// Two texts and what differs between them.

import { difference } from "./difference";

const SIGNS = { same: " ", removed: "−", added: "+", skipped: " " };
const WORDS = { removed: "Removed: ", added: "Added: " } as Record<string, string>;

interface Properties {
  name: string;
  before: string;
  after: string;
}

export function Compared({ name, before, after }: Properties) {
  return (
    <pre class="compared" tabIndex={0} role="region" aria-label={name}>
      {difference(before, after).map(({ kind, text }, at) => (
        <span key={at} class={kind}>
          <i aria-hidden="true">{SIGNS[kind]}</i>
          {WORDS[kind] && <span class="hidden">{WORDS[kind]}</span>}
          {`${text}\n`}
        </span>
      ))}
    </pre>
  );
}
