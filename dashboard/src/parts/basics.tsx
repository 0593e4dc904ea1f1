// Small parts that every page uses.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { exact, relative } from "../format";
import { may } from "../rights";
import { Icon, type IconName } from "./icon";
import { toast } from "./toast";

/** The head of a page; its heading gets the focus when a link has led here. */
export function Page(props: { title: string; actions?: ComponentChildren; children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${props.title} · Pillarbox`;
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, [props.title]);
  return (
    <div class="page">
      <header class="head">
        <h1 ref={heading} tabIndex={-1}>
          {props.title}
        </h1>
        {props.actions && <div class="actions">{props.actions}</div>}
      </header>
      {props.children}
    </div>
  );
}

const BOXES = { Sent: "/app/activity", Received: "/app/activity/received" };

/** The lists of sent and of received mail, for who may see both. */
export function Boxes({ here }: { here: string }) {
  if (!may("content")) return null;
  return (
    <nav class="segments" aria-label="Sent or received">
      {Object.entries(BOXES).map(([name, href]) => (
        <a href={href} key={href} aria-current={href === here ? "page" : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}

/** Let a long address break before its domain rather than inside it. */
export function breakable(address: string) {
  const at = address.lastIndexOf("@");
  return at < 0 ? address : [address.slice(0, at), <wbr key="at" />, address.slice(at)];
}

/** A state; a quiet one is a dot and a word, for lists in which most rows have the same. */
export function Badge({ status, quiet, children }: { status: string; quiet?: boolean; children?: ComponentChildren }) {
  return <span class={`badge is-${status}${quiet ? " quiet" : ""}`}>{children ?? status}</span>;
}

export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={exact(at)}>
      {relative(at)}
    </time>
  );
}

export function Empty(props: { icon: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={props.icon} />
      <h2>{props.title}</h2>
      {props.children}
    </div>
  );
}

/** Text that a program needs, with a button that copies it. */
export function Code({ text }: { text: string }) {
  return (
    <div class="code">
      <pre tabIndex={0}>{text}</pre>
      <Copy text={text} />
    </div>
  );
}

const SHOWN = 1_500; // milliseconds

/** A button that copies a text; `label` says which one, if a page has several. */
export function Copy({ text, label, children = "Copy" }: { text: string; label?: string; children?: ComponentChildren }) {
  const [copied, setCopied] = useState(false);
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      toast("The browser did not let the page copy. Select the text, and copy it yourself.", true);
      return;
    }
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN);
  }
  return (
    <button type="button" class="button small" aria-label={copied ? "Copied" : label} onClick={() => void copy()}>
      <Icon name={copied ? "check" : "copy"} />
      <span aria-live="polite">{copied ? "Copied" : children}</span>
    </button>
  );
}

export function Field(props: { label: string; hint?: string; error?: string; children: ComponentChildren }) {
  return (
    <label class="field">
      <span class="label">{props.label}</span>
      {props.children}
      {props.hint && <span class="hint">{props.hint}</span>}
      {props.error && (
        <span class="error" role="alert">
          {props.error}
        </span>
      )}
    </label>
  );
}

/** What is known of something; what is null or empty is left out. */
export function Facts({ of }: { of: Record<string, ComponentChildren> }) {
  return (
    <dl class="facts">
      {Object.entries(of).map(
        ([name, value]) =>
          value && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** A few values side by side, of which one is chosen. */
export function Segments<T extends string>({ name, of, value, onChange }: { name: string; of: readonly T[]; value: T; onChange: (value: T) => void }) {
  return (
    <fieldset class="segments">
      <legend class="hidden">{name}</legend>
      {of.map((one) => (
        <label key={one}>
          <input type="radio" name={name} checked={one === value} onChange={() => onChange(one)} />
          <span>{one}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** The tags of an email. */
export function Tags({ tags }: { tags: Record<string, string> }) {
  return (
    <>
      {Object.entries(tags).map(([name, value]) => (
        <span class="tag" key={name}>
          {` ${name}:${value}`}
        </span>
      ))}
    </>
  );
}

/** Give a field the focus as soon as it is there. */
export function focus(field: HTMLInputElement | null): void {
  field?.focus();
}
