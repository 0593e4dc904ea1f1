// The accounts that ask the user to join them. Nobody is a member of an account without agreeing.

import { attempt, useAction } from "../action";
import { call } from "../api";
import type { AccountInvitation } from "../schema";
import { chooseAccount, renew, session } from "../session";
import { Notice } from "./notice";

export function Invitations() {
  return (
    <>
      {session.value?.invitations.map((one) => (
        <Invitation key={one.id} of={one} />
      ))}
    </>
  );
}

function Invitation({ of: { id, name, role, invitedBy } }: { of: AccountInvitation }) {
  const path = { account_id: id };
  const { busy, error, run } = useAction(async () => {
    await call("POST /v1/invitations/{account_id}", { path });
    await chooseAccount(id);
  });
  async function decline() {
    await call("DELETE /v1/invitations/{account_id}", { path });
    await renew();
  }
  return (
    <Notice kind="note">
      <form onSubmit={run} aria-label={`Invitation to ${name}`}>
        <p>
          <b>{invitedBy ?? "The operator"}</b> invites you to the account <b>{name}</b>, with the role {role}. Its members see what you do there. Join only if you know who invites you.
        </p>
        {error && <p class="error">{error}</p>}
        <button class="button small primary" disabled={busy}>
          Join the account
        </button>{" "}
        <button type="button" class="button small" disabled={busy} onClick={() => attempt(decline)}>
          Decline
        </button>
      </form>
    </Notice>
  );
}
