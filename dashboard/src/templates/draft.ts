// A draft while it is edited: saved by itself, and kept while the service does not answer.

import { computed, signal } from "@preact/signals";

import { call } from "../api";
import { ApiError } from "../http";
import { keep, recall } from "../kept";
import type { SaveDraftRequest, TemplateDraft } from "../schema";
import { session } from "../session";

export type Content = Required<Omit<SaveDraftRequest, "text" | "keepDays" | "locales" | "samples">> & Pick<TemplateDraft, "keepDays" | "locales" | "samples"> & { text: string };
/** What a template has for one locale, and for all others. */
export type Part = Pick<Content, "subject" | "source" | "text">;
export type Values = Record<string, unknown>;

type State = { kind: "idle" | "saving" } | { kind: "failed"; message: string };

/** What a tab keeps, so that a reload loses neither words nor the steps of undo. */
interface Kept {
  revision: number;
  content: Content;
  changed: boolean;
  history: unknown;
}

const PAUSE = 1_500; // milliseconds without a change, after which a draft is saved
const LATEST = 10_000; // after its first change
const RETRY = 5_000;
const PREFIX = "pillarbox.draft.";

export class Draft {
  /** What the service has. */
  readonly stored;
  /** What the author sees. */
  readonly content;
  readonly state = signal<State>({ kind: "idle" });
  /** What somebody else saved in the meantime. */
  readonly theirs = signal<TemplateDraft | null>(null);
  readonly changed;
  /** The locale that the author edits; an empty one is the default. */
  readonly locale = signal("");
  /** What it has. */
  readonly part;
  /** Returns the steps of undo, while there is an editor. */
  history: () => unknown;

  readonly #name: string;
  readonly #owner = owner();
  #timer = 0;
  #since = 0;
  #running: Promise<void> | undefined;

