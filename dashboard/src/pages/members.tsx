// Who may use the account, and what each may do.

import { useState } from "preact/hooks";

import { useAction } from "../action";
import { call } from "../api";
import { Ask } from "../parts/ask";
import { Badge, Field, Page, Time } from "../parts/basics";
import { Choice } from "../parts/choice";
import { Icon } from "../parts/icon";
import { Head } from "../parts/list";
import { Notice, Progress } from "../parts/notice";
import { toast } from "../parts/toast";
import { useResource } from "../resource";
import { may } from "../rights";
import type { Member, Role } from "../schema";
import { renew } from "../session";
import { article, demotion, hasExpired, removal } from "./invited";

const ROLES: Record<Role, string> = {
  owner: "Everything, also members and the account.",
  developer: "API keys, webhooks, suppressions and templates.",
  author: "Templates; sees emails and figures.",
  viewer: "Sees emails, figures, lists and templates; changes nothing.",
};

export default function Members() {
  const list = useResource("GET /v1/members");
  const [inviting, setInviting] = useState(false);
  const [resending, setResending] = useState<Member>();
  const [removing, setRemoving] = useState<Member>();
  const writable = may("members");
  const invite = (
    <button type="button" class="button primary" disabled={!writable} onClick={() => setInviting(true)}>
      <Icon name="plus" /> Invite member
    </button>
  );
  const replace = (changed: Member) =>
    list.data && list.show({ ...list.data, items: list.data.items.map((one) => (one.id === changed.id ? changed : one)) });
  return (
    <Page title="Members" actions={invite}>
      <p class="lead">Members sign in with a code that they get by email, or with a passkey.</p>
      {!writable && <Notice kind="note">Owners of the account invite and remove members.</Notice>}
      <Progress of={list} />
      {list.data && (
        <table class="list records">
          <Head caption="Members" columns={["Address", "Role", "Member since"]} action="Remove" />
          <tbody>
            {list.data.items.map((member) => (
              <tr key={member.id}>
                <td class="who">
                  {member.email} {member.current && <Badge status="pending">you</Badge>}
                  {member.pending && (hasExpired(member.createdAt) ? <Badge status="note">link expired</Badge> : <Badge status="pending">invited</Badge>)}
                </td>
                <td class="what">
                  <RoleOf member={member} onChanged={replace} />
                </td>
                <td data-label={member.pending ? undefined : "Member since"}>
                  {member.pending && "Invited "}
                  <Time at={member.createdAt} />
                </td>
                <td class="do">
                  {member.pending && (
                    <>
                      <button type="button" class="button small" disabled={!writable} aria-label={`Invite ${member.email} again`} onClick={() => setResending(member)}>
                        Resend
                      </button>{" "}
                    </>
                  )}
                  <button type="button" class="button small danger" disabled={!writable} aria-label={removal(member).label} onClick={() => setRemoving(member)}>
                    {removal(member).button}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {list.data?.items.length === 1 && <p class="hint">You are the only member. Invite a second owner, so that the account stays reachable.</p>}
      {inviting && <Invite onClose={() => setInviting(false)} onInvited={list.reload} />}
      {resending && <Resend to={resending} onClose={() => setResending(undefined)} onInvited={list.reload} />}
      {removing && <Remove of={removing} onClose={() => setRemoving(undefined)} onRemoved={list.reload} />}
    </Page>
  );
}

/** The role of a member. Another one counts when it is saved, for an owner after a question. */
function RoleOf({ member, onChanged }: { member: Member; onChanged: (member: Member) => void }) {
  const [chosen, setChosen] = useState<Role>();
  const [asking, setAsking] = useState(false);
  const role = chosen ?? member.role;
  async function change() {
    onChanged(await call("PATCH /v1/members/{member_id}", { path: { member_id: member.id }, body: { role } }));
    toast(`${member.email} is now ${article(role)}.`);
    setAsking(false);
    setChosen(undefined);
    if (member.current) await renew();
  }
  const { busy, error, run } = useAction(change);
  const question = demotion(member, role);
  return (
    <div class="role">
      <select aria-label={`Role of ${member.email}`} disabled={!may("members") || busy} value={role} onChange={(event) => setChosen(event.currentTarget.value as Role)}>
        {Object.keys(ROLES).map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      {role !== member.role && (
        <button type="button" class="button small primary" disabled={busy} aria-label={`Save the role of ${member.email}`} onClick={question ? () => setAsking(true) : run}>
          Save
        </button>
      )}
      {error && <Notice kind="bad">{error}</Notice>}
      {asking && question && (
        <Ask danger title={question.title} answer={question.answer} action={change} onClose={() => setAsking(false)}>
          <Notice kind="bad">
            {question.who} can no longer change members and the account. What is left: {ROLES[role]}
          </Notice>
        </Ask>
      )}
    </div>
  );
}

function Invite({ onClose, onInvited }: { onClose: () => void; onInvited: () => void }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("developer");
  async function invite() {
    await call("POST /v1/members", { body: { email, role } });
    return "The invitation is on its way.";
  }
  return (
    <Ask title="Invite a member" answer="Send the invitation" action={invite} onDone={onInvited} onClose={onClose}>
      <Field label="Email address" hint="The email has a link that signs in once, within 7 days.">
        <input type="email" required value={email} onInput={(event) => setEmail(event.currentTarget.value.trim())} />
      </Field>
      <fieldset class="cards">
        <legend>Role</legend>
        {(Object.keys(ROLES) as Role[]).map((one) => (
          <Choice key={one} group="role" name={one} about={ROLES[one]} checked={one === role} onChoose={() => setRole(one)} />
        ))}
      </fieldset>
    </Ask>
  );
}

function Resend({ to: { email, role }, onClose, onInvited }: { to: Member; onClose: () => void; onInvited: () => void }) {
  async function resend() {
    await call("POST /v1/members", { body: { email, role } });
    return "The invitation is on its way.";
  }
  return (
    <Ask title={`Invite ${email} again?`} answer="Send the invitation" action={resend} onDone={onInvited} onClose={onClose}>
      <p>The email has a new link, which signs in once, within 7 days. An account can write to an address twice in a calendar week.</p>
    </Ask>
  );
}

function Remove({ of: member, onClose, onRemoved }: { of: Member; onClose: () => void; onRemoved: () => void }) {
  async function remove() {
    await call("DELETE /v1/members/{member_id}", { path: { member_id: member.id } });
    if (member.current) await renew();
    else onRemoved();
  }
  const { title, answer, loser } = removal(member);
  const keys = useResource(member.pending ? null : "GET /v1/keys");
  const theirs = keys.data?.items.filter((key) => key.createdBy === member.email && !key.revokedAt).length;
  return (
    <Ask danger title={title} answer={answer} action={remove} onClose={onClose}>
      {member.pending ? (
        <p>The link in the email still signs in, but nobody can join this account with it.</p>
      ) : (
      <Notice kind="bad">
        {loser} {member.role === "owner" ? "access and the rights of an owner" : "access"} at once. API keys keep working
        {theirs ? <>, also the <b>{theirs === 1 ? "one key" : `${theirs} keys`}</b> that {member.email} created</> : null}: revoke those that are known.
      </Notice>
      )}
    </Ask>
  );
}
