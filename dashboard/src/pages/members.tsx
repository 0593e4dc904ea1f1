// Who may use the account, and what each may do.

import { useState } from "preact/hooks";

import { attempt, useAction } from "../action";
import { call } from "../api";
import { Badge, Field, Page, Time, focus } from "../parts/basics";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { Loading, Notice, Trouble } from "../parts/notice";
import { Question } from "../parts/question";
import { toast } from "../parts/toast";
import { useResource } from "../resource";
import { may } from "../rights";
import type { Member, Role } from "../schema";
import { renew } from "../session";

const ROLES: Record<Role, string> = {
  owner: "Everything, also members and the account.",
  developer: "API keys, webhooks, suppressions and templates.",
  author: "Templates; sees emails and figures.",
  viewer: "Sees emails, figures, lists and templates; changes nothing.",
};

export default function Members() {
  const list = useResource("members", (signal) => call("GET /v1/members", { signal }));
  const [inviting, setInviting] = useState(false);
  const [removing, setRemoving] = useState<Member>();
  const writable = may("members");
  const invite = (
    <button type="button" class="button primary" disabled={!writable} onClick={() => setInviting(true)}>
      <Icon name="plus" /> Invite member
    </button>
  );
  const changeRole = (member: Member, role: Role) =>
    attempt(async () => {
      try {
        await call("PATCH /v1/members/{member_id}", { path: { member_id: member.id }, body: { role } });
        toast(`${member.email} is now ${article(role)}.`);
        if (member.current) await renew();
      } finally {
        list.reload();
      }
    });
  return (
    <Page title="Members" actions={invite}>
      <p class="lead">Members sign in with a code that they get by email.</p>
      {!writable && <Notice kind="note">Owners of the account invite and remove members.</Notice>}
      <Trouble of={list} />
      {!list.data && !list.error && <Loading />}
      {list.data && (
        <table class="list records">
          <caption class="hidden">Members</caption>
          <thead>
            <tr>
              <th scope="col">Address</th>
              <th scope="col">Role</th>
              <th scope="col">Member since</th>
              <th scope="col">
                <span class="hidden">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {list.data.items.map((member) => (
              <tr key={member.id}>
                <td class="who">
                  {member.email} {member.current && <Badge status="pending">you</Badge>}
                </td>
                <td class="what">
                  <select
                    aria-label={`Role of ${member.email}`}
                    disabled={!writable}
                    value={member.role}
                    onChange={(event) => changeRole(member, event.currentTarget.value as Role)}
                  >
                    {Object.keys(ROLES).map((role) => (
                      <option key={role}>{role}</option>
                    ))}
                  </select>
                </td>
                <td data-label="Member since">
                  <Time at={member.addedAt} />
                </td>
                <td class="do">
                  <button
                    type="button"
                    class="button small danger"
                    disabled={!writable}
                    aria-label={member.current ? "Leave the account" : `Remove ${member.email}`}
                    onClick={() => setRemoving(member)}
                  >
                    {member.current ? "Leave" : "Remove"}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {list.data?.items.length === 1 && <p class="hint">You are the only member. Invite a second owner, so that the account stays reachable.</p>}
      {inviting && <Invite onClose={() => setInviting(false)} onInvited={list.reload} />}
      {removing && <Remove of={removing} onClose={() => setRemoving(undefined)} onRemoved={list.reload} />}
    </Page>
  );
}

function article(role: Role): string {
  return /^[ao]/.test(role) ? `an ${role}` : `a ${role}`;
}

function Invite({ onClose, onInvited }: { onClose: () => void; onInvited: () => void }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("developer");
  const { busy, error, run } = useAction(async () => {
    await call("POST /v1/members", { body: { email, role } });
    toast("The invitation is on its way.");
    onInvited();
    onClose();
  });
  return (
    <Dialog title="Invite a member" onClose={onClose}>
      <form onSubmit={run}>
        <Field label="Email address" hint="The email has a link that signs in once, within 7 days." error={error}>
          <input ref={focus} type="email" required value={email} onInput={(event) => setEmail(event.currentTarget.value.trim())} />
        </Field>
        <fieldset class="cards">
          <legend>Role</legend>
          {(Object.keys(ROLES) as Role[]).map((one) => (
            <div class="choose" key={one}>
              <label>
                <input type="radio" name="role" checked={one === role} onChange={() => setRole(one)} />
                <b>{one}</b>
                <span>{ROLES[one]}</span>
              </label>
            </div>
          ))}
        </fieldset>
        <p class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button class="button primary" disabled={busy}>
            Send the invitation
          </button>
        </p>
      </form>
    </Dialog>
  );
}

function Remove({ of: member, onClose, onRemoved }: { of: Member; onClose: () => void; onRemoved: () => void }) {
  async function remove() {
    await call("DELETE /v1/members/{member_id}", { path: { member_id: member.id } });
    onClose();
    if (member.current) await renew();
    else onRemoved();
  }
  const [title, answer, loser] = member.current
    ? ["Leave this account?", "Leave the account", "You lose"]
    : [`Remove ${member.email}?`, "Remove the member", "The member loses"];
  return (
    <Question title={title} answer={answer} action={remove} onClose={onClose}>
      <Notice kind="bad">{loser} access at once. API keys keep working: revoke those that are known.</Notice>
    </Question>
  );
}
