// The inbox page: a live list of the emails, and one open email.

import {
  $, askBeforeClear, copyable, copyHint, el, headerTable, json, linkDashboard, listen, makeTabs, markOpen, openId,
  showRows, takeKeys,
} from "./page.js";

const RAW_SHOWN = 500_000; // characters; more makes the page slow, and the whole file can be downloaded

let items = null; // the items of GET /messages, newest first; null before the first response
let mail = null; // the open mail, from GET /messages/{id}
let requested = 0; // number of the newest request for the list
let answered = 0; // number of the newest request with a response
let fault = ""; // what is wrong with the search
let dashboard = ""; // its address, if the stack has one

const path = (id) => `/messages/${encodeURIComponent(id)}`;

function size(bytes) {
  if (bytes < 1000) return `${bytes} bytes`;
  const [value, unit] = bytes < 1e6 ? [bytes / 1e3, "KB"] : [bytes / 1e6, "MB"];
  return `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`;
}

// The list

async function load() {
  const number = ++requested;
  const query = $("search").value.trim();
  const response = await fetch(`/messages?refused=true&q=${encodeURIComponent(query)}`).catch(() => null);
  const list = await response?.json();
  if (number !== requested) return; // a later request is more current
  answered = number;
  if (!list) return;
  items = list.items ?? [];
  fault = list.error?.replace(/^q: /, "") ?? "";
  showList();
}

function showList() {
  showRows(items, row);
  showState();
}

function row(item, received) {
  const [first, ...others] = item.recipients;
  const link = el(
    "a",
    { className: "row", href: `#${encodeURIComponent(item.id)}`, title: item.from },
    el("span", { className: "subject", textContent: item.subject || "(no subject)" }),
    el("time", {
      dateTime: item.receivedAt,
      title: received.toLocaleString(),
      textContent: received.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" }),
    }),
    el(
      "span",
      { className: "people" },
      el("span", { className: "from", textContent: senderName(item.from) }),
      el("span", {
        className: "to",
        textContent: others.length ? `${first} and ${others.length} more` : first,
      }),
    ),
    el("span", { className: "marks" }, clip(item.attachmentCount), outcome(item.deliveries)),
    el("span", { className: "preview", textContent: reasons(item.deliveries) || item.preview }),
  );
  link.dataset.id = item.id;
  if (item.id === mail?.id) {
    item.unread = mail.unread;
    link.setAttribute("aria-current", "true");
  }
  link.classList.toggle("new", item.unread);
  return link;
}

const senderName = (from) => from.replace(/\s*<[^<>]*>$/, "").replace(/^"(.*)"$/, "$1") || from;
const ARRIVED = new Set(["delivered", "opened", "clicked", "subscription changed", "auto-replied"]);
const isBad = ({ outcome }) => !ARRIVED.has(outcome);

function clip(count) {
  if (!count) return null;
  const label = count === 1 ? "1 attachment" : `${count} attachments`;
  const icon = el("span", { className: "clip", title: label });
  icon.setAttribute("role", "img");
  icon.setAttribute("aria-label", label);
  return icon;
}

// One word for all recipients, or how many of them failed
function outcome(deliveries) {
  const bad = deliveries.filter(isBad);
  const word = (bad[0] ?? deliveries[0])?.outcome ?? "";
  const some = bad.length > 0 && bad.length < deliveries.length;
  return el("span", {
    className: bad.length ? "outcome bad" : "outcome",
    textContent: some ? `${bad.length} of ${deliveries.length} ${word}` : word,
  });
}

function reasons(deliveries) {
  return [...new Set(deliveries.filter(isBad).map(({ reason }) => reason))].join("; ");
}

// Show what belongs beside the list, or instead of it
function showState() {
  if (items === null) return;
  const searching = $("search").value.trim() !== "";
  const none = items.length === 0 && !mail;
  document.querySelector("main").classList.toggle("empty", none && !searching);
  document.querySelector("main").classList.toggle("reading", mail !== null || (none && searching));
  $("mail").hidden = mail === null;
  $("nothing").hidden = mail !== null;
  $("nothing-title").textContent = none ? (searching ? "No results" : "No mail yet") : "";
  $("nothing-text").textContent = !none
    ? "Select an email to read it."
    : searching
      ? fault || "No mail has all of this."
      : "Mail appears here as soon as the service has sent it.";
  if (none && !searching) showHint();
  else $("hint").hidden = true;
  const unread = items.filter((item) => item.unread).length;
  document.title = (unread ? `(${unread}) ` : "") + (mail?.subject || "Pillarbox inbox");
}

