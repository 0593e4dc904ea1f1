// The frame of the preview widget: an address, a code, then the key. And the page that reports test mail.

import "../styles/base.css";
import "../styles/parts.css";
import "./widget.css";

import { curlWith } from "../command";
import { exchange } from "../http";
import { solve } from "../proof";
import type { ChallengeItem } from "../schema";
import { explain, isAboutInput, WrongInput } from "./refusal";

const SHOWN = 1_500; // milliseconds
/** Stands for the service itself in the token of a link. */
const SERVICE = "0".repeat(12);
const STEPS = ["address", "code", "key", "report", "reported"] as const;
const api = <T>(path: string, body: unknown) => exchange<T>("POST", `/v1/preview-keys${path}`, { body });

interface Flow {
  flow: string;
}
interface Issued {
  key: string;
  email: string;
  expiresInDays: number;
}

let address = "";
let flow = "";

function find<T extends HTMLElement = HTMLElement>(selector: string, within: ParentNode = document): T {
  const element = within.querySelector<T>(selector);
  if (!element) throw new Error(`The page has no ${selector}.`);
  return element;
}

function show(step: (typeof STEPS)[number]): void {
  for (const one of STEPS) find(`#${one}`).hidden = one !== step;
  for (const place of document.querySelectorAll("[data-address]")) place.textContent = address;
  say("");
}

function say(text: string): void {
  find("#status").textContent = text;
}

/** Show what is wrong with a step. Only what was typed is marked as invalid. */
function refuse(step: HTMLElement, message: string, isInput = false): void {
  find(".error", step).textContent = message;
  const input = step.querySelector("input");
  if (!input) return;
  if (isInput) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
  if (isInput) input.focus();
}

/** Do what a button of a step asks for; meanwhile its other buttons do nothing. */
async function attempt(step: HTMLElement, doing: string, action: () => Promise<void>): Promise<void> {
  if (step.ariaBusy === "true") return;
  step.ariaBusy = "true";
  refuse(step, "");
  say(doing);
  try {
    await action();
  } catch (error) {
    say("");
    refuse(step, explain(error), isAboutInput(error));
  } finally {
    step.ariaBusy = "false";
  }
}

async function requestCode(): Promise<void> {
  const { challenge } = await api<{ challenge: ChallengeItem }>("/challenges", { email: address });
  ({ flow } = await api<Flow>("/codes", { email: address, proof: await solve(challenge) }));
}

function onSubmit(step: HTMLElement, action: () => Promise<void>, doing: string): void {
  step.addEventListener("submit", (event) => {
    event.preventDefault();
    void attempt(step, doing, action);
  });
}

function startKey(): void {
  const [first, second] = [find("#address"), find("#code")];
  const [email, digits] = [find<HTMLInputElement>("#email"), find<HTMLInputElement>("#digits")];

  onSubmit(
    first,
    async () => {
      address = email.value.trim();
      if (!email.validity.valid || !address) throw new WrongInput("Enter an email address, such as ada@shop.example.");
      await requestCode();
      digits.value = "";
      refuse(second, "");
      show("code");
      digits.focus();
    },
    "Your browser is doing some work, against robots. It takes a few seconds.",
  );
  onSubmit(
    second,
    async () => {
      const code = digits.value.replace(/\s/g, "");
      if (!/^\d{6}$/.test(code)) throw new WrongInput("Enter the six digits of the email.");
      showKey(await api<Issued>("", { flow, code }));
    },
    "Checking the code.",
  );
  find("#resend").addEventListener("click", () =>
    attempt(second, "Asking for a new code. It takes a few seconds.", async () => {
      await requestCode();
      digits.value = "";
      say("A new code is on its way. The one before no longer works.");
      digits.focus();
    }),
  );
  find("#change").addEventListener("click", () => {
    if (second.ariaBusy === "true") return;
    show("address");
    email.focus();
    email.select();
  });
  show("address");
}

function showKey(issued: Issued): void {
  address = issued.email;
  find("#key-text").textContent = issued.key;
  find("#command-text").textContent = curlWith(location.origin, issued.key, address);
  find("#lifetime").textContent = `After ${issued.expiresInDays} days without an email the key stops working.`;
  show("key");
  find("#key h1").focus();
}

async function copy({ currentTarget }: Event): Promise<void> {
  const button = currentTarget as HTMLButtonElement;
  const text = find(`#${button.dataset["copy"]}`);
  try {
    await navigator.clipboard.writeText(text.textContent ?? "");
    say("Copied.");
  } catch {
    // The site around the frame may forbid it.
    getSelection()?.selectAllChildren(text);
    say("Your browser does not copy here. The text is selected: copy it with the keyboard or the menu.");
    return;
  }
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), SHOWN);
}

function startReport(): void {
  const token = location.hash.slice(1);
  const step = find("#report");
  const title = find("h1", step);
  if (token.startsWith(`${SERVICE}.`)) {
    title.textContent = "Stop email from Pillarbox";
    for (const text of document.querySelectorAll<HTMLElement>("[data-of]")) text.hidden = text.dataset["of"] !== "service";
  }
  document.title = `${title.textContent} - Pillarbox`;
  onSubmit(
    step,
    async () => {
      if (!token) throw new Error("This address is not complete. Open the link in the email once more.");
      await api("/reports", { token });
      show("reported");
      find("#reported h1").focus();
    },
    "Sending your report.",
  );
  show("report");
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", (event) => void copy(event));
}
const theme = new URLSearchParams(location.search).get("theme");
if (theme) document.documentElement.dataset["theme"] = theme;
if (location.pathname === "/widget/report") startReport();
else startKey();

if (parent !== window) {
  const main = find("main");
  // Any page may learn the height: only the sites of `WidgetOrigins` get the frame.
  new ResizeObserver(() => parent.postMessage({ height: Math.ceil(main.offsetHeight) }, "*")).observe(main);
}
