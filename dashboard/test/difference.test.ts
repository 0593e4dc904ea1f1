// What differs between two versions of a source.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";

import { difference } from "../src/templates/difference";

const SIGNS = { same: " ", removed: "-", added: "+", skipped: "." };
const shown = (before: string, after: string) => difference(before, after).map(({ kind, text }) => SIGNS[kind] + text);

test("lines that both have stay in place, the others are removed or added", () => {
  deepEqual(shown("a\nb\nc", "a\nc\nd"), [" a", "-b", " c", "+d"]);
  deepEqual(shown("", "a"), ["-", "+a"]);
  deepEqual(shown("x\na\ny", "a"), ["-x", " a", "-y"]);
});

test("lines far from any change are left out", () => {
  const lines = Array.from({ length: 20 }, (_, at) => String(at));
  const after = lines.with(10, "ten").join("\n");
  deepEqual(shown(lines.join("\n"), after), [".…", " 7", " 8", " 9", "-10", "+ten", " 11", " 12", " 13", ".…"]);
  deepEqual(shown("a\nb", "a\nb"), [".…"]);
});

test("both texts can be read from what is shown, also of long ones", () => {
  let seed = 7;
  const word = () => String((seed = (seed * 48_271) % 2_147_483_647) % 5);
  for (let round = 0; round < 60; round += 1) {
    const [old, now] = [Array.from({ length: round % 13 }, word), Array.from({ length: (round * 7) % 11 }, word)];
    const lines = difference(["x", ...old].join("\n"), ["y", ...now].join("\n"));
    if (lines.some(({ kind }) => kind === "skipped")) continue;
    equal(lines.filter(({ kind }) => kind !== "added").map(({ text }) => text).join(), ["x", ...old].join());
    equal(lines.filter(({ kind }) => kind !== "removed").map(({ text }) => text).join(), ["y", ...now].join());
  }
  const [long, other] = ["a", "b"].map((name) => Array.from({ length: 3_000 }, (_, at) => `${name}${at}`).join("\n"));
  equal(difference(long!, other!).length, 6_000);
});
