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
