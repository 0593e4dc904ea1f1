// The values of the preview: a field for each variable of the template, or all of them as JSON.

import { useEffect, useState } from "preact/hooks";

import { Ask } from "../parts/ask";
import { Field } from "../parts/basics";
import { Icon } from "../parts/icon";
import type { TemplateVariable } from "../schema";
import type { Draft, Values } from "./draft";
import { isObject, type Place, places, read, renamed, typed, valuesOf, write } from "./samples";

interface Properties {
  draft: Draft;
  readOnly: boolean;
  variables: TemplateVariable[];
  set: string;
  onSet: (name: string) => void;
  onGo: (line: number) => void;
}

export function Variables({ draft, readOnly, variables, set, onSet, onGo }: Properties) {
  const [naming, setNaming] = useState<"add" | "rename">();
  const [asJson, setAsJson] = useState(false);
  const { samples } = draft.content.value;
  const names = Object.keys(samples);
  const values = valuesOf(draft.content.value, set);
  const change = (changed: Values) => draft.change({ samples: { ...samples, [set]: changed } });
  function remove() {
    const { [set]: _, ...others } = samples;
    draft.change({ samples: others });
    onSet(Object.keys(others)[0] ?? "");
  }
  function add(name: string) {
    draft.change({ samples: { ...samples, [name]: values } });
    onSet(name);
  }
  /** Give the chosen set another name, at its place in the list. */
  function rename(name: string) {
    draft.change({ samples: renamed({ ...samples, [set]: values }, set, name) });
    onSet(name);
  }
  return (
    <section class="values" aria-label="Variables">
      <header>
        <h2>Variables</h2>
        <select aria-label="Sample set" value={set} onChange={(event) => onSet(event.currentTarget.value)}>
          {(names.includes(set) ? names : [...names, set]).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        {!readOnly && (
          <>
            <button type="button" class="button small" aria-label="Add a sample set" onClick={() => setNaming("add")}>
              <Icon name="plus" />
            </button>
            <button type="button" class="button small" aria-label={`Rename the sample set ${set}`} onClick={() => setNaming("rename")}>
              <Icon name="pencil" />
            </button>
            {names.length > 1 && (
              <button type="button" class="button small" aria-label={`Delete the sample set ${set}`} onClick={remove}>
                <Icon name="close" />
              </button>
            )}
          </>
        )}
        <label class="check">
          <input type="checkbox" checked={asJson} onChange={() => setAsJson(!asJson)} /> JSON
        </label>
      </header>
      {asJson ? (
        <Json key={set} readOnly={readOnly} label="Values as JSON" value={values} accept={isObject} onChange={(value) => change((value ?? {}) as Values)} />
      ) : (
        places(variables).map((place) => (
          <Value key={`${set} ${place.path}`} of={place} readOnly={readOnly} value={read(values, place.path)} onChange={(value) => change(write(values, place.path, value))} onGo={onGo} />
        ))
      )}
      {!asJson && variables.length === 0 && (
        <p class="hint">
          The template has no variables. Write <code>{"{{ name }}"}</code> in the source or the subject.
        </p>
      )}
      {naming === "add" && (
        <NameSet title="Add a sample set" hint="It begins with the values of the current set." answer="Add set" names={names} onName={add} onClose={() => setNaming(undefined)} />
      )}
      {naming === "rename" && (
        <NameSet title={`Rename ${set}`} answer="Rename set" before={set} names={names.filter((name) => name !== set)} onName={rename} onClose={() => setNaming(undefined)} />
      )}
    </section>
  );
}

interface ValueProperties {
  of: Place;
  readOnly: boolean;
  value: unknown;
  onChange: (value: unknown) => void;
  onGo: (line: number) => void;
}

function Value({ of: { path, variable, entries }, readOnly, value, onChange, onGo }: ValueProperties) {
  const { line, required, default: fallback, type } = variable;
  const isList = type === "list" || entries.length > 0;
  return (
    <div class="value">
      <p>
        {line ? (
          <button type="button" class="link" title={`Go to line ${line}`} onClick={() => onGo(line)}>
            <code>{path}</code>
          </button>
        ) : (
          <code>{path}</code>
        )}
        <span class="hint">{isList ? "list" : required ? "required" : "optional"}</span>
      </p>
      {isList || (typeof value === "object" && value !== null) ? (
        <Json readOnly={readOnly} label={path} value={value} accept={Array.isArray} placeholder={example(entries)} onChange={onChange} />
      ) : (
        <input
          aria-label={path}
          readOnly={readOnly}
          value={value === undefined || value === null ? "" : String(value)}
          placeholder={typeof fallback === "string" ? fallback : ""}
          onInput={(event) => onChange(typed(event.currentTarget.value, value))}
        />
      )}
    </div>
  );
}

interface JsonProperties {
  readOnly: boolean;
  label: string;
  value: unknown;
  accept: (value: unknown) => boolean;
  placeholder?: string;
  onChange: (value: unknown) => void;
}

/** A value as JSON. What is no valid value stays in the field, and changes nothing. */
function Json({ readOnly, label, value, accept, placeholder, onChange }: JsonProperties) {
  const shown = value === undefined ? "" : JSON.stringify(value, null, 2);
  const [text, setText] = useState(shown);
  const [error, setError] = useState("");
  useEffect(() => {
    // Unless the author is writing the same value differently.
    if (!error && JSON.stringify(parse(text)) !== JSON.stringify(value)) setText(shown);
  }, [shown]);
  function change(next: string) {
    setText(next);
    const parsed = parse(next);
    const valid = next.trim() === "" || accept(parsed);
    setError(valid ? "" : "This is no valid JSON of the right kind yet.");
    if (valid) onChange(parsed);
  }
  return (
    <>
      <textarea aria-label={label} readOnly={readOnly} aria-invalid={!!error} spellcheck={false} rows={Math.min(14, Math.max(4, text.split("\n").length))} placeholder={placeholder} value={text} onInput={(event) => change(event.currentTarget.value)} />
      {error && <p class="error">{error}</p>}
    </>
  );
}

interface NameSetProperties {
  title: string;
  hint?: string;
  answer: string;
  before?: string;
  /** Those that are taken. */
  names: string[];
  onName: (name: string) => void;
  onClose: () => void;
}

function NameSet({ title, hint, answer, before = "", names, onName, onClose }: NameSetProperties) {
  const [name, setName] = useState(before);
  async function choose() {
    const wanted = name.trim();
    if (names.includes(wanted)) throw new Error("There is a set with this name.");
    onName(wanted);
  }
  return (
    <Ask title={title} answer={answer} disabled={!name.trim()} action={choose} onClose={onClose}>
      <Field label="Name" hint={hint}>
        <input required maxLength={128} placeholder="empty cart" value={name} onInput={(event) => setName(event.currentTarget.value)} />
      </Field>
    </Ask>
  );
}

function parse(text: string): unknown {
  try {
    return text.trim() ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

function example(entries: string[]): string {
  return entries.length ? `[{${entries.map((name) => `"${name}": ""`).join(", ")}}]` : '["one", "two"]';
}
