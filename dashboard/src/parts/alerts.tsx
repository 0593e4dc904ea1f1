// What the owners of an account hear of, and how.

import { attempt, useAction } from "../action";
import { call } from "../api";
import { useFields } from "../fields";
import { flipped, KINDS, kindsOf, testWords, textOf } from "../pages/alert-words";
import { useResource } from "../resource";
import type { AlertDetail, ChangeAlertsRequest } from "../schema";
import { Field, Time } from "./basics";
import { Notice, Progress } from "./notice";
import { toast } from "./toast";

export function Alerts() {
  const alerts = useResource("GET /v1/account/alerts");
  return (
    <section class="card">
      <h2>Alerts</h2>
      <p class="hint">What the owners of the account hear of: at once, and then of each kind at most once an hour.</p>
      <Progress of={alerts} />
      {alerts.data && <Choices of={alerts.data} onSaved={alerts.show} onTested={alerts.reload} />}
    </section>
  );
}

function Choices({ of: stored, onSaved, onTested }: { of: AlertDetail; onSaved: (alerts: AlertDetail) => void; onTested: () => void }) {
  const { shown, changes, type, saved } = useFields({ mail: stored.mail, off: textOf(stored.off), chatUrl: "" });
  const off = kindsOf(shown.off);
  const save = async (body: ChangeAlertsRequest) => onSaved(await call("PATCH /v1/account/alerts", { body }));
  const { busy, error, run } = useAction(async () => {
    if (Object.keys(changes).length === 0) return toast("Nothing has changed.");
    await save({ ...changes, off });
    saved(changes);
    toast("The alerts are changed.");
  });
  return (
    <form class="settings" onSubmit={run}>
      <fieldset class="options">
        <legend>Tell us when</legend>
        {Object.entries(KINDS).map(([kind, words]) => (
          <label key={kind}>
            <input type="checkbox" checked={!off.includes(kind as never)} onChange={() => type({ off: flipped(shown.off, kind) })} />
            {words}
          </label>
        ))}
      </fieldset>
      <fieldset class="options">
        <legend>How</legend>
        <label>
          <input type="checkbox" checked={shown.mail} onChange={() => type({ mail: !shown.mail })} />
          By email to the owners
        </label>
      </fieldset>
      {stored.chatAllowed && (
        <Field label="In a room of Slack or Teams" hint="The URL of an incoming webhook. It is a secret, so it is not shown again.">
          <input type="url" maxLength={2048} placeholder={stored.chat ?? "https://hooks.slack.com/services/…"} value={shown.chatUrl} onInput={(event) => type({ chatUrl: event.currentTarget.value.trim() })} />
        </Field>
      )}
      {stored.chat && (
        <p>
          Posts go to <code>{stored.chat}</code>.{" "}
          <button type="button" class="link" onClick={() => attempt(() => save({ chatUrl: "" }))}>
            Stop them
          </button>
        </p>
      )}
      {stored.lastPost?.error && (
        <Notice kind="bad">
          The last post failed <Time at={stored.lastPost.at} />: {stored.lastPost.error}
        </Notice>
      )}
      {error && <Notice kind="bad">{error}</Notice>}
      <p class="actions">
        <button type="button" class="button" disabled={!stored.mail && !stored.chat} onClick={() => attempt(() => test(onTested))}>
          Send a test
        </button>
        <button class="button primary" disabled={busy}>
          Change alerts
        </button>
      </p>
    </form>
  );
}

async function test(onTested: () => void) {
  const result = await call("POST /v1/account/alerts/test");
  onTested();
  toast(testWords(result), !!result.post?.error);
}
