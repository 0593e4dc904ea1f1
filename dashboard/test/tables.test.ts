// Files of addresses, and the sample values of templates.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";

import { addressesOf, textOf, toCsv } from "../src/csv";
import type { TemplateVariable } from "../src/schema";
import { places, read, renamed, typed, write } from "../src/templates/samples";

const listed = (address: string) => ({ address, reason: "manual", createdAt: "2026", messageId: null, erased: false });

test("a file has addresses in a column of that name, or in its first one", () => {
  deepEqual(addressesOf('\ufeffName,"Address"\r\nAda,a@x.example\n"B, ob",b@x.example\n'), ["a@x.example", "b@x.example"]);
  deepEqual(addressesOf("a@x.example;Ada\n\nb@x.example\na@x.example"), ["a@x.example", "b@x.example"]);
  deepEqual(addressesOf("+a@x.example"), ["+a@x.example"]);
  deepEqual(addressesOf("status,Email Address\n# none\n5.1.1,a@x.example\n"), ["a@x.example"]);
  deepEqual(addressesOf('"say ""hi""@x.example"'), ['say "hi"@x.example']);
});

test("a file is read as Excel and other programs write it", () => {
  const found = ["a@x.example", "b@x.example"];
  for (const written of ["email;name\n{};A, B\n", "Name, all\tE-Mail\r\nA; B\t{}\r\n", "sep=;\nname;email\n1, 2;{}\n", '"1, 2";email\r;{}\r', "reason,email\n550 5.1.1; none,{}\n"]) {
    const [header = "", row = ""] = written.split(/^(?=.*\{\})/m);
    deepEqual(addressesOf(header + found.map((one) => row.replace("{}", one)).join("")), found);
  }
  deepEqual(addressesOf('"Doe, Ann" <a@x.example>\nBob <b@x.example>'), ["Doe, Ann <a@x.example>", "Bob <b@x.example>"]);
  const text = "email;name\na@x.example;Zoë\n";
  const codes = [...text].map((character) => character.charCodeAt(0));
  for (const bytes of [new TextEncoder().encode(text), codes, [255, 254, ...codes.flatMap((code) => [code, 0])], [254, 255, ...codes.flatMap((code) => [0, code])]]) {
    equal(textOf(Uint8Array.from(bytes)), text);
  }
});

test("a spreadsheet finds no formula in a file, and the file has the same addresses again", () => {
  const addresses = ["#", "'+", "'o", "''=", "+", "-", "=", "@"].map((start) => `${start}a@x.example`);
  const text = toCsv(addresses.map(listed));
  const cells = text.trimEnd().split("\r\n").slice(1).map((line) => line.split(",")[0]);
  deepEqual(cells, ["'#", "''+", "'o", "'''=", "'+", "'-", "'=", "'@"].map((start) => `${start}a@x.example`));
  deepEqual(addressesOf(text), addresses);
});

test("a cell with a comma, a quote or a line break is quoted", () => {
  equal(toCsv([listed('"a,b"@x.example')]), 'address,reason,createdAt,messageId\r\n"""a,b""@x.example",manual,2026,\r\n');
});

test("a variable has one field, and those of a list's entries are in the list's", () => {
  const variables = ["name", "lines[].title", "lines[].price.total", "lines"].map((path) => ({ path }) as TemplateVariable);
  deepEqual(places(variables).map(({ path, entries }) => [path, entries]), [["name", []], ["lines", ["title", "price.total"]]]);
});

test("a value is read and written by its path, and an object that is left empty goes", () => {
  const values = write(write({}, "shop.name", "Acme"), "shop.url", "u");
  deepEqual([values, read(values, "shop.name"), read(values, "shop.toString")], [{ shop: { name: "Acme", url: "u" } }, "Acme", undefined]);
  deepEqual(write(write(values, "shop.name", undefined), "shop.url", undefined), {});
  deepEqual(write({ shop: "text" }, "shop.name", "Acme"), { shop: { name: "Acme" } });
});

test("what is typed stays a number or true or false if it was one", () => {
  deepEqual([typed("7", 1), typed("7", "1"), typed("x", 1), typed("false", true), typed("", "a")], [7, "7", "x", false, undefined]);
});

test("a set that gets another name keeps its place and its values", () => {
  const sets = renamed({ a: { n: 1 }, b: { n: 2 }, c: {} }, "b", "z");
  deepEqual(Object.entries(sets), [["a", { n: 1 }], ["z", { n: 2 }], ["c", {}]]);
});
