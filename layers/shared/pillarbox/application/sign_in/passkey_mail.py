"""Tell a user by email that a passkey was added, removed or stopped."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from pillarbox.application.ports import Messages, SendMail, ServiceAddress
from pillarbox.domain.ids import named_id
from pillarbox.domain.messages.mail import URGENT_TIME
from pillarbox.domain.sign_in.passkey import PasskeyChange, PasskeyNotice
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT_ID
from pillarbox.rendering.notice import sign_up_source

#: The worker of codes may write to the queue of urgent emails only.
_SOON: Final = URGENT_TIME - timedelta(minutes=10)
_ADVICE: Final = (
    "If that was not you, sign in with a code, remove the passkeys that you do not know and sign"
    " out everywhere. Then change the password of your mailbox."
)
_TITLES: Final[Mapping[PasskeyChange, str]] = {
    PasskeyChange.ADDED: "A passkey is being added",
    PasskeyChange.REMOVED: "A passkey is being removed",
    PasskeyChange.STOPPED: "A passkey was stopped",
}
#: What the email says of a passkey with some name.
_TEXTS: Final[Mapping[PasskeyChange, str]] = {
    PasskeyChange.ADDED: "From now on the passkey “{}” signs you in, without a code.",
    PasskeyChange.REMOVED: "The passkey “{}” does not sign you in any more. Other browsers that it"
    " signed in are signed out.",
    PasskeyChange.STOPPED: "Someone seems to use a copy of the passkey “{}”. So it no longer"
    " signs you in, and browsers that it signed in are signed out. Remove it, and add a new one.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyMail:
    """Sends the emails about passkeys."""

    messages: Messages
    send_mail: SendMail
    base_url: ServiceAddress

    def send(self, notice: PasskeyNotice) -> bool:
        """Accept the email of a notice; return False if it was accepted before."""
        message_id = named_id(f"passkey {notice.notice_id}", notice.at)
        if self.messages.get(SERVICE_ACCOUNT_ID, message_id) is not None:
            return False
        title, text = _TITLES[notice.change], _TEXTS[notice.change]
        when = f"It happened on {notice.at:%-d %B %Y at %H:%M} UTC."
        self.send_mail(
            notice.address,
            title,
            sign_up_source(),
            {
                "title": title,
                "paragraphs": [text.format(notice.name), when, _ADVICE],
                "url": f"{self.base_url()}/app/passkeys",
                "reason": f"{notice.address} signs in to Pillarbox",
            },
            message_id=message_id,
            deadline=notice.at + _SOON,
        )
        return True
