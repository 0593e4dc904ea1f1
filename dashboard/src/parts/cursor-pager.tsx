// The pager of a list that has cursors.

interface Pages {
  cursor: string | null | undefined;
  next: string | null | undefined;
  /** The names of the first page and of the next. */
  names?: [string, string];
  onChange: (cursor: string) => void;
}

/** The ways to the first page of a list and to the next; nothing if there is one page. */
export function CursorPager({ cursor, next, names = ["First", "Next"], onChange }: Pages) {
  if (!cursor && !next) return null;
  return (
    <nav class="pager" aria-label="Pages of the list">
      <button type="button" class="button small" disabled={!cursor} onClick={() => onChange("")}>
        {names[0]}
      </button>
      <button type="button" class="button small" disabled={!next} onClick={() => onChange(next ?? "")}>
        {names[1]}
      </button>
    </nav>
  );
}
