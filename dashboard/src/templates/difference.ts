// What differs between two texts, line by line.

export interface Line {
  kind: "same" | "removed" | "added" | "skipped";
  text: string;
}

const AROUND = 3; // lines that are shown before and after those that differ
/** Beyond this product of lines, what differs is shown as one block. */
const MOST = 4_000_000;

/** Return the lines of both texts in order, without those that are far from any change. */
export function difference(before: string, after: string): Line[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const start = common(old, now);
  const end = common(old.slice(start).reverse(), now.slice(start).reverse());
  const lines: Line[] = [
    ...old.slice(0, start).map(same),
    ...changed(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...old.slice(old.length - end).map(same),
  ];
  return near(lines);
}

const same = (text: string): Line => ({ kind: "same", text });
const removed = (text: string): Line => ({ kind: "removed", text });
const added = (text: string): Line => ({ kind: "added", text });

/** Return how many lines two texts have in common at their beginning. */
function common(one: string[], other: string[]): number {
  let number = 0;
  while (number < Math.min(one.length, other.length) && one[number] === other[number]) number += 1;
  return number;
}

/** Keep the longest common subsequence; the rest is removed or added. */
function changed(old: string[], now: string[]): Line[] {
  const width = now.length + 1;
  if (old.length * now.length > MOST) return [...old.map(removed), ...now.map(added)];
  // The length of the longest common subsequence of what follows two places.
  const longest = new Uint16Array((old.length + 1) * width);
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = now.length - 1; column >= 0; column -= 1) {
      const at = row * width + column;
      longest[at] = old[row] === now[column] ? longest[at + width + 1]! + 1 : Math.max(longest[at + width]!, longest[at + 1]!);
    }
  }
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < old.length && column < now.length) {
    const at = row * width + column;
    if (old[row] === now[column]) {
      lines.push(same(old[row]!));
      row += 1;
      column += 1;
    } else if (longest[at + width]! >= longest[at + 1]!) lines.push(removed(old[row++]!));
    else lines.push(added(now[column++]!));
  }
  return [...lines, ...old.slice(row).map(removed), ...now.slice(column).map(added)];
}

/** Put one line in place of those that are far from any change. */
function near(lines: Line[]): Line[] {
  const shown = new Set<number>();
  lines.forEach(({ kind }, at) => {
    if (kind !== "same") for (let by = -AROUND; by <= AROUND; by += 1) shown.add(at + by);
  });
  return lines.flatMap((line, at) => {
    if (shown.has(at)) return [line];
    return at === 0 || shown.has(at - 1) ? [{ kind: "skipped" as const, text: "…" }] : [];
  });
}
