// CSV files (RFC 4180). That of suppressions has the columns of `pillarbox suppression export`.

import type { Suppression } from "./schema";

/** A spreadsheet takes a cell that begins like this as a formula, and one with a ' before as text; # begins a comment. */
const FORMULA = /^'*[=+\-@\t\r\n#＝＋－＠]/;
/** The columns of addresses in the lists of other services, without spaces, hyphens and underscores. */
const ADDRESSES = ["email", "emailaddress", "recipient", "address"];
const COLUMNS = ["address", "reason", "createdAt", "messageId"];
/** What separates columns; Excel writes what the language of the machine says. */
const SEPARATORS = [",", ";", "\t"];

/** Return the text of a file: UTF-8, UTF-16 with its mark, or else Windows-1252. */
export function textOf(bytes: Uint8Array): string {
  const mark = `${bytes[0]} ${bytes[1]}`;
  if (mark === "255 254") return new TextDecoder("utf-16le").decode(bytes);
  if (mark === "254 255") return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** Return the addresses of a file: its column of `ADDRESSES`, or the first one without a header. */
export function addressesOf(text: string): string[] {
  const written = text.replace(/^\ufeff/, "").replace(/^(?:[ \t]*#.*|sep=.)$/gim, "");
  const tables = SEPARATORS.map((separator) => parse(written, separator).filter((row) => row.some(Boolean)));
  const named = tables.find(([first]) => columnOf(first) >= 0);
  const width = ([first]: string[][]) => first?.length ?? 0;
  const rows = named ?? tables.reduce((most, one) => (width(one) > width(most) ? one : most));
  const column = Math.max(columnOf(rows[0]), 0);
  const cells = rows.slice(named ? 1 : 0).map((row) => row[column] ?? "");
  return [...new Set(cells.filter(Boolean))];
}

/** Return the place of the first of `ADDRESSES` in a header, or -1. */
function columnOf(header: string[] = []): number {
  const names = header.map((cell) => cell.toLowerCase().replace(/[\s_-]/g, ""));
  return ADDRESSES.map((name) => names.indexOf(name)).find((at) => at >= 0) ?? -1;
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
  const text = cell.replace(/^"((?:[^"]|"")*)"/, (_, quoted: string) => quoted.replaceAll('""', '"')).trim();
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;
}

/** Split a file into rows of trimmed cells (RFC 4180). */
function parse(text: string, separator: string): string[][] {
  const rows: string[][] = [[]];
  const rest = `[^${separator}\\r\\n]*`;
  for (const match of text.matchAll(new RegExp(`((?:"(?:[^"]|"")*")?${rest})(${separator}|\\r\\n?|\\n|$)`, "g"))) {
    const [, cell = "", end] = match;
    rows.at(-1)?.push(unquote(cell));
    if (end === "") break;
    if (end !== separator) rows.push([]);
  }
  return rows;
}
