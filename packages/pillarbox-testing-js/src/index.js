"use strict";

const { randomBytes } = require("node:crypto");
const { readFile } = require("node:fs/promises");
const { join } = require("node:path");

const WAIT = Number(process.env.PILLARBOX_WAIT || 10); // seconds
const MAX_WAIT = 60; // seconds that one request may wait
const HELP = `Start one with \`make up\` in your clone of Pillarbox. Then do one of these:
  - in the shell that runs your tests: source CLONE/.local/env
  - set PILLARBOX_STATE_DIR to CLONE/.local
  - for a stack in a container: set PILLARBOX_URL, PILLARBOX_INBOX_URL and PILLARBOX_KEY`;

class StackNotRunning extends Error {
  name = "StackNotRunning";
}

class NoEmail extends Error {
  name = "NoEmail";
}

class NoWebhook extends Error {
  name = "NoWebhook";
}

/** Return the running stack, whose inbox and webhooks leave out what came before. */
async function pillarbox() {
  const found = process.env.PILLARBOX_URL ? ofVariables() : await ofState();
  const [email, webhook] = await Promise.all([
    newest(found.inboxUrl, "/messages?limit=1&refused=true"),
    newest(found.inboxUrl, "/webhooks?limit=1"),
  ]);
  return {
    url: found.url,
    key: found.key,
    smtp: found.smtp,
    address: (name = "test") => `${name}-${randomBytes(4).toString("hex")}@example.com`,
    inbox: new Inbox(found.inboxUrl, email),
    webhooks: new Webhooks(found.inboxUrl, webhook, "shop"),
  };
}

class Inbox {
  #after;

  constructor(url, after) {
    this.url = url;
    this.#after = after;
  }

  async waitFor({ to = "", subject = "", timeout = WAIT } = {}) {
    const query = this.#query({ to, subject });
    const email = await waited(this.url, "/messages/latest", query, timeout);
    if (!email) throw new NoEmail(await this.#missing(to, subject, timeout));
    const refused = email.deliveries.find(({ outcome }) => outcome === "refused");
    if (refused) throw new NoEmail(`SES refused '${email.subject}': ${refused.reason}`);
    return email;
  }

  async emails({ to = "", subject = "" } = {}) {
    const { items } = await get(this.url, `/messages?${this.#query({ to, subject })}`);
    return Promise.all(items.map(({ id }) => get(this.url, `/messages/${encodeURIComponent(id)}`)));
  }

  #query(more) {
    return given({ ...more, after: this.#after, refused: "true" });
  }

  async #missing(to, subject, timeout) {
    const wanted = `No email${to && ` to ${to}`}${subject && ` with '${subject}' in its subject`}`;
    const { items } = await get(this.url, `/messages?${this.#query({ limit: "10" })}`);
    const others = items.map((item) => `  to ${item.recipients.join(", ")}: '${item.subject}'`);
    return missing(`${wanted} came within ${timeout} seconds.`, others, this.url);
  }
}

class Webhooks {
  #after;
  #receiver;

  constructor(url, after, receiver) {
    this.url = url;
    this.#after = after;
    this.#receiver = receiver;
  }

