// A draft: saved by itself, kept while the service is down, and never overwritten in silence.

import { deepEqual, equal, rejects } from "node:assert/strict";
import { beforeEach, test } from "node:test";

import type { TemplateDraft } from "../src/schema";
import { renew, session } from "../src/session";
import { open, saveAsNew } from "../src/templates/draft";
import { anew, answering, type Asked, pass, refusal } from "./browser";

let user: string;
let stored: TemplateDraft;
let asked: Asked[];
/** Answers a save instead of the service, which takes it if nothing is returned. */
let onSave: (asked: Asked) => [number, unknown?] | undefined;

beforeEach(() => {
  anew();
  user = "ada";
  session.value = undefined;
  stored = { id: String(Math.random()), name: "Receipt", subject: "s", category: "c", kind: "html", source: "old", text: null, keepDays: 90, locales: {}, samples: {}, revision: 1 } as unknown as TemplateDraft;
  onSave = () => undefined;
  asked = answering((one) => {
    if (one.path === "session/token") return [200, { token: "t", expiresIn: 900, user: { id: user }, account: { id: "a" } }];
    if (one.method !== "PUT") return [200, stored];
    const answer = onSave(one);
    if (answer) return answer;
    stored = { ...stored, ...(one.body as object), revision: stored.revision + 1 };
    return [200, stored];
  });
});

const load = async () => {
  await renew();
  return open(stored.id, new AbortController().signal);
};
const saves = () => asked.filter(({ method }) => method === "PUT");
const down = (): never => {
  throw new TypeError("fetch failed");
};
/** Load the page again: the tab keeps its storage, and nothing else. */
async function reloaded() {
  const keep = sessionStorage.getItem(`pillarbox.draft.${stored.id}`);
  const again = await load();
  again.forget();
  if (keep) sessionStorage.setItem(`pillarbox.draft.${stored.id}`, keep);
  return load();
}
const theirs = (source: string) => ({ ...stored, source, revision: stored.revision + 1 });
const changed = (draft: TemplateDraft): [number, unknown] => [412, refusal("draft_changed", { draft })];

test("a pause of 1.5 seconds saves once, with the revision that it replaces", async () => {
  const draft = await load();
  draft.change({ source: "n" });
  await pass(1_000);
  draft.change({ source: "new" });
  await pass(1_499);
  equal(saves().length, 0);
  await pass(1);
  deepEqual(saves().map(({ body, headers }) => [(body as TemplateDraft).source, headers["If-Match"]]), [["new", '"1"']]);
  deepEqual([draft.changed.value, draft.stored.value.revision], [false, 2]);
});

test("who writes without a pause is saved after ten seconds", async () => {
  const draft = await load();
  for (let second = 0; second < 10; second += 1) {
    draft.change({ source: `${second}` });
    equal(saves().length, 0);
    await pass(1_000);
  }
  equal(saves().length, 1);
});

test("while the service is down the text stays, and is saved when it answers", async () => {
  const draft = await load();
  onSave = down;
  draft.change({ source: "new" });
  await pass(1_500);
  deepEqual(draft.state.value, { kind: "failed", message: "The service does not answer." });
  equal(await load(), draft); // its page was left and opened again
  onSave = () => undefined;
  await pass(5_000);
  deepEqual([draft.state.value.kind, draft.content.value.source, stored.source], ["idle", "new", "new"]);
});

for (const loses of ["a save", "its answer"]) {
  test(`a reload after an outage that took ${loses} loses neither the text nor the steps of undo`, async () => {
    const draft = await load();
    draft.history = () => "steps";
    onSave = (one) => {
      if (loses === "its answer") stored = { ...stored, ...(one.body as object), revision: 2 };
      return down();
    };
    draft.change({ source: "new" });
    await pass(1_500);
    onSave = () => undefined;
    const again = await reloaded();
    deepEqual([again.content.value.source, again.history(), again.theirs.value], ["new", "steps", null]);
    await pass(1_500);
    equal(stored.source, "new");
  });
}

test("the steps of undo are not those of a text that somebody else replaced", async () => {
  const draft = await load();
  draft.history = () => "steps";
  draft.keep();
  stored = theirs("theirs");
  const again = await reloaded();
  deepEqual([again.content.value.source, again.history()], ["theirs", undefined]);
});

