"""Write to a new member of an account. The email has the service's own sender, as a code has."""

from dataclasses import dataclass, field

from pillarbox.application.ports import Clock, Jobs, Messages
from pillarbox.application.sending.service_mail import accept_service_mail, prepare_service_mail
from pillarbox.application.sign_in.code_mail import SERVICE
from pillarbox.domain.mail import Mail, SavedBody
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
        prepared = prepare_service_mail(self._mail(invitation), SERVICE, self.clock())
        accept_service_mail(self.jobs, self.messages, prepared)

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