  at(receiver) {
    return new Webhooks(this.url, this.#after, receiver);
  }

  async waitFor(type = "", { message = "", recipient = "", timeout = WAIT } = {}) {
    const query = this.#query({ type, message, recipient });
    const webhook = await waited(this.url, "/webhooks/latest", query, timeout);
    if (!webhook) throw new NoWebhook(await this.#missing(type, timeout));
    return withPayload(webhook);
  }

  async waitForReply({ id, messageId }, text, { timeout = WAIT } = {}) {
    const later = new Webhooks(this.url, await newest(this.url, "/webhooks?limit=1"), this.#receiver);
    await get(this.url, `/messages/${encodeURIComponent(id)}/reply`, { text });
    return later.waitFor("email.received", { message: messageId, timeout });
  }

  async all() {
    const { items } = await get(this.url, `/webhooks?${this.#query({})}`);
    const details = items.map(({ id }) => get(this.url, `/webhooks/${encodeURIComponent(id)}`));
    return (await Promise.all(details)).map(withPayload);
  }

  #query(more) {
    return given({ ...more, receiver: this.#receiver, after: this.#after });
  }

  async #missing(type, timeout) {
    const place = `/hooks/${this.#receiver}`;
    const { items } = await get(this.url, `/webhooks?${this.#query({ limit: "10" })}`);
    const others = items.map((item) => `  ${item.type} of ${item.messageId}`);
    const wanted = `No webhook${type && ` ${type}`} came to ${place} within ${timeout} seconds.`;
    return missing(wanted, others, this.url + place);
  }
}

/** For `test.extend` of Playwright and Vitest: a fixture for each test. */
const fixtures = {
  // Both look at the pattern of the first argument, so it has to be one.
  pillarbox: async ({}, use) => {
    await use(await pillarbox());
  },
};

function ofVariables() {
  const names = ["PILLARBOX_URL", "PILLARBOX_INBOX_URL", "PILLARBOX_KEY"];
  const absent = names.filter((name) => !process.env[name]);
  if (absent.length) {
    throw new StackNotRunning(`PILLARBOX_URL is set, but not ${absent.join(", ")}.\n${HELP}`);
  }
  const [url, inboxUrl, key] = names.map((name) => process.env[name].replace(/\/+$/, ""));
  const { SMTP_HOST, SMTP_PORT, SMTP_USERNAME, SMTP_PASSWORD, NODE_EXTRA_CA_CERTS } = process.env;
  const smtp = {
    host: SMTP_HOST || "127.0.0.1",
    port: Number(SMTP_PORT || 5870),
    username: SMTP_USERNAME || "apikey",
    password: SMTP_PASSWORD || key,
    certificate: NODE_EXTRA_CA_CERTS || "",
  };
  return { url, inboxUrl, key, smtp };
}

async function ofState() {
  const path = join(process.env.PILLARBOX_STATE_DIR || ".local", "stack.json");
  let text;
  try {
    text = await readFile(path, "utf-8");
  } catch (cause) {
    throw new StackNotRunning(`No Pillarbox stack is running: there is no ${path}.\n${HELP}`, { cause });
  }
  const { base_url: url, inbox_url: inboxUrl, keys, smtp } = JSON.parse(text);
  return { url, inboxUrl, key: keys.live, smtp: { ...smtp, username: "apikey", password: keys.live } };
}

async function newest(url, path) {
  const { items } = await get(url, path);
  return items[0]?.id ?? "";
}

async function waited(url, path, query, timeout) {
  const end = performance.now() + timeout * 1000;
  for (;;) {
    const left = Math.max((end - performance.now()) / 1000, 0);
    query.set("wait", Math.min(left, MAX_WAIT).toFixed(3));
    const found = await get(url, `${path}?${query}`);
    if (found || left === 0) return found;
  }
}

/** Return the JSON of a path, or undefined if there is nothing; with a body it is posted. */
async function get(url, path, body) {
  const headers = { "Content-Type": "application/json" };
  let response;
  try {
    response = await fetch(url + path, body && { method: "POST", headers, body: JSON.stringify(body) });
  } catch (cause) {
    const message = `No Pillarbox stack answers at ${url}.\nStart it again: run \`make up\` in your clone of Pillarbox.`;
    throw new StackNotRunning(message, { cause });
  }
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(`${url}${path} answers ${response.status}: ${await response.text()}`);
  return response.json();
}

function given(query) {
  return new URLSearchParams(Object.entries(query).filter(([, value]) => value));
}

function missing(wanted, others, place) {
  if (!others.length) return `${wanted}\nNone has come since the test began: ${place}`;
  return [wanted, "These have come since the test began:", ...others].join("\n");
}

function withPayload(webhook) {
  let payload;
  try {
    payload = JSON.parse(webhook.body);
  } catch {
    payload = undefined; // no JSON
  }
  return { ...webhook, payload };
}

module.exports = { pillarbox, fixtures, NoEmail, NoWebhook, StackNotRunning };
