// The field of a template's source. Its editor is loaded when the first template is opened.

import { useEffect, useRef, useState } from "preact/hooks";

import { Loading, Notice } from "../parts/notice";
import type { TemplateProblem, TemplateVariable } from "../schema";
import type { SourceEditor } from "./codemirror";
import type { Draft } from "./draft";

interface Properties {
  draft: Draft;
  readOnly: boolean;
  problems: TemplateProblem[];
  variables: TemplateVariable[];
  onOpen: (editor: SourceEditor) => void;
}

export function Source({ draft, readOnly, problems, variables, onOpen }: Properties) {
  const host = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<SourceEditor>();
  const [failed, setFailed] = useState(false);
  const { source } = draft.part.value;
  const locale = draft.locale.value;

  useEffect(() => {
    let opened: SourceEditor | undefined;
    let left = false;
    import("./codemirror").then(
      ({ open }) => {
        if (left || !host.current) return;
        opened = open(host.current, {
          text: draft.part.value.source,
          history: locale ? undefined : draft.history(),
          label: "Source",
          readOnly,
          onChange: (text) => draft.changePart({ source: text }),
        });
        if (!locale) draft.history = opened.history;
        setEditor(opened);
        onOpen(opened);
      },
      () => setFailed(true),
    );
    return () => {
      left = true;
      const steps = opened?.history();
      if (!locale) draft.history = () => steps;
      opened?.close();
    };
  }, [draft, locale]);
  // Not `source`: when this runs, the author may have written more.
  useEffect(() => editor?.set(draft.part.value.source), [editor, source]);
  const marks = JSON.stringify(problems);
  useEffect(() => {
    editor?.mark(problems.flatMap(({ line, severity, message, suggestion, field }) => (line && field !== "subject" ? [{ line, severity, message: suggestion ? `${message} Allowed: ${suggestion}` : message }] : [])));
  }, [editor, marks]);
  const names = variables.map(({ path }) => path.replaceAll("[]", "")).join(" ");
  useEffect(() => editor?.suggest(names.split(" ")), [editor, names]);

  return (
    <>
      {!editor && !failed && <Loading />}
      {failed && <Notice kind="bad">The editor could not be loaded. Load the page again.</Notice>}
      <div class="source" ref={host} />
    </>
  );
}
