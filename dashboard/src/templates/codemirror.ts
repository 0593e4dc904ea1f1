// The editor of a source: CodeMirror in a shadow root, because it adds styles that the page's policy
// forbids elsewhere. Nothing else imports these packages, so no other page loads them.

import { autocompletion, closeBrackets, closeBracketsKeymap, type CompletionContext, type CompletionResult, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyField, historyKeymap } from "@codemirror/commands";
import { html, htmlLanguage } from "@codemirror/lang-html";
import { bracketMatching, codeFolding, foldEffect, foldKeymap, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState } from "@codemirror/state";
import { Decoration, drawSelection, dropCursor, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers, MatchDecorator, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import { tags } from "@lezer/highlight";

import type { Severity } from "../schema";

export interface Mark {
  line: number;
  severity: Severity;
  message: string;
}

export interface SourceEditor {
  /** Replace the text, in a way that can be undone, unless it is the same. */
  set(text: string): void;
  mark(marks: Mark[]): void;
  suggest(variables: string[]): void;
  /** Put the cursor into a line. */
  go(line: number): void;
  /** Return the steps of undo, as `open` takes them. */
  history(): unknown;
  close(): void;
}

interface Options {
  text: string;
  history: unknown;
  label: string;
  readOnly: boolean;
  onChange: (text: string) => void;
}

const SEVERITIES = { error: "error", warning: "warning", note: "info" } as const;
const FIELDS = { history: historyField };
const LONG = 400; // characters
const FILTERS = ["default", "upper", "lower", "capitalize", "trim"];

/** Open an editor in an element that has no shadow root yet, or its former one. */
export function open(host: HTMLElement, options: Options): SourceEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const completion = new Compartment();
  const extensions = [
    lineNumbers(),
    lintGutter(),
    history(),
    drawSelection(),
    dropCursor(),
    indentOnInput(),
    bracketMatching(),
    codeFolding({ placeholderText: "… styles and layout …" }),
    closeBrackets(),
    autocompletion({ icons: false }),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    search({ top: true }),
    html({ autoCloseTags: false }),
    completion.of([]),
    references,
    syntaxHighlighting(colours),
    theme,
    EditorView.lineWrapping,
    EditorState.readOnly.of(options.readOnly),
    EditorView.contentAttributes.of({ "aria-label": options.label, "aria-readonly": String(options.readOnly), spellcheck: "false", autocapitalize: "off" }),
    EditorView.updateListener.of((update) => update.docChanged && options.onChange(update.state.doc.toString())),
    // Tab leaves the editor, as it leaves every other field.
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...foldKeymap, ...lintKeymap]),
  ];
  const view = new EditorView({ state: begin(options, extensions), root, parent: root });
  view.dispatch({ effects: foldsOf(view.state.doc.toString()).map((range) => foldEffect.of(range)) });
  return {
    set(text) {
      const { doc } = view.state;
      const wanted = normal(text);
      if (wanted !== doc.toString()) view.dispatch({ changes: { from: 0, to: doc.length, insert: wanted } });
    },
    mark(marks) {
      view.dispatch(setDiagnostics(view.state, marks.map((mark) => diagnostic(view.state, mark))));
    },
    suggest(variables) {
      const source = (context: CompletionContext) => complete(context, variables);
      view.dispatch({ effects: completion.reconfigure(htmlLanguage.data.of({ autocomplete: source })) });
    },
    go(line) {
      const { from } = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
      view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
      view.focus();
    },
    history: () => (view.state.toJSON(FIELDS) as Record<string, unknown>)["history"],
    close: () => view.destroy(),
  };
}

function begin({ text, history }: Options, extensions: unknown[]): EditorState {
  const config = { doc: normal(text), extensions: extensions as never };
  if (history) {
    try {
      const kept = { doc: config.doc, selection: { ranges: [{ anchor: 0, head: 0 }], main: 0 }, history };
      return EditorState.fromJSON(kept, config, FIELDS);
    } catch {
      // Another release wrote it.
    }
  }
  return EditorState.create(config);
}

/** Return what stands before and after the first sentence of a page with a long head: an author begins with it. */
export function foldsOf(text: string): { from: number; to: number }[] {
  const begin = /^[^]*?<\/head>(\s|<!--[^]*?-->|<[^>]*>)*/i.exec(text)?.[0].length ?? 0;
  if (begin <= LONG) return [];
  // What keeps the text of the email out of the preview line of inboxes, and the name above the heading, or the tags.
  const filler = /(\u034f|\u200c|\u00a0|&nbsp;){9,}([^]*?<h1\b[^>]*>|(\s|<!--[^]*?-->|<[^>]*>)*)/i.exec(text.slice(begin));
  const from = begin + (filler?.index ?? 0);
  return [{ from: 0, to: begin }, ...(filler ? [{ from, to: from + filler[0].length }] : [])];
}