async function showHint() {
  const curl = (await json("/hint"))?.curl ?? "";
  $("hint").querySelector("pre").textContent = curl;
  $("hint").hidden = curl === "" || items.length > 0;
}

// The mail

async function open() {
  const id = openId();
  const detail = id ? await json(path(id)) : null;
  if (id !== openId()) return; // another mail was chosen meanwhile
  mail = detail;
  $("mail").hidden = mail === null;
  if (mail) {
    if (mail.unread) mark(false);
    showMail();
  }
  markOpen(mail?.id);
  showState();
}

function mark(unread) {
  mail.unread = unread;
  const item = items?.find(({ id }) => id === mail.id);
  if (item) item.unread = unread;
  fetch(path(mail.id), { method: "PATCH", body: JSON.stringify({ unread }) });
}

function showMail() {
  $("subject").textContent = mail.subject || "(no subject)";
  const lines = [["From", mail.from]];
  for (const kind of ["to", "cc", "bcc"]) {
    const deliveries = mail.deliveries.filter((delivery) => delivery.kind === kind);
    if (!deliveries.length) continue;
    const label = { to: "To", cc: "Cc", bcc: "Bcc" }[kind];
    lines.push([label, ...deliveries.map(recipient)]);
  }
  lines.push(["Received", `${new Date(mail.receivedAt).toLocaleString()}, ${size(mail.size)}`]);
  if (mail.messageId) lines.push(["Message", copyable(mail.messageId), " ", inDashboard()]);
  if (mail.codes.length) lines.push([mail.codes.length > 1 ? "Codes" : "Code", ...mail.codes.map((code) => copyable(code))]);
  $("envelope").replaceChildren(
    ...lines.flatMap(([name, ...values]) => [
      el("dt", { textContent: name }),
      el("dd", { className: name.startsWith("Code") ? "codes" : "" }, ...values),
    ]),
  );
  $("tab-html").disabled = mail.html === null;
  $("tab-text").disabled = mail.text === null;
  $("tab-check").disabled = mail.html === null;
  counted("Attachments", mail.attachments.length);
  counted("Links", mail.links.length);
  showTab();
}

function counted(name, count) {
  const tab = $(`tab-${name.toLowerCase()}`);
  tab.disabled = count === 0;
  tab.replaceChildren(name, el("span", { className: "count", textContent: count || "" }));
}

function inDashboard() {
  const href = `${dashboard}/activity/${encodeURIComponent(mail.messageId)}`;
  return dashboard ? el("a", { href, textContent: "Show in the dashboard" }) : null;
}

function recipient(delivery) {
  const { address, outcome, reason } = delivery;
  const label = el("span", {
    className: isBad(delivery) ? "outcome bad" : "outcome",
    textContent: reason ? `${outcome}: ${reason}` : outcome,
  });
  return el("span", { className: "address" }, address, " ", label);
}

const showTab = makeTabs(["html", "text", "headers", "attachments", "raw", "links", "check"], (tab) => {
  $("view").classList.toggle("framed", tab === "html");
  $("switches").hidden = tab !== "html";
  $("remote").hidden = !mail.remoteImages;
  const views = {
    html: frame,
    text,
    headers: () => [headerTable(mail.headers)],
    attachments,
    raw,
    links,
    check,
  };
  $("view").replaceChildren(...views[tab]());
});

function frame() {
  const remote = $("remote").getAttribute("aria-pressed") === "true" ? "?remote=1" : "";
  const element = el("iframe", { title: "The email's HTML", src: `${path(mail.id)}/html${remote}` });
  // No scripts and an opaque origin; links open in a new tab.
  element.setAttribute("sandbox", "allow-popups allow-popups-to-escape-sandbox");
  applySwitches(element);
  return [element];
}

// The mail's media queries see the colour scheme of the frame.
function applySwitches(element) {
  const chosen = (name) => document.querySelector(`input[name=${name}]:checked`).value;
  element.className = `${chosen("scheme")} ${chosen("width")}`;
}

function text() {
  return [el("pre", {}, ...linked(mail.text))];
}

