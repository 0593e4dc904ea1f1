// Which locale of a template is edited, and the text part that it has of its own.

import { useState } from "preact/hooks";

import { Field } from "../parts/basics";
import type { Draft } from "./draft";

const TAG = "[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*";

/** What few templates have: other locales, and a text part of their own. Open if this one has them. */
export function Variants({ draft, readOnly }: { draft: Draft; readOnly: boolean }) {
  const { locales, text } = draft.content.peek();
  const [open] = useState(Object.keys(locales).length > 0 || Boolean(text));
  return (
    <details class="more" open={open}>
      <summary>Locales and text part</summary>
      <Locales draft={draft} readOnly={readOnly} />
      <TextPart draft={draft} readOnly={readOnly} />
    </details>
  );
}

/** Choose the default or a locale, add one with the default's content, or remove it. */
function Locales({ draft, readOnly }: { draft: Draft; readOnly: boolean }) {
  const [added, setAdded] = useState("");
  const { locales } = draft.content.value;
  const locale = draft.locale.value;
  const names = Object.keys(locales).sort();
  const add = () => {
    const name = added.trim().toLowerCase();
    if (!new RegExp(`^${TAG}$`).test(name)) return;
    if (!(name in locales)) draft.change({ locales: { ...locales, [name]: draft.part.value } });
    draft.locale.value = name;
    setAdded("");
  };
  const remove = () => {
    const { [locale]: _, ...others } = locales;
    draft.locale.value = "";
    draft.change({ locales: others });
  };
  return (
    <div class="head-fields">
      <Field label="Locale">
        <select value={locale} onChange={(event) => (draft.locale.value = event.currentTarget.value)}>
          <option value="">Default</option>
          {names.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </Field>
      {!readOnly && (
        <Field label="New locale">
          <input value={added} maxLength={35} pattern={TAG} placeholder="de or de-CH" onInput={(event) => setAdded(event.currentTarget.value)} />
        </Field>
      )}
      {!readOnly && (
        <button type="button" class="button" disabled={!added.trim()} onClick={add}>
          Add locale
        </button>
      )}
      {!readOnly && locale && (
        <button type="button" class="button" onClick={remove}>
          Remove {locale}
        </button>
      )}
    </div>
  );
}

/** The text part of the locale; an empty one is made of the HTML at each send. */
function TextPart({ draft, readOnly }: { draft: Draft; readOnly: boolean }) {
  const { text } = draft.part.value;
  return (
    <Field label="Text part" hint="If it is empty, it is made of the HTML at each send.">
      <textarea rows={4} readOnly={readOnly} value={text ?? ""} onInput={(event) => draft.changePart({ text: event.currentTarget.value })} />
    </Field>
  );
}