function normal(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

function diagnostic({ doc }: EditorState, { line, severity, message }: Mark): Diagnostic {
  const { from, to, text } = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const start = from + (text.length - text.trimStart().length);
  return { from: start < to ? start : from, to, severity: SEVERITIES[severity], message };
}

/** Complete the names of variables and filters in a tag. */
function complete(context: CompletionContext, variables: string[]): CompletionResult | null {
  const before = context.matchBefore(/\{[{%][^{}%]*/);
  if (!before) return null;
  const word = context.matchBefore(/[\w.]*/);
  const names = /\|\s*[\w.]*$/.test(before.text) ? FILTERS : variables;
  return { from: word?.from ?? context.pos, options: names.map((label) => ({ label })), validFor: /^[\w.]*$/ };
}

const tagMatcher = new MatchDecorator({
  regexp: /\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}/g,
  decoration: (match) => Decoration.mark({ class: match[0][1] === "#" ? "cm-remark" : "cm-reference" }),
});

const references = ViewPlugin.fromClass(
  class {
    decorations;
    constructor(view: EditorView) {
      this.decorations = tagMatcher.createDeco(view);
    }
    update(update: ViewUpdate) {
      this.decorations = tagMatcher.updateDeco(update, this.decorations);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

const colours = HighlightStyle.define([
  { tag: [tags.tagName, tags.angleBracket], color: "var(--sent)" },
  { tag: [tags.attributeName, tags.propertyName], color: "var(--complained)" },
  { tag: [tags.attributeValue, tags.string, tags.number, tags.unit, tags.color], color: "var(--delivered)" },
  { tag: [tags.comment, tags.documentMeta, tags.processingInstruction], color: "var(--soft)" },
  { tag: [tags.keyword, tags.className, tags.definitionKeyword], color: "var(--bounced)" },
]);

const theme = EditorView.theme({
  "&": { height: "100%", background: "var(--sheet)", color: "var(--ink)", fontSize: "12.5px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { padding: "10px 0", caretColor: "var(--ink)" },
  ".cm-gutters": { background: "var(--sheet)", color: "var(--soft)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { background: "color-mix(in srgb, var(--ink) 4%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused .cm-scroller .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "color-mix(in srgb, var(--accent) 22%, transparent)" },
  ".cm-selectionMatch": { background: "color-mix(in srgb, var(--accent) 12%, transparent)" },
  ".cm-foldPlaceholder": { background: "var(--well)", color: "var(--soft)", border: "1px solid var(--line)", borderRadius: "6px", padding: "0 6px", margin: "0 4px" },
  ".cm-reference, .cm-reference *": { color: "var(--accent)" },
  ".cm-remark, .cm-remark *": { color: "var(--soft)" },
  ".cm-panels, .cm-tooltip": { background: "var(--sheet)", color: "var(--ink)", borderColor: "var(--line)" },
  ".cm-panel.cm-search": { padding: "8px 10px", font: "13px system-ui, sans-serif" },
  ".cm-panel label": { fontSize: "13px" },
  ".cm-textfield, .cm-button": { background: "var(--sheet)", color: "var(--ink)", border: "1px solid var(--edge)", borderRadius: "6px", padding: "4px 8px", fontSize: "13px" },
  ".cm-button": { backgroundImage: "none" },
  ".cm-tooltip": { borderRadius: "8px", overflow: "hidden", border: "1px solid var(--line)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { background: "var(--strong)", color: "var(--on-strong)" },
  // Instead of images, which the page's policy forbids.
  ".cm-lint-marker": { content: "none", width: "9px", height: "9px", margin: "5px 2px", borderRadius: "50%" },
  ".cm-lint-marker-error": { content: "none", background: "var(--failed)" },
  ".cm-lint-marker-warning": { content: "none", background: "var(--bounced)" },
  ".cm-lint-marker-info": { content: "none", background: "var(--sent)" },
  ".cm-lintRange": { backgroundImage: "none", textDecoration: "underline wavy 1px", textUnderlineOffset: "3px" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecorationColor: "var(--failed)" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecorationColor: "var(--bounced)" },
  ".cm-lintRange-info": { backgroundImage: "none", textDecoration: "none" }, // whole lines have notes: their dot is enough
  ".cm-diagnostic": { padding: "4px 10px", font: "13px/1.5 system-ui, sans-serif", maxWidth: "420px" },
});
