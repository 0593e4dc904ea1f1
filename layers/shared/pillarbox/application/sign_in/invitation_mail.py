"""Write to a new member of an account. The email has the service's own sender, as a code has."""

from dataclasses import dataclass, field

from pillarbox.application.ports import Clock, Jobs, Messages
from pillarbox.application.sign_in.service_mail import accept, write_mail
from pillarbox.domain.messages.mail import Mail
from pillarbox.domain.sign_in.codes import INVITATION_TIME
from pillarbox.domain.sign_in.role import Role
from pillarbox.rendering.notice import invitation_source


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """What the email says. `inviter` is an address, `account` a name, `base_url` the app's host."""

    address: str
    inviter: str
    account: str
    role: Role
    base_url: str
    link: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationMail:
    """Sends invitations; `sender` is the service's own address."""

    jobs: Jobs
    messages: Messages
    sender: str
    clock: Clock

    def send(self, invitation: Invitation) -> None:
        """Accept the email of an invitation."""
        accept(self._mail(invitation), self.jobs, self.messages, self.clock())

    def _mail(self, invitation: Invitation) -> Mail:
        return write_mail(
            self.sender,
            invitation.address,
            # Without the account's name, which its owner chose: the service vouches for a subject.
            "You are invited to an account of Pillarbox",
            invitation_source(),
            {
                "account": invitation.account,
                "inviter": invitation.inviter,
                "role": invitation.role.value,
                "days": INVITATION_TIME.days,
                "address": invitation.address,
                # In the fragment, which no server sees.
                "url": f"{invitation.base_url}/app/sign-in#{invitation.link}",
                "sign_in": f"{invitation.base_url}/app/",
            },
        )
