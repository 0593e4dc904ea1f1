// What pages with a list share.

/** The head of a table. The last column has buttons, so that only screen readers get its name. */
export function Head({ caption, columns, action }: { caption?: string; columns: string[]; action?: string }) {
  return (
    <>
      {caption && <caption class="hidden">{caption}</caption>}
      <thead>
        <tr>
          {columns.map((column) => (
            <th scope="col" key={column}>
              {column}
            </th>
          ))}
          {action && (
            <th scope="col">
              <span class="hidden">{action}</span>
            </th>
          )}
        </tr>
      </thead>
    </>
  );
}

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
