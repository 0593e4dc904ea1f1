// CSV files (RFC 4180). That of suppressions has the columns of `pillarbox suppression export`.

import type { Suppression } from "./schema";

/** A spreadsheet takes a cell that begins like this as a formula, and one with a ' before as text; # begins a comment. */
const FORMULA = /^'*[=+\-@\t\r#]/;
/** The columns of addresses in the lists of other services, without spaces, hyphens and underscores. */
const ADDRESSES = ["email", "emailaddress", "recipient", "address"];
const COLUMNS = ["address", "reason", "createdAt", "messageId"];

/** Return the addresses of a file: its column of `ADDRESSES`, or the first one without a header. */
export function addressesOf(text: string): string[] {
  const written = text.replace(/^\ufeff/, "").replace(/^[ \t]*#.*$/gm, "");
  const rows = parse(written).filter((row) => row.some(Boolean));
  const header = rows[0]?.map((cell) => cell.toLowerCase().replace(/[\s_-]/g, "")) ?? [];
  const column = ADDRESSES.map((name) => header.indexOf(name)).find((at) => at >= 0) ?? -1;
  const cells = rows.slice(column < 0 ? 0 : 1).map((row) => row[Math.max(column, 0)] ?? "");
  return [...new Set(cells.filter(Boolean))];
}

export function toCsv(items: Suppression[]): string {
  const rows = items.map((one) => [one.address, one.reason, one.createdAt, one.messageId ?? ""]);
  return csv([COLUMNS, ...rows]);
}

/** Return rows as text. A cell that a spreadsheet would take as a formula has a ' before. */
export function csv(rows: string[][]): string {
  return rows.map((row) => `${row.map(quote).join(",")}\r\n`).join("");
}

/** Let the browser save a file. */
export function save(name: string, file: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function quote(cell: string): string {
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function unquote(cell: string): string {
  const text = (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell).trim();
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;
}

/** Split a file into rows of trimmed cells (RFC 4180; `;` separates cells too). */
function parse(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const match of text.matchAll(/("(?:[^"]|"")*"|[^",;\r\n]*)([,;]|\r?\n|$)/g)) {
    const [, cell = "", end] = match;
    rows.at(-1)?.push(unquote(cell));
    if (end === "") break;
    if (end !== "," && end !== ";") rows.push([]);
  }
  return rows;
}
