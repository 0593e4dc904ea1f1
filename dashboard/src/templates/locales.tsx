// Which locale of a template is edited, and the text part that it has of its own.

import { useState } from "preact/hooks";

import { Field } from "../parts/basics";
import type { Draft } from "./draft";

const TAG = "[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*";

/** Choose the default or a locale, add one with the default's content, or remove it. */
export function Locales({ draft, readOnly }: { draft: Draft; readOnly: boolean }) {
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
          <option value="">Default, for every other locale</option>
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
        <button type="button" disabled={!added.trim()} onClick={add}>
          Add locale
        </button>
      )}
      {!readOnly && locale && (
        <button type="button" onClick={remove}>
          Remove {locale}
        </button>
      )}
    </div>
  );
}

/** The text part of the locale; an empty one is made of the HTML at each send. */
export function TextPart({ draft, readOnly }: { draft: Draft; readOnly: boolean }) {
  const { text } = draft.part.value;
  return (
    <Field label="Text part (empty: made of the HTML)">
      <textarea rows={4} readOnly={readOnly} value={text ?? ""} onInput={(event) => draft.changePart({ text: event.currentTarget.value })} />
    </Field>
  );
}
