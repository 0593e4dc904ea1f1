// What the pages of the inbox and of the receivers share: a live list and one open item.

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

function day(date) {
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

// A text that a click copies; the button shows it, or a label
export function copyable(text, label = text) {
  const button = el("button", { type: "button", className: "id", textContent: label, title: "Copy" });
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    button.dataset.feedback = "Copied";
    setTimeout(() => delete button.dataset.feedback, 1500);
  });
  return button;
}

// The characters that change the direction of text, as JSON escapes. So they reverse nothing.
export function visible(text) {
  const escape = (character) => "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0");
  return text.replace(/\p{Bidi_Control}/gu, escape);
}

function showConnection(state, text) {
  $("live").dataset.state = state;
  $("live").textContent = text;
}

// The list and the address

export const openId = () => decodeURIComponent(location.hash.slice(1));

// Show items under the heading of their day
export function showRows(items, row) {
  const rows = [];
  let last = null;
  for (const item of items) {
    const received = new Date(item.receivedAt);
    if (day(received) !== last) {
      last = day(received);
      rows.push(el("h2", { className: "day", textContent: last }));
    }
    rows.push(row(item, received));
  }
  $("list").replaceChildren(...rows);
  $("clear").hidden = items.length === 0;
}

// Mark the row of the open item as read, and bring it into view
export function markOpen(id) {
  for (const link of $("list").querySelectorAll(".row")) {
    const current = link.dataset.id === id;
    link.toggleAttribute("aria-current", current);
    if (!current) continue;
    link.setAttribute("aria-current", "true");
    link.classList.remove("new");
    link.scrollIntoView({ block: "nearest" });
  }
}

// Arrows, j and k open the next item and Escape closes it; / goes to the search, if there is one
export function takeKeys(items, id) {
  function move(step) {
    if (!items()?.length) return;
    const at = items().findIndex((item) => item.id === id());
    const to = at < 0 ? 0 : Math.min(Math.max(at + step, 0), items().length - 1);
    location.hash = encodeURIComponent(items()[to].id);
  }

  const search = $("search");
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || document.querySelector("dialog[open]")) return;
    const typing = event.target === search;
    const step = { ArrowDown: 1, ArrowUp: -1, ...(typing ? {} : { j: 1, k: -1 }) }[event.key];
    if (step && event.target.type !== "radio") {
      event.preventDefault();
      move(step);
    } else if (event.key === "/" && search && !typing) {
      event.preventDefault();
      search.select();
    } else if (event.key === "Escape") {
      if (!typing) location.hash = "";
      else if (!search.value) search.blur();
    }
  });
}

// Tabs that take clicks and arrow keys. The chosen one is kept when another item is opened.
// Return the function that shows it, or the first usable one.
export function makeTabs(names, show) {
  let chosen = names[0];
  const usable = (name) => !$(`tab-${name}`).disabled;

  function showTab() {
    const shown = usable(chosen) ? chosen : names.find(usable);
    for (const name of names) {
      $(`tab-${name}`).setAttribute("aria-selected", String(name === shown));
      $(`tab-${name}`).tabIndex = name === shown ? 0 : -1;
    }
    $("view").setAttribute("aria-labelledby", `tab-${shown}`);
    $("view").scrollTop = 0;
    show(shown);
  }

  document.querySelector(".tabs").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const some = names.filter(usable);
    const at = some.findIndex((name) => $(`tab-${name}`) === document.activeElement);
    chosen = some.at((at + step) % some.length);
    showTab();
    $(`tab-${chosen}`).focus();
  });
  for (const name of names) {
    $(`tab-${name}`).addEventListener("click", () => {
      chosen = name;
      showTab();
    });
  }
  return showTab;
}

// The button "Clear all" asks first; Escape and Cancel keep everything
export function askBeforeClear(question, clear) {
  const cancel = el("button", { className: "plain", textContent: "Cancel" });
  const sure = el("button", { className: "plain sure", value: "yes", textContent: "Delete all" });
  const form = el("form", { method: "dialog" }, el("p", { id: "question", textContent: question }), cancel, sure);
  const dialog = el("dialog", {}, form);
  dialog.setAttribute("aria-labelledby", "question");
  dialog.addEventListener("close", () => dialog.returnValue === "yes" && clear());
  document.body.append(dialog);
  $("clear").addEventListener("click", () => {
    dialog.returnValue = "";
    dialog.showModal();
  });
}

// Show the link to the dashboard, and return its address; empty if the stack has none
export async function linkDashboard() {
  const address = (await json("/hint"))?.dashboard ?? "";
  $("dashboard").href = `${address}/`;
  $("dashboard").hidden = address === "";
  return address;
}

export function copyHint() {
  $("copy-hint").addEventListener("click", () =>
    navigator.clipboard.writeText($("hint").querySelector("pre").textContent),
  );
}

// Listen to server-sent events, again when the browser takes the page out of its cache
export function listen(path, connected, handlers) {
  function connect() {
    const live = new EventSource(path);
    live.addEventListener("open", () => {
      showConnection("live", "Live");
      connected();
    });
    live.addEventListener("error", () => showConnection("lost", "Disconnected"));
    for (const [name, handler] of Object.entries(handlers)) live.addEventListener(name, handler);
    // A browser keeps left pages in its cache, and allows few connections to one server.
    addEventListener("pagehide", () => live.close(), { once: true });
  }

  addEventListener("pageshow", (event) => event.persisted && connect());
  connect();
}
