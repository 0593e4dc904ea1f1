"""Write to a new member of an account. The email has the service's own sender, as a code has."""

import hashlib
from dataclasses import dataclass, field

from pillarbox.application.ports import Clock, Jobs, Messages, StoredResponse
from pillarbox.application.sending.prepare import PreparedMessage
from pillarbox.application.sign_in.code_mail import SERVICE
from pillarbox.domain.mail import Mail, SavedBody
from pillarbox.domain.message import MessageOrigin, SendRoute
from pillarbox.domain.role import Role
from pillarbox.domain.sign_in import INVITATION_TIME
from pillarbox.rendering.notice import invitation_source


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """What the email says. `inviter` is an address, and `account` a name."""

    address: str
    inviter: str
    account: str
    role: Role
    link: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationMail:
    """Sends invitations; `sender` is the service's own address, and `base_url` that of the app."""

    jobs: Jobs
    messages: Messages
    sender: str
    base_url: str
    clock: Clock

    def send(self, invitation: Invitation) -> None:
        """Accept the email of an invitation."""
        mail = self._mail(invitation)
        body_hash = hashlib.sha256(repr(mail).encode()).hexdigest()
        origin = MessageOrigin(route=SendRoute.NOTICE)
        prepared = PreparedMessage.of(mail, SERVICE, body_hash, self.clock(), origin)
        self.jobs.put(prepared.job(), mail)
        response = StoredResponse("", message_ids=(prepared.message.message_id,))
        self.messages.commit(prepared.message, None, response)

    def _mail(self, invitation: Invitation) -> Mail:
        return Mail(
            sender=self.sender,
            from_name=SERVICE.name,
            to=(invitation.address,),
            cc=(),
            bcc=(),
            reply_to=None,
            # Without the account's name, which its owner chose: the service vouches for a subject.
            subject="You are invited to an account of Pillarbox",
            body=SavedBody(
                source=invitation_source(),
                values={
                    "account": invitation.account,
                    "inviter": invitation.inviter,
                    "role": invitation.role.value,
                    "days": INVITATION_TIME.days,
                    "address": invitation.address,
                    # In the fragment, which no server sees.
                    "url": f"{self.base_url}/app/sign-in#{invitation.link}",
                    "sign_in": f"{self.base_url}/app/",
                },
            ),
        )
