// One endpoint: its deliveries, each attempt, and a replay.

import { useState } from "preact/hooks";
import { useRoute } from "preact-iso/router";

import { attempt } from "../action";
import { call } from "../api";
import { exact } from "../format";
import { Ask } from "../parts/ask";
import { Badge, Code, Empty, Facts, Page, Time } from "../parts/basics";
import { CursorPager } from "../parts/cursor-pager";
import { Loading, Notice, Trouble } from "../parts/notice";
import { toast } from "../parts/toast";
import { useFilters } from "../query";
import { isSettled, useResource } from "../resource";
import { may } from "../rights";
import type { Webhook, WebhookDelivery } from "../schema";
import { useGo } from "../windows";
import { describeTypes, EndpointState, SecretWindow } from "./webhooks";

const SIZE = 50;

export default function Endpoint() {
  const { params } = useRoute();
  const id = params["id"] ?? "";
  const path = { endpoint_id: id };
  const [{ cursor }, change] = useFilters();
  const endpoint = useResource("GET /v1/webhooks/{endpoint_id}", { path });
  const deliveries = useResource("GET /v1/webhooks/{endpoint_id}/deliveries", { path, query: { limit: SIZE, cursor } }, !cursor);
  return (
    <Page
      title="Endpoint"
      actions={endpoint.data && may("webhooks") && <Actions of={endpoint.data} onChange={endpoint.reload} onTest={deliveries.reload} />}
    >
      <p class="crumbs">
        <a href="/app/webhooks">Webhooks</a>
      </p>
      <Trouble of={endpoint} />
      {endpoint.data && <About of={endpoint.data} />}
      {endpoint.data && <Trouble of={deliveries} />}
      {isSettled(endpoint) && <h2>Deliveries of the last 30 days</h2>}
      {!isSettled(deliveries) && <Loading />}
      {deliveries.data?.items.length === 0 && (
        <Empty icon="webhooks" title="No deliveries">
          <p>
            {may("webhooks") ? "Send a test event to see one here." : "Events appear here when they are sent."} <a href="/app/guides/webhooks">What events say</a>
          </p>
        </Empty>
      )}
      <ul class="deliveries">
        {deliveries.data?.items.map((delivery) => (
          <Delivery key={delivery.id} of={delivery} path={path} onReplay={deliveries.reload} />
        ))}
      </ul>
      <CursorPager cursor={cursor} next={deliveries.data?.nextCursor} names={["Newest", "Older"]} onChange={(to) => change({ cursor: to })} />
    </Page>
  );
}

function About({ of: endpoint }: { of: Webhook }) {
  const facts = {
    Address: <code>{endpoint.url}</code>,
    State: <EndpointState of={endpoint} />,
    Events: describeTypes(endpoint.types),
    Role: endpoint.roleArn && <code>{endpoint.roleArn}</code>,
    "Trust policy": endpoint.trustPolicy && <Code text={endpoint.trustPolicy} />,
    "Failing since": endpoint.failingSince && exact(endpoint.failingSince),
  };
  return (
    <section class="card">
      <Facts of={facts} />
    </section>
  );
}

function Actions({ of: { id, enabled, roleArn }, onChange, onTest }: { of: Webhook; onChange: () => void; onTest: () => void }) {
  const go = useGo();
  const [deleting, setDeleting] = useState(false);
  const [rotating, setRotating] = useState(false);
  const [secret, setSecret] = useState<string | null>();
  const path = { endpoint_id: id };
  const rotate = async () => setSecret((await call("POST /v1/webhooks/{endpoint_id}/rotate", { path })).secret);
  const test = () =>
    attempt(async () => {
      await call("POST /v1/webhooks/{endpoint_id}/test", { path });
      toast("The test event is on its way.");
      onTest();
    });
  const toggle = () =>
    attempt(async () => {
      await call("PATCH /v1/webhooks/{endpoint_id}", { path, body: { enabled: !enabled } });
      toast(enabled ? "The endpoint gets no more events." : "The endpoint gets events again.");
      onChange();
    });
  async function remove() {
    await call("DELETE /v1/webhooks/{endpoint_id}", { path });
    go("/app/webhooks", true);
    return "The endpoint is deleted.";
  }
  return (
    <>
      <button type="button" class="button" onClick={test} disabled={!enabled}>
        Send a test
      </button>
      {!roleArn && (
        <button type="button" class="button" onClick={() => setRotating(true)}>
          New secret
        </button>
      )}
      <button type="button" class="button" onClick={toggle}>
        {enabled ? "Disable" : "Enable"}
      </button>
      <button type="button" class="button danger" onClick={() => setDeleting(true)}>
        Delete
      </button>
      {rotating && (
        <Ask title="Make a new secret?" answer="Make the secret" action={rotate} onClose={() => setRotating(false)}>
          <p>For 24 hours events are signed with the old secret too, so that your application can change it without a gap.</p>
        </Ask>
      )}
      {secret && <SecretWindow secret={secret} onSaved={() => setSecret(undefined)} />}
      {deleting && (
        <Ask danger title="Delete this endpoint?" answer="Delete the endpoint" action={remove} onClose={() => setDeleting(false)}>
          <Notice kind="bad">It gets no more events, and its deliveries can no longer be sent again.</Notice>
        </Ask>
      )}
    </>
  );
}

interface DeliveryProperties {
  of: WebhookDelivery;
  path: { endpoint_id: string };
  onReplay: () => void;
}

function Delivery({ of: delivery, path, onReplay }: DeliveryProperties) {
  const replay = () =>
    attempt(async () => {
      const place = { ...path, delivery_id: delivery.id };
      await call("POST /v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/replay", { path: place });
      toast("The event will be sent again.");
      onReplay();
    });
  const last = delivery.attempts.at(-1);
  return (
    <li>
      <details>
        <summary>
          <Badge status={delivery.status === "waiting" ? "pending" : delivery.status} quiet={delivery.status === "delivered"}>{delivery.status}</Badge>
          <code>{delivery.type}</code>
          <span class="answer">{last && (last.statusCode ?? "no response")}</span>
          <Time at={delivery.at} />
        </summary>
        <ol class="timeline">
          {delivery.attempts.map((one) => (
            <li key={one.at} class={one.error === null ? "is-delivered" : "is-failed"}>
              <b>{one.statusCode ?? "No response"}</b> <time dateTime={one.at}>{exact(one.at)}</time> in {one.milliseconds} ms
              {one.error && <div class="reason">{one.error}</div>}
            </li>
          ))}
          {delivery.nextAttemptAt && (
            <li class="is-pending">
              <b>Next attempt</b> <Time at={delivery.nextAttemptAt} />
            </li>
          )}
        </ol>
        <p class="actions">
          {may("webhooks") && (
            <button type="button" class="button small" onClick={replay}>
              Send again
            </button>
          )}
          {delivery.messageId && <a href={`/app/activity/${delivery.messageId}`}>Show the email</a>}
        </p>
      </details>
    </li>
  );
}
