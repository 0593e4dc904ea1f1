// The endpoints that events are sent to.

import { useState } from "preact/hooks";

import { useAction } from "../action";
import { call } from "../api";
import { Badge, Code, Empty, Field, Page, Time } from "../parts/basics";
import { Buttons, Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { Head } from "../parts/list";
import { Notice, Progress } from "../parts/notice";
import { useResource } from "../resource";
import { may } from "../rights";
import type { CreateWebhookRequest, Webhook, WebhookWithSecret } from "../schema";
import { useGo } from "../windows";

export default function Webhooks() {
  const list = useResource("GET /v1/webhooks");
  const [adding, setAdding] = useState(false);
  const add = may("webhooks") && (
    <button type="button" class="button primary" onClick={() => setAdding(true)}>
      <Icon name="plus" /> Add endpoint
    </button>
  );
  return (
    <Page title="Webhooks" actions={add}>
      <p class="lead">The service sends what happens to your emails to these addresses, signed as Standard Webhooks, or puts it into your AWS account.</p>
      <Progress of={list} />
      {list.data?.items.length === 0 && (
        <Empty icon="webhooks" title="No endpoints yet">
          <p>
            Add the address of your application that receives events. <a href="/app/guides/webhooks">What it gets</a>
          </p>
        </Empty>
      )}
      {!!list.data?.items.length && (
        <table class="list">
          <Head columns={["Endpoint", "Events", "State", "Created"]} />
          <tbody>
            {list.data.items.map((endpoint) => (
              <tr key={endpoint.id}>
                <td class="who">
                  <a class="row" href={`/app/webhooks/${endpoint.id}`}>
                    {endpoint.url}
                  </a>
                </td>
                <td class="what">{describeTypes(endpoint.types)}</td>
                <td>
                  <EndpointState of={endpoint} />
                </td>
                <td class="when">
                  <Time at={endpoint.createdAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {adding && <AddEndpoint onClose={() => setAdding(false)} onAdded={list.reload} />}
    </Page>
  );
}

export function describeTypes(types: string[]): string {
  return types.includes("*") ? "All events except email.accepted" : types.join(", ");
}

export function EndpointState({ of: { enabled, disabledAt, failingSince } }: { of: Webhook }) {
  if (disabledAt) return <Badge status="failed">disabled by the service</Badge>;
  if (!enabled) return <Badge status="pending">disabled</Badge>;
  return failingSince ? <Badge status="bounced">failing</Badge> : <Badge status="delivered">enabled</Badge>;
}

const TYPES = [
  "email.sent",
  "email.delivered",
  "email.delayed",
  "email.bounced",
  "email.complained",
  "email.failed",
  "email.accepted",
  "suppression.added",
  "account.paused",
] satisfies CreateWebhookRequest["types"];

/** Show a secret, once, until the reader says that it is saved. */
export function SecretWindow({ secret, onSaved }: { secret: string; onSaved: () => void }) {
  return (
    <Dialog title="Save the secret now">
      <p>Your application checks the signature of each event with it. It is shown only once.</p>
      <Code text={secret} />
      <p class="actions">
        <button type="button" class="button primary" onClick={onSaved}>
          I have saved it
        </button>
      </p>
    </Dialog>
  );
}

/** Show what the role of an endpoint in AWS must trust. It can be seen on the endpoint's page too. */
function TrustWindow({ policy, onSaved }: { policy: string | null; onSaved: () => void }) {
  return (
    <Dialog title="Give the role this trust policy">
      <p>With it the service can put events there for this endpoint alone. Then send a test.</p>
      <Code text={policy ?? ""} />
      <p class="actions">
        <button type="button" class="button primary" onClick={onSaved}>
          Continue
        </button>
      </p>
    </Dialog>
  );
}

function AddEndpoint({ onClose, onAdded }: { onClose: () => void; onAdded: () => void }) {
  const go = useGo();
  const [url, setUrl] = useState("");
  const [roleArn, setRoleArn] = useState("");
  const [types, setTypes] = useState<string[]>(["*"]);
  const [added, setAdded] = useState<WebhookWithSecret>();
  const isInAws = /^(s3:\/\/|arn:)/.test(url);
  const { busy, error, run } = useAction(async () => {
    setAdded(await call("POST /v1/webhooks", { body: { url, types, ...(isInAws && { roleArn }) } as CreateWebhookRequest }));
    onAdded();
  });
  if (added) {
    const show = () => go(`/app/webhooks/${added.id}`);
    return added.secret ? <SecretWindow secret={added.secret} onSaved={show} /> : <TrustWindow policy={added.trustPolicy} onSaved={show} />;
  }
  const all = types.includes("*");
  return (
    <Dialog title="Add an endpoint" onClose={onClose}>
      <form onSubmit={run}>
        <Field label="Address" hint="An https: URL of your application. Or, in your AWS account, the ARN of an event bus or s3://BUCKET/PREFIX/.">
          <input type="url" required placeholder="https://shop.example/hooks" value={url} onInput={(event) => setUrl(event.currentTarget.value.trim())} />
        </Field>
        {isInAws && (
          <Field label="Role" hint="The ARN of a role that may put events there. Its name begins with pillarbox-events.">
            <input required placeholder="arn:aws:iam::111122223333:role/pillarbox-events" value={roleArn} onInput={(event) => setRoleArn(event.currentTarget.value.trim())} />
          </Field>
        )}
        <fieldset class="options">
          <legend>Events</legend>
          <label>
            <input type="checkbox" checked={all} onChange={() => setTypes(all ? TYPES.slice(0, 1) : ["*"])} />
            All events except <code>email.accepted</code>
          </label>
          {!all &&
            TYPES.map((type) => (
              <label key={type}>
                <input type="checkbox" checked={types.includes(type)} onChange={() => setTypes(types.includes(type) ? types.filter((other) => other !== type) : [...types, type])} />
                <code>{type}</code>
              </label>
            ))}
        </fieldset>
        {error && <Notice kind="bad">{error}</Notice>}
        <Buttons onClose={onClose} answer="Add endpoint" disabled={busy || types.length === 0} />
      </form>
    </Dialog>
  );
}
