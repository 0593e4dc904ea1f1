// What was published, and a way back to it.

import { useState } from "preact/hooks";

import { useAction } from "../action";
import { call } from "../api";
import { Badge, Code, Time } from "../parts/basics";
import { Dialog } from "../parts/dialog";
import { CursorPager } from "../parts/list";
import { Notice, Progress } from "../parts/notice";
import { toast } from "../parts/toast";
import { useResource } from "../resource";
import { may } from "../rights";
import type { TemplateVersionSummary } from "../schema";
import type { Draft } from "./draft";

export function Versions({ draft, onClose }: { draft: Draft; onClose: () => void }) {
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
            <Version of={version} draft={draft} onRestored={onClose} />
          </li>
        ))}
      </ul>
      <CursorPager cursor={cursor} next={list.data?.nextCursor} names={["Newest", "Older"]} onChange={(to) => setCursor(to || undefined)} />
    </Dialog>
  );
}

function Version({ of: { version, published, publishedBy, publishedAt, subject }, draft, onRestored }: { of: TemplateVersionSummary; draft: Draft; onRestored: () => void }) {
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
      {open && <Text id={draft.id} version={version} />}
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

function Text({ id, version }: { id: string; version: number }) {
  const path = { id, version: String(version) };
  const detail = useResource("GET /v1/templates/{id}/versions/{version}", { path });
  return (
    <>
      <Progress of={detail} />
      {detail.data && <Code text={detail.data.source} />}
    </>
  );
}
