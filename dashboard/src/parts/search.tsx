// Fields that search a list: of the service, or of what the page has.

import { useRef } from "preact/hooks";

import { Icon } from "./icon";

interface Properties {
  value: string;
  placeholder: string;
  most: number;
  onSearch: (text: string) => void;
}

/** A field that asks the service when it is left or Enter is pressed. */
export function Search({ value, placeholder, most, onSearch }: Properties) {
  const field = useRef<HTMLInputElement>(null);
  function submit(event: Event) {
    event.preventDefault();
    onSearch(field.current?.value.trim() ?? "");
  }
  return (
    <form class="filters" role="search" onSubmit={submit}>
      <div class="search">
        <Icon name="search" />
        <input ref={field} type="search" aria-label="Search" placeholder={placeholder} maxLength={most} key={value} defaultValue={value} onChange={submit} />
      </div>
    </form>
  );
}

/** A field that narrows a list which the page has, with each letter. What is entered stays in the page. */
export function Find({ text, placeholder, onFind }: { text: string; placeholder: string; onFind: (text: string) => void }) {
  return (
    <div class="filters" role="search">
      <div class="search">
        <Icon name="search" />
        <input type="search" aria-label="Search" placeholder={placeholder} autocomplete="off" spellcheck={false} value={text} onInput={(event) => onFind(event.currentTarget.value)} />
      </div>
    </div>
  );
}
