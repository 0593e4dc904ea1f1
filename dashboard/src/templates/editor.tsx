// The page of one template: its source, and beside it what it becomes.

import { useEffect, useState } from "preact/hooks";
import { useRoute } from "preact-iso/router";

import { keepAnswers } from "../answers";
import { ApiError } from "../http";
import { Empty, Field, Page, Segments } from "../parts/basics";
import { Loading, Notice, Trouble } from "../parts/notice";
import { useAnswers } from "../resource";
import { may } from "../rights";
import type { SourceKind } from "../schema";
import { Actions } from "./actions";
import { Checks } from "./checks";
import type { SourceEditor } from "./codemirror";
import { Conflict } from "./conflict";
import { type Draft, open } from "./draft";
import { Variants } from "./locales";
import { Preview } from "./preview";
import { useRendering } from "./rendering";
import { FIRST, valuesOf } from "./samples";
import { Source } from "./source";
import { Variables } from "./variables";

/** The page asks for a draft again whenever it is opened. */
const nothing = keepAnswers<null>();
const KINDS = ["html", "mjml"] as const satisfies SourceKind[];
/** No account keeps content longer, so a template with these days adds no limit. */
const MOST_DAYS = 90;
const KEEP_DAYS = [MOST_DAYS, 30, 7, 1, 0];

export function TemplatePage() {
  const id = useRoute().params["id"] ?? "";
  return <Opened key={id} id={id} />;
}

function Opened({ id }: { id: string }) {
  const [draft, setDraft] = useState<Draft>();
  const found = useAnswers(nothing, id, async (signal) => {
    if (!draft) setDraft(await open(id, signal));
    return null; // the draft is kept there only
  });
  if (draft) return <Editor draft={draft} />;
  return <Waiting error={found.error} title="Template">{!isMissing(found.error) && <Trouble of={found} />}</Waiting>;
}

function Editor({ draft }: { draft: Draft }) {
  const content = draft.content.value;
  const readOnly = !may("templates");
  const theirs = draft.theirs.value;
  const [editor, setEditor] = useState<SourceEditor>();
  const [chosen, setSet] = useState("");
  const set = chosen && chosen in content.samples ? chosen : (Object.keys(content.samples)[0] ?? FIRST);
  const values = valuesOf(content, set);
  const { kind } = content;
  const { subject, source, text } = draft.part.value;
  const inLocale = draft.locale.value !== "";
  const other = inLocale ? { default: { subject: content.subject, source: content.source, text: content.text } } : {};
  const rendering = useRendering({ kind, subject, source, text, ...other, variables: values });
  const problems = rendering.answer?.problems ?? [];
  const variables = rendering.email?.variables ?? [];
  const go = (line: number) => editor?.go(line);
  useKeeping(draft);
  return (
    <Page
      title={content.name || "Template"}
      actions={<Actions draft={draft} errors={problems.filter(({ severity }) => severity === "error").length} values={values} set={set} />}
    >
      <p class="crumbs">
        <a href="/app/templates">Templates</a> <SaveState draft={draft} readOnly={readOnly} />
      </p>
      {readOnly && <Notice kind="note">Owners, developers and authors edit templates.</Notice>}
      <form class="head-fields" onSubmit={(event) => event.preventDefault()}>
        <Field label="Name">
          <input required readOnly={readOnly} maxLength={128} value={content.name} onInput={(event) => draft.change({ name: event.currentTarget.value })} />
        </Field>
        <Field label="Subject">
          <input readOnly={readOnly} maxLength={998} value={subject} onInput={(event) => draft.changePart({ subject: event.currentTarget.value })} />
        </Field>
        <Field label="Category">
          <input required readOnly={readOnly} maxLength={128} value={content.category} onInput={(event) => draft.change({ category: event.currentTarget.value })} />
        </Field>
        <Field label="Keep content">
          <select disabled={readOnly} value={content.keepDays} onChange={(event) => draft.change({ keepDays: Number(event.currentTarget.value) })}>
            {[...new Set([...KEEP_DAYS, content.keepDays])].map((days) => (
              <option key={days} value={days}>
                {days === MOST_DAYS ? "As the account" : days ? `At most ${days} ${days === 1 ? "day" : "days"}` : "Never"}
              </option>
            ))}
          </select>
        </Field>
        <Segments name="Language" of={readOnly ? [kind] : KINDS} value={kind} onChange={(next) => draft.change({ kind: next })} />
      </form>
      <Variants draft={draft} readOnly={readOnly} />
      <div class="editor">
        <Source draft={draft} readOnly={readOnly} problems={problems} variables={variables} onOpen={setEditor} />
        <Preview of={rendering} />
        <Checks problems={problems} onGo={go} />
        <Variables draft={draft} readOnly={readOnly} variables={variables} set={set} onSet={setSet} onGo={go} />
      </div>
      {theirs && <Conflict draft={draft} theirs={theirs} />}
    </Page>
  );
}

function SaveState({ draft, readOnly }: { draft: Draft; readOnly: boolean }) {
  const state = draft.state.value;
  const { publishedVersion, changed } = draft.stored.value;
  const version = !publishedVersion ? "not published" : changed ? `changed since version ${publishedVersion}` : `version ${publishedVersion}`;
  const saved = state.kind === "saving" ? "saving…" : draft.changed.value ? "not saved yet" : "saved";
  return (
    <span class="save" role="status">
      · {version}
      {!readOnly && <> · {state.kind === "failed" ? <b class="error">Not saved: {state.message} Your text is kept here.</b> : saved}</>}
    </span>
  );
}

/** Save with Ctrl+S, keep the draft when the page is left, and look for changes on the way back. */
function useKeeping(draft: Draft): void {
  useEffect(() => {
    const save = () => void draft.save().catch(() => {});
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      save();
    };
    const onLeave = (event: BeforeUnloadEvent) => {
      draft.keep();
      if (draft.changed.value) event.preventDefault();
    };
    const onShow = () => {
      if (document.hidden) save();
      else void draft.refresh().catch(() => {});
    };
    addEventListener("keydown", onKey);
    addEventListener("beforeunload", onLeave);
    document.addEventListener("visibilitychange", onShow);
    return () => {
      removeEventListener("keydown", onKey);
      removeEventListener("beforeunload", onLeave);
      document.removeEventListener("visibilitychange", onShow);
      save();
    };
  }, [draft]);
}

function Waiting({ error, title, children }: { error?: Error; title: string; children: preact.ComponentChildren }) {
  return (
    <Page title={title}>
      <p class="crumbs">
        <a href="/app/templates">Templates</a>
      </p>
      {children}
      {isMissing(error) && (
        <Empty icon="templates" title="There is no such template">
          <p>It may have been deleted, or belong to another account.</p>
        </Empty>
      )}
      {!error && <Loading />}
    </Page>
  );
}

function isMissing(error?: Error): boolean {
  return error instanceof ApiError && (error.status === 404 || error.status === 422);
}
