// What was published, and a way back to it.

import { useState } from "preact/hooks";

import { useAction } from "../action";
import { call } from "../api";
import { Badge, Code, Segments, Time } from "../parts/basics";
import { CursorPager } from "../parts/cursor-pager";
import { Dialog } from "../parts/dialog";
import { Loading, Notice, Progress } from "../parts/notice";
import { toast } from "../parts/toast";
import { useResource } from "../resource";
import { may } from "../rights";
import type { TemplateVersion, TemplateVersionSummary } from "../schema";
import { Compared } from "./compared";
import type { Draft, Values } from "./draft";
import { Frame } from "./preview";
import { useRendering } from "./rendering";

const VIEWS = ["changes", "preview", "source"] as const;

export function Versions({ draft, values, onClose }: { draft: Draft; values: Values; onClose: () => void }) {
  const path = { id: draft.id };
  const [cursor, setCursor] = useState<string>();
  const list = useResource("GET /v1/templates/{id}/versions", { path, query: { cursor } });
  return (
    <Dialog drawer title="Versions" onClose={onClose}>
      <Progress of={list} />
      {list.data?.items.length === 0 && <p class="hint">Nothing is published yet. Emails can name the template after you publish it.</p>}
      {list.data && list.data.items.length > 0 && <p class="hint">The last 100 versions are kept.</p>}
      <ul class="versions">
        {list.data?.items.map((version) => (
          <li key={version.version}>
            <Version of={version} draft={draft} values={values} onRestored={onClose} />
          </li>
        ))}
      </ul>
      <CursorPager cursor={cursor} next={list.data?.nextCursor} names={["Newest", "Older"]} onChange={(to) => setCursor(to || undefined)} />
    </Dialog>
  );
}

interface VersionProperties {
  of: TemplateVersionSummary;
  draft: Draft;
  values: Values;
  onRestored: () => void;
}

function Version({ of: { version, published, publishedBy, publishedAt, subject }, draft, values, onRestored }: VersionProperties) {
  const [open, setOpen] = useState(false);
  const { busy, error, run } = useAction(async () => {
    draft.take(await draft.onSaved((at) => call("POST /v1/templates/{id}/restore", { ...at, body: { version } })));
    toast(`The draft is version ${version}. Undo brings your text back.`);
    onRestored();
  });
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <b>Version {version}</b> {published && <Badge status="delivered">published</Badge>} <Time at={publishedAt} />
        <small>
          {subject} · {publishedBy}
        </small>
      </summary>
      {open && <Content draft={draft} version={version} values={values} />}
      {error && <Notice kind="bad">{error}</Notice>}
      {may("templates") && (
        <p class="actions">
          <button type="button" class="button small" disabled={busy} onClick={run}>
            Restore version {version}
          </button>
        </p>
      )}
    </details>
  );
}

/** What a version has: beside the draft, as an email with the values of the editor, or as it was written. */
function Content({ draft, version, values }: { draft: Draft; version: number; values: Values }) {
  const path = { id: draft.id, version: String(version) };
  const detail = useResource("GET /v1/templates/{id}/versions/{version}", { path });
  const [view, setView] = useState<(typeof VIEWS)[number]>("changes");
  const { data } = detail;
  return (
    <>
      <Progress of={detail} />
      {data && (
        <>
          <Segments name={`View of version ${version}`} of={VIEWS} value={view} onChange={setView} />
          {view === "changes" && <Changes of={data} draft={draft} />}
          {view === "preview" && <Rendered of={data} values={values} />}
          {view === "source" && <Code text={data.source} />}
        </>
      )}
    </>
  );
}

function Changes({ of: { version, subject, source }, draft }: { of: TemplateVersion; draft: Draft }) {
  const now = draft.content.value;
  if (subject === now.subject && source === now.source) return <p class="hint">The draft has the same subject and source.</p>;
  return (
    <>
      <p class="hint">From version {version} to the draft.</p>
      {subject !== now.subject && <Compared name="Changes of the subject" before={subject} after={now.subject} />}
      {source !== now.source && <Compared name="Changes of the source" before={source} after={now.source} />}
    </>
  );
}

function Rendered({ of: { kind, subject, source, text }, values }: { of: TemplateVersion; values: Values }) {
  const { email, answer, error } = useRendering({ kind, subject, source, text: text ?? "", variables: values });
  if (error) return <Notice kind="bad">{error.message}</Notice>;
  if (!email) return answer ? <Notice kind="bad">With these values it has errors.</Notice> : <Loading />;
  return (
    <>
      <p>
        <b>{email.subject}</b>
      </p>
      <Frame html={email.html ?? ""} scheme="light" device="desktop" images={false} />
    </>
  );
}