  constructor(stored: TemplateDraft) {
    this.#name = PREFIX + stored.id;
    this.stored = signal(stored);
    this.content = signal(contentOf(stored));
    this.changed = computed(() => !same(this.content.value, contentOf(this.stored.value)));
    this.part = computed<Part>(() => {
      const { subject, source, text, locales } = this.content.value;
      const { [this.locale.value]: own } = locales;
      return own ? { subject: own.subject, source: own.source, text: own.text ?? "" } : { subject, source, text };
    });
    const kept = read(this.#name);
    this.history = () => undefined;
    if (!kept) return;
    // What an earlier release kept has fewer fields.
    if (kept.changed) this.content.value = { ...this.content.value, ...kept.content };
    // The steps lead to this text, even if the answer to its save was lost in the reload.
    if (kept.content.source === this.content.value.source) this.history = () => kept.history;
    if (kept.revision !== stored.revision && this.changed.value) this.theirs.value = stored;
    this.plan();
  }

  get id(): string {
    return this.stored.value.id;
  }

  /** Whether the draft belongs to who is signed in now. */
  get isOurs(): boolean {
    return this.#owner === owner();
  }

  change(part: Partial<Content>): void {
    this.content.value = { ...this.content.value, ...part };
    this.plan();
  }

  /** Change the part of the locale that is edited. */
  changePart(part: Partial<Part>): void {
    const { [this.locale.value]: own, ...others } = this.content.value.locales;
    if (own) this.change({ locales: { ...others, [this.locale.value]: { ...own, ...part } } });
    else this.change(part);
  }

  /**
   * Save all changes now.
   *
   * @throws what `call` throws, or an error that says that somebody else changed the draft
   */
  save(): Promise<void> {
    clearTimeout(this.#timer);
    this.#running ??= this.#save().finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** Show what the service has now, instead of what the author saw. */
  take(stored: TemplateDraft): void {
    this.stored.value = stored;
    this.content.value = contentOf(stored);
    this.theirs.value = null;
    this.state.value = { kind: "idle" };
    this.keep();
  }

  /** Replace what somebody else saved. */
  replace(theirs: TemplateDraft): Promise<void> {
    this.stored.value = theirs;
    this.theirs.value = null;
    return this.save();
  }

  /** Run an operation on the saved draft that may meet the change of somebody else. */
  async onSaved<T>(action: (at: { path: { id: string }; ifMatch: number }) => Promise<T>): Promise<T> {
    await this.save();
    try {
      return await action({ path: { id: this.id }, ifMatch: this.stored.value.revision });
    } catch (error) {
      this.#meet(error);
      throw error;
    }
  }

  /** Take what others changed, unless the author has changed something too. */
  async refresh(): Promise<void> {
    if (this.changed.value || this.theirs.value) return;
    const found = await call("GET /v1/templates/{id}/draft", { path: { id: this.id } });
    if (found.revision > this.stored.value.revision && !this.changed.value) this.take(found);
  }

  /** Keep the draft in this tab. */
  keep(): void {
    if (!this.isOurs || drafts.get(this.id) !== this) return;
    const kept: Kept = {
      revision: this.stored.value.revision,
      content: this.content.value,
      changed: this.changed.value,
      history: this.history(),
    };
    if (!store(this.#name, kept)) store(this.#name, { ...kept, history: undefined });
  }

  /** Save nothing more, because the template is deleted. */
  forget(): void {
    clearTimeout(this.#timer);
    this.content.value = contentOf(this.stored.value);
    drafts.delete(this.id);
    keep(this.#name, null, "sessionStorage");
  }

  /** Save soon what has changed. */
  plan(): void {
    clearTimeout(this.#timer);
    if (this.theirs.value || !this.changed.value) return;
    const now = Date.now();
    this.#since ||= now;
    const wait = Math.max(0, Math.min(PAUSE, this.#since + LATEST - now));
    this.#timer = window.setTimeout(() => void this.save().catch(() => {}), wait);
  }

  async #save(): Promise<void> {
    this.#since = 0;
    this.keep();
    while (this.changed.value) {
      if (this.theirs.value) throw new Error("Another user has changed the template.");
      if (!this.isOurs) return;
      const body = this.content.value;
      this.state.value = { kind: "saving" };
      try {
        const path = { id: this.id };
        const answer = await call("PUT /v1/templates/{id}/draft", { path, body, ifMatch: this.stored.value.revision });
        this.stored.value = { ...answer, ...body }; // what was sent, however the service writes it
      } catch (error) {
        if (this.#meet(error, body)) continue;
        this.state.value = { kind: "failed", message: (error as Error).message };
        if (!(error instanceof ApiError)) this.#timer = window.setTimeout(() => void this.save().catch(() => {}), RETRY);
        throw error;
      }
    }
    this.state.value = { kind: "idle" };
    this.keep();
  }

  /** Note what somebody else saved; return true if it is what was sent, because an answer was lost. */
  #meet(error: unknown, sent?: Content): boolean {
    if (!(error instanceof ApiError) || error.code !== "draft_changed") return false;
    const theirs = error.details["draft"] as TemplateDraft;
    const ours = !!sent && same(contentOf(theirs), sent);
    if (ours) this.stored.value = theirs;
    else this.theirs.value = theirs;
    return ours;
  }
}

/** Drafts by id: one that is not saved yet stays when its page is left. */
const drafts = new Map<string, Draft>();

/** Load a draft, or return the one that this tab still has to save. */
export async function open(id: string, signal: AbortSignal): Promise<Draft> {
  const before = drafts.get(id);
  if (before?.isOurs && (before.changed.value || before.theirs.value)) {
    before.plan();
    return before;
  }
  const draft = new Draft(await call("GET /v1/templates/{id}/draft", { path: { id }, signal }));
  if (!signal.aborted) drafts.set(id, draft);
  return draft;
}

/** Make a new template of a draft. */
export async function saveAsNew(content: Content): Promise<TemplateDraft> {
  const { category } = content;
  const name = `Copy of ${content.name}`.slice(0, 128);
  const { id, revision } = await call("POST /v1/templates", { body: { name, category } });
  return call("PUT /v1/templates/{id}/draft", { path: { id }, body: { ...content, name }, ifMatch: revision });
}

export function contentOf({ name, subject, category, kind, source, text, keepDays, locales, samples }: TemplateDraft): Content {
  return { name, subject, category, kind, source, text: text ?? "", keepDays, locales, samples };
}

export function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function owner(): string {
  return `${session.value?.user.id} ${session.value?.account?.id}`;
}

function read(name: string): Kept | undefined {
  const text = recall(name, "sessionStorage");
  return text ? (JSON.parse(text) as Kept) : undefined;
}

/** Return false if there is no room. */
const store = (name: string, kept: Kept) => keep(name, JSON.stringify(kept), "sessionStorage");
