// What the pages of the inbox and of the receivers share.

export const $ = (id) => document.getElementById(id);

// Create an element with properties and children. Text is never parsed as HTML.
export function el(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children.filter((child) => child !== null));
  return node;
}

export async function json(path) {
  const response = await fetch(path).catch(() => null); // the stack may be down for a while
  return response?.ok ? response.json() : null;
}

export function day(date) {
  const midnight = (when) => new Date(when).setHours(0, 0, 0, 0);
  const ago = Math.round((midnight(Date.now()) - midnight(date)) / 86_400_000);
  if (ago < 2) return ["Today", "Yesterday"][ago] ?? "Today";
  return date.toLocaleDateString(undefined, { weekday: "long", day: "numeric", month: "long" });
}

export function headerTable(headers) {
  const rows = headers.map(({ name, value }) =>
    el("tr", {}, el("th", { scope: "row", textContent: name }), el("td", { textContent: value })),
  );
  return el("table", {}, el("tbody", {}, ...rows));
}

// A text that a click copies
export function copyable(text) {
  const button = el("button", { type: "button", className: "id", textContent: text, title: "Copy" });
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    button.dataset.feedback = "Copied";
    setTimeout(() => delete button.dataset.feedback, 1500);
  });
  return button;
}

export function showConnection(state, text) {
  $("live").dataset.state = state;
  $("live").textContent = text;
}
