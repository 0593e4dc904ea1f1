// The page of a receiver of webhooks: a live list of what it got, and one open webhook.
// A payload is shown as text only.

import {
  $, askBeforeClear, copyable, copyHint, el, headerTable, json, linkDashboard, listen, makeTabs, markOpen, openId,
  showRows, takeKeys, visible,
} from "./page.js";

const SIGNATURES = {
  valid: "Valid",
  invalid: "Invalid: signed with another secret, or changed",
  stale: "Signed, but more than five minutes early or late",
  missing: "Missing: webhook-id, webhook-timestamp or webhook-signature",
  unknown: "Not checked: no endpoint has this URL",
};
const ANSWERS = {
  ok: "Answers 204: the webhook is delivered.",
  error: "Answers 500: the webhook is sent again later.",
  slow: "Does not answer: the sender gives up and tries again later.",
  gone: "Answers 410: the sender disables the endpoint.",
};

const receiver = decodeURIComponent(location.pathname.split("/")[2]);
const answerPath = `/hooks/${encodeURIComponent(receiver)}/answer`;

let items = null; // the items of GET /webhooks, newest first; null before the first response
let webhook = null; // the open webhook, from GET /webhooks/{id}
let requested = 0; // number of the newest request for the list
const unseen = new Set();


// The list

async function load() {
  const number = ++requested;
  const list = await json(`/webhooks?receiver=${encodeURIComponent(receiver)}`);
  if (number !== requested || !list) return; // a later request is more current
  items = list.items;
  if (webhook && !items.some(({ id }) => id === webhook.id)) location.hash = "";
  showList();
}

function showList() {
  showRows(items, row);
  showState();
}

function row(item, received) {
  const link = el(
    "a",
    { className: "row", href: `#${encodeURIComponent(item.id)}` },
    el("span", { className: "subject", textContent: item.type || "(no type)" }),
    el("time", {
      dateTime: item.receivedAt,
      title: received.toLocaleString(),
      textContent: received.toLocaleTimeString(undefined, { timeStyle: "medium" }),
    }),
    el("span", { className: "people", textContent: item.recipient || item.messageId || item.eventId }),
    el(
      "span",
      { className: "marks" },
      item.attempt > 1 ? el("span", { textContent: `attempt ${item.attempt}` }) : null,
      item.signature === "valid"
        ? null
        : el("span", { className: "bad", textContent: `signature ${item.signature}` }),
      el("span", {
        className: item.status === 204 ? "" : "bad",
        textContent: item.status ?? "no answer",
      }),
    ),
  );
  link.dataset.id = item.id;
  link.classList.toggle("new", unseen.has(item.id));
  if (item.id === webhook?.id) link.setAttribute("aria-current", "true");
  return link;
}

// Show what belongs beside the list
function showState() {
  if (items === null) return;
  const none = items.length === 0 && !webhook;
  document.querySelector("main").classList.toggle("reading", webhook !== null);
  document.querySelector("main").classList.toggle("bare", none);
  $("mail").hidden = webhook === null;
  $("nothing").hidden = webhook !== null;
  $("nothing-title").textContent = none ? "No webhooks yet" : "";
  $("nothing-text").textContent = none ? "" : "Select a webhook to read it.";
  $("hint").hidden = true;
  if (none) showHint();
  document.title = (unseen.size ? `(${unseen.size}) ` : "") + `/hooks/${receiver}`;
}

async function showHint() {
  const hint = await json(`/hooks/${encodeURIComponent(receiver)}/hint`);
  if (!hint || items.length > 0) return;
  $("nothing-text").textContent = hint.endpoint
    ? "They appear here as soon as something happens to an email. Send one:"
    : "No endpoint points here. Create one:";
  $("hint").querySelector("pre").textContent = hint.curl;
  $("hint").hidden = hint.curl === "";
}

// The webhook

async function open() {
  const id = openId();
  const detail = id ? await json(`/webhooks/${encodeURIComponent(id)}`) : null;
  if (id !== openId()) return; // another webhook was chosen meanwhile
  webhook = detail;
  if (webhook) {
    unseen.delete(id);
    showWebhook();
  }
  markOpen(webhook?.id);
  showState();
}

function showWebhook() {
  $("subject").textContent = webhook.type || "(no type)";
  const lines = [
    ["Signature", verdict()],
    ["Answer", webhook.status === null ? "None" : String(webhook.status)],
    ["Received", `${new Date(webhook.receivedAt).toLocaleString()}, attempt ${webhook.attempt}`],
  ];
  if (webhook.eventId) lines.push(["Event", copyable(webhook.eventId)]);
  if (webhook.messageId) lines.push(["Message", copyable(webhook.messageId)]);
  if (webhook.recipient) lines.push(["Recipient", webhook.recipient]);
  $("envelope").replaceChildren(
    ...lines.flatMap(([name, value]) => [el("dt", { textContent: name }), el("dd", {}, value)]),
  );
  showTab();
}

function verdict() {
  const className = webhook.signature === "valid" ? "outcome good" : "outcome bad";
  return el("span", { className, textContent: SIGNATURES[webhook.signature] });
}

const showTab = makeTabs(["payload", "headers", "body"], (tab) => {
  const views = {
    payload: () => el("pre", { textContent: visible(pretty(webhook.body)) }),
    headers: () => headerTable(webhook.headers),
    body: () => el("pre", { className: "raw", textContent: visible(webhook.body) }),
  };
  $("view").replaceChildren(views[tab]());
});

function pretty(body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

// The answer

function showAnswer(answer) {
  if (!answer) return;
  for (const input of document.querySelectorAll("input[name=mode]")) {
    input.checked = input.value === answer.mode;
  }
  const times = answer.times === null ? "" : ` For ${answer.times} more, then 204.`;
  $("answer").textContent = ANSWERS[answer.mode] + times;
}

let asked = 0; // how often

/** Show which answer is set. What an earlier question returns may be out of date. */
async function askAnswer() {
  const own = ++asked;
  const answer = await json(answerPath);
  if (own === asked) showAnswer(answer);
}

for (const input of document.querySelectorAll("input[name=mode]")) {
  input.addEventListener("change", async () => {
    asked++;
    const body = JSON.stringify({ mode: input.value });
    await fetch(answerPath, { method: "PUT", body }).catch(() => null);
    askAnswer();
  });
}

// Navigation

takeKeys(() => items, () => webhook?.id);
askBeforeClear("Delete all webhooks of this receiver?", () =>
  fetch(`/webhooks?receiver=${encodeURIComponent(receiver)}`, { method: "DELETE" }),
);
copyHint();
linkDashboard();
addEventListener("hashchange", open);

// Live updates

$("name").textContent = `/hooks/${receiver}`;
listen(
  "/webhooks/events",
  () => {
    load(); // includes webhooks that arrived while the connection was down
    askAnswer();
  },
  {
    webhook: (event) => {
      const item = JSON.parse(event.data);
      if (item.receiver !== receiver) return;
      unseen.add(item.id);
      load();
      askAnswer(); // one with a limit counts down
    },
    cleared: () => {
      unseen.clear();
      load();
    },
  },
);
open();
