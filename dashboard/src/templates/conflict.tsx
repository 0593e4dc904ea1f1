// Two people have changed a template: show both, and lose neither.

import { useState } from "preact/hooks";

import { useAction } from "../action";
import { exact } from "../format";
import { Dialog } from "../parts/dialog";
import { Notice } from "../parts/notice";
import { toast } from "../parts/toast";
import type { TemplateDraft } from "../schema";
import { session } from "../session";
import { useGo } from "../windows";
import { Compared } from "./compared";
import { type Content, contentOf, type Draft, same, saveAsNew } from "./draft";

export function Conflict({ draft, theirs }: { draft: Draft; theirs: TemplateDraft }) {
  const go = useGo();
  const [copying, setCopying] = useState(true);
  const mine = draft.content.value;
  const stored = contentOf(theirs);
  const parts = (Object.keys(mine) as (keyof Content)[]).filter((name) => !same(mine[name], stored[name]));
  const settle = async (other: Content, choose: () => void | Promise<void>) => {
    const copy = copying ? await saveAsNew(other) : undefined;
    await choose();
    if (copy) toast(`The other one is “${copy.name}”.`);
  };
  const keepMine = useAction(() => settle(stored, () => draft.replace(theirs)));
  const takeTheirs = useAction(() => settle(mine, () => draft.take(theirs)));
  const own = theirs.updatedBy === session.value?.user.email;
  const busy = keepMine.busy || takeTheirs.busy;
  const error = keepMine.error || takeTheirs.error;
  return (
    <Dialog wide title={own ? "You have changed this template elsewhere" : "Another user has changed this template"}>
      <p>
        {own ? "You saved it in another tab or browser" : <><b>{theirs.updatedBy}</b> saved it</>} on {exact(theirs.updatedAt)}, while you were writing{own && " here"}. Your text is kept until you choose.
      </p>
      <div class="both">
        {parts.map((name) => (
          <figure key={name}>
            <figcaption>The {name}: + is yours, − is theirs</figcaption>
            <Compared name={`What differs in the ${name}`} before={show(stored[name])} after={show(mine[name])} />
          </figure>
        ))}
      </div>
      <label class="check">
        <input type="checkbox" checked={copying} onChange={() => setCopying(!copying)} /> Save the other one as a new template
      </label>
      {error && <Notice kind="bad">{error}</Notice>}
      <p class="actions">
        <button type="button" class="button primary" disabled={busy} onClick={keepMine.run}>
          Continue with mine
        </button>
        <button type="button" class="button" disabled={busy} onClick={takeTheirs.run}>
          Continue with theirs
        </button>
        <button type="button" class="button plain" disabled={busy} onClick={() => go("/app/templates")}>
          Decide later
        </button>
      </p>
    </Dialog>
  );
}

function show(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