test("a refusal is said, and not repeated", async () => {
  const draft = await load();
  onSave = () => [422, refusal("validation_failed")];
  draft.change({ source: "new" });
  await pass(60_000);
  deepEqual([saves().length, draft.state.value], [1, { kind: "failed", message: "validation_failed." }]);
});

test("what somebody else saved stops all saves until the author chooses, also after a reload", async () => {
  const draft = await load();
  const other = theirs("theirs");
  onSave = () => changed(other);
  draft.change({ source: "mine" });
  await pass(1_500);
  equal(draft.theirs.value?.source, "theirs");
  draft.change({ source: "mine too" });
  await pass(60_000);
  equal(saves().length, 1);
  draft.keep();
  stored = other;
  onSave = () => undefined;
  const again = await reloaded();
  deepEqual([again.theirs.value?.source, again.content.value.source], ["theirs", "mine too"]);
  await again.replace(other);
  deepEqual([stored.source, stored.revision], ["mine too", 3]);
});

test("an author who continues with the text of another sees it, and saves nothing", async () => {
  const draft = await load();
  onSave = () => changed(theirs("theirs"));
  draft.change({ source: "mine" });
  await pass(1_500);
  draft.take(theirs("theirs"));
  await pass(60_000);
  deepEqual([draft.content.value.source, draft.changed.value, saves().length], ["theirs", false, 1]);
});

test("a save whose answer was lost is no change of somebody else", async () => {
  const draft = await load();
  onSave = (one) => {
    onSave = () => changed(stored);
    stored = { ...stored, ...(one.body as object), revision: 2 };
    return down();
  };
  draft.change({ source: "new" });
  await pass(1_500);
  await pass(5_000);
  deepEqual([draft.theirs.value, draft.state.value.kind, draft.stored.value.revision], [null, "idle", 2]);
});

test("news replace the text of an author who changed nothing", async () => {
  const draft = await load();
  stored = theirs("theirs");
  await draft.refresh();
  equal(draft.content.value.source, "theirs");
  draft.change({ source: "mine" });
  stored = theirs("newer");
  await draft.refresh();
  equal(draft.content.value.source, "mine");
});

test("an operation runs on the saved draft, and meets the change of somebody else", async () => {
  const draft = await load();
  draft.change({ source: "new" });
  equal(await draft.onSaved(({ ifMatch }) => Promise.resolve(ifMatch)), 2);
  onSave = () => changed(theirs("theirs"));
  draft.change({ source: "newer" });
  await rejects(draft.onSaved(() => Promise.resolve()), /draft_changed/);
  equal(draft.theirs.value?.source, "theirs");
});

test("a draft of another user is neither saved nor kept", async () => {
  const draft = await load();
  draft.change({ source: "of Ada" });
  user = "bob";
  await renew();
  await pass(60_000);
  equal(saves().length, 0);
  equal((await load()).content.value.source, "old");
});

test("a deleted template is saved no more", async () => {
  const draft = await load();
  draft.change({ source: "new" });
  draft.keep();
  draft.forget();
  await pass(60_000);
  deepEqual([saves().length, sessionStorage.getItem(`pillarbox.draft.${stored.id}`)], [0, null]);
});

test("a locale has words of its own, and the default keeps its", async () => {
  const draft = await load();
  draft.changePart({ text: "plain" });
  draft.change({ locales: { de: draft.part.value } });
  draft.locale.value = "de";
  draft.changePart({ subject: "Beleg", source: "neu" });
  const { subject, source, text, locales } = draft.content.value;
  deepEqual([subject, source, text], ["s", "old", "plain"]);
  deepEqual([draft.part.value, locales], [{ subject: "Beleg", source: "neu", text: "plain" }, { de: draft.part.value }]);
  draft.locale.value = "fr"; // somebody else removed it
  equal(draft.part.value.subject, "s");
});

test("the other text becomes a new template with its content and a name of its own", async () => {
  const content = { name: "n".repeat(128), subject: "s", category: "c", kind: "html", source: "mine", text: "", keepDays: 90, locales: {}, samples: {} } as const;
  await saveAsNew(content);
  const [, made, saved] = asked;
  const name = `Copy of ${"n".repeat(120)}`;
  deepEqual([made?.path, made?.body], ["templates", { name, category: "c" }]);
  deepEqual([saved?.body, saved?.headers["If-Match"]], [{ ...content, name }, '"1"']);
});
