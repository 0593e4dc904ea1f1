"""Write to a new member of an account."""

from dataclasses import dataclass, field

from pillarbox.application.sign_in.mail_to_strangers import MailToStrangers
from pillarbox.domain.sign_in.codes import INVITATION_TIME
from pillarbox.domain.sign_in.role import Role
from pillarbox.domain.sign_in.strangers import Cause
from pillarbox.rendering.notice import invitation_source


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """What the email says. `inviter` is an address, `base_url` the app's host.

    Without a `link` the user signs in with a code.
    """

    address: str
    inviter: str
    role: Role
    base_url: str
    link: str = field(repr=False)

    def send(self, strangers: MailToStrangers, cause: Cause) -> None:
        """Accept the email of an invitation."""
        strangers.send(
            self.address,
            # Without the account's name, which its owner chose: the reader has agreed to nothing.
            "You are invited to an account of Pillarbox",
            invitation_source(),
            {
                "inviter": self.inviter,
                "role": self.role.value,
                "days": INVITATION_TIME.days,
                "address": self.address,
                # In the fragment, which no server sees.
                "url": f"{self.base_url}/app/sign-in#{self.link}" if self.link else "",
                "sign_in": f"{self.base_url}/app/",
            },
            cause,
        )
