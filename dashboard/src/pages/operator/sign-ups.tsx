// The users who ask for an account and wait for an operator.

import { useState } from "preact/hooks";

import { call } from "../../api";
import { Ask } from "../../parts/ask";
import { Empty, Page, Time } from "../../parts/basics";
import { Head } from "../../parts/list";
import { Progress } from "../../parts/notice";
import { useResource } from "../../resource";
import type { PendingSignUp } from "../../schema";

const PLANS = ["free", "standard", "enterprise"] as const;

interface Decision {
  request: PendingSignUp;
  approve: boolean;
}

export default function SignUps() {
  const list = useResource("GET /v1/operator/sign-ups", {}, true);
  const [decision, setDecision] = useState<Decision>();
  const close = () => setDecision(undefined);
  const items = list.data?.items ?? [];
  return (
    <Page title="Sign-ups">
      <p class="lead">Users who confirmed their address and ask for an account, the oldest request first.</p>
      <Progress of={list} />
      {list.data && items.length === 0 && (
        <Empty icon="members" title="No requests">
          <p>Requests appear here if the parameter SignUp is approved.</p>
        </Empty>
      )}
      {items.length > 0 && (
        <table class="list records">
          <Head caption="Sign-ups" columns={["User", "Account", "Asked"]} action="Decision" />
          <tbody>
            {items.map((request) => (
              <tr key={request.email}>
                <td class="who">{request.email}</td>
                <td class="what">{request.name}</td>
                <td class="when">
                  <Time at={request.createdAt} />
                </td>
                <td class="do">
                  <button type="button" class="button small" aria-label={`Refuse ${request.email}`} onClick={() => setDecision({ request, approve: false })}>
                    Refuse
                  </button>{" "}
                  <button type="button" class="button small" aria-label={`Approve ${request.email}`} onClick={() => setDecision({ request, approve: true })}>
                    Approve
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {decision?.approve && <Approval request={decision.request} onClose={close} onDone={list.reload} />}
      {decision && !decision.approve && <Refusal request={decision.request} onClose={close} onDone={list.reload} />}
    </Page>
  );
}

interface Properties {
  request: PendingSignUp;
  onClose: () => void;
  onDone: () => void;
}

function Approval({ request, onClose, onDone }: Properties) {
  const [plan, setPlan] = useState("");
  async function approve() {
    const body = plan ? { plan: plan as (typeof PLANS)[number] } : {};
    const account = await call("POST /v1/operator/sign-ups/{address}", { path: { address: request.email }, body });
    return `The account ${account.name} is created. Its owner gets an email.`;
  }
  return (
    <Ask title={`Create the account ${request.name}?`} answer="Create it" action={approve} onDone={onDone} onClose={onClose}>
      <p>{request.email} becomes its owner and gets an email.</p>
      <label class="field">
        Plan
        <select value={plan} onChange={(event) => setPlan(event.currentTarget.value)}>
          <option value="">the usual one of new accounts</option>
          {PLANS.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
    </Ask>
  );
}

function Refusal({ request, onClose, onDone }: Properties) {
  async function refuse() {
    await call("DELETE /v1/operator/sign-ups/{address}", { path: { address: request.email } });
  }
  return (
    <Ask danger title={`Refuse an account to ${request.email}?`} answer="Refuse" action={refuse} onDone={onDone} onClose={onClose}>
      <p>The dashboard tells the user. You can still create the account with “pillarbox signup approve”.</p>
    </Ask>
  );
}