function linked(content) {
  return content.split(/(https?:\/\/[^\s<>"]*[^\s<>"'.,;:!?)\]])/).map((piece, at) =>
    at % 2 ? el("a", { href: piece, target: "_blank", rel: "noreferrer", textContent: piece }) : piece,
  );
}

function links() {
  const items = mail.links.map((link) => el("li", {}, ...linked(link), " ", copyable(link, "Copy")));
  return [el("ol", { className: "found" }, ...items)];
}

// What mail programs would not show as it is meant, the graver first
function check() {
  const note = el("p", { className: "note", textContent: "Checking …" });
  const list = el("ul", { className: "found" });
  json(`${path(mail.id)}/problems`).then((found) => {
    if (!found) return;
    const isNote = ({ severity }) => severity === "note";
    const problems = found.problems.sort((one, other) => isNote(one) - isNote(other));
    note.textContent = problems.length ? "No link was opened." : "Nothing to complain about.";
    for (const { severity, message, line } of problems) {
      const where = line === null ? "" : ` Line ${line} of the HTML.`;
      list.append(el("li", { className: severity === "note" ? "minor" : "", textContent: message + where }));
    }
  });
  return [note, list];
}

function attachments() {
  const parts = mail.attachments.map((part) => {
    const name = part.filename ?? (part.contentId ? `cid:${part.contentId}` : "(no filename)");
    const href = `${path(mail.id)}/parts/${part.number}`;
    const isImage = /^image\/(png|jpeg|gif|webp)$/.test(part.contentType);
    const thumb = isImage
      ? el("img", { className: "thumb", src: href, alt: "" })
      : el("span", { className: "thumb", textContent: name.split(".").slice(1).pop()?.slice(0, 4) ?? "" });
    const kind = [part.contentType, size(part.size), part.inline ? "inline" : null];
    return el(
      "li",
      {},
      el(
        "a",
        { href, download: part.filename ?? "" },
        thumb,
        el(
          "span",
          {},
          el("span", { className: "name", textContent: name }),
          el("span", { className: "kind", textContent: kind.filter(Boolean).join(", ") }),
        ),
      ),
    );
  });
  return [el("ul", { className: "parts" }, ...parts)];
}

function raw() {
  const href = `${path(mail.id)}/raw`;
  const source = el("pre", { className: "raw" });
  const note = el("p", { className: "note" }, el("a", { href, textContent: "Download .eml" }));
  fetch(href)
    .then((response) => response.text())
    .then((text) => {
      source.textContent = text.slice(0, RAW_SHOWN);
      if (text.length > RAW_SHOWN) note.append(" Only the beginning is shown.");
    });
  return [note, source];
}

// Navigation

takeKeys(() => items, () => mail?.id);
for (const input of document.querySelectorAll(".switches input")) {
  input.checked = (localStorage.getItem(input.name) ?? (input.defaultChecked && input.value)) === input.value;
  input.addEventListener("change", () => {
    localStorage.setItem(input.name, input.value);
    const element = $("view").querySelector("iframe");
    if (element) applySwitches(element);
  });
}
$("remote").addEventListener("click", () => {
  const pressed = $("remote").getAttribute("aria-pressed") === "true";
  $("remote").setAttribute("aria-pressed", String(!pressed));
  showTab();
});
askBeforeClear("Delete all emails of the inbox? Activity and figures of the service stay.", () =>
  fetch("/messages", { method: "DELETE" }),
);
$("delete").addEventListener("click", () => fetch(path(mail.id), { method: "DELETE" }));
$("reply").addEventListener("click", () => {
  $("answer-from").textContent = mail.to[0];
  $("answer-error").textContent = "";
  $("answer").returnValue = "";
  $("answer").showModal();
});
$("answer").querySelector("form").addEventListener("submit", async (event) => {
  if (event.submitter?.value !== "yes") return;
  event.preventDefault(); // the window stays until the answer is taken
  const body = JSON.stringify({ text: $("answer-text").value });
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(`${path(mail.id)}/reply`, { method: "POST", headers, body });
  if (response.ok) {
    $("answer-text").value = "";
    $("answer").close();
  } else $("answer-error").textContent = (await response.json()).error;
});
$("unread").addEventListener("click", () => {
  mark(true);
  location.hash = "";
  showList();
});
copyHint();
$("search").addEventListener("input", load);
addEventListener("hashchange", open);

// Live updates

function arrived(event) {
  const item = JSON.parse(event.data);
  if (items === null || requested !== answered || $("search").value.trim()) load();
  else if (items[0]?.id !== item.id) {
    items.unshift(item);
    showList();
  }
}

// The list includes mail that arrived while the connection was down.
listen("/events", load, {
  mail: arrived,
  refused: arrived,
  deleted: (event) => {
    const { id } = JSON.parse(event.data);
    if (mail?.id === id) location.hash = "";
    load();
  },
  cleared: () => {
    answered = ++requested; // ignore a list that was requested before
    items = [];
    mail = null;
    location.hash = "";
    showList();
  },
});
linkDashboard().then((address) => {
  dashboard = address;
  open();
});
