// A field that searches a list when it is left or Enter is pressed.

import { useRef } from "preact/hooks";

import { Icon } from "./icon";

interface Properties {
  value: string;
  placeholder: string;
  most: number;
  onSearch: (text: string) => void;
}

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
