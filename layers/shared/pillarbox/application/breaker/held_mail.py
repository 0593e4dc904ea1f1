"""Tell the owners of an account by email that emails of its agents wait for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from pillarbox.application.account_lookup import AccountReader
from pillarbox.application.breaker.notices import Notice, OwnerMail
from pillarbox.application.ports import ServiceAddress
from pillarbox.domain.messages.message import Message
from pillarbox.domain.messages.schedule import RELEASE_TIME
from pillarbox.domain.timing import milliseconds, to_datetime

#: An owner gets one email for all that begin to wait in this time.
NOTICE_TIME: Final = timedelta(minutes=10)
_TITLE: Final = "An agent's email waits for you"
_WHAT: Final = (
    "An agent of your account wants to send an email. It waits until an owner releases it; after"
    f" {RELEASE_TIME.days} days it fails."
)
_OTHERS: Final = (
    "Others may have come since. In the list of emails of the dashboard they are marked as held."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldMailNotices:
    """Writes to owners about new messages that wait for them.

    The email has no word of the agent's: neither subject nor recipients. They are in the dashboard,
    where owners sign in, read the message, and release or cancel it.
    """

    accounts: AccountReader
    mail: OwnerMail
    base_url: ServiceAddress

    def tell(self, account_id: str, messages: Sequence[Message]) -> None:
        """Accept one email to each owner about the first message, once in each ten minutes.

        Raises:
            ServiceError: `service_unavailable`; the call may be repeated.
        """
        account = self.accounts.get(account_id)
        if account is None:
            return
        first = min(messages, key=lambda message: message.created_at)
        length = NOTICE_TIME // timedelta(milliseconds=1)
        start = milliseconds(first.created_at) // length * length
        url = f"{self.base_url()}/app/activity/{first.message_id}"
        notice = Notice(
            name="held",
            at=to_datetime(start),
            title=_TITLE,
            paragraphs=(_WHAT, f"Read it and decide: {url}", _OTHERS),
            about=f"API key: {first.origin.key_id}",
        )
        self.mail.send(account, notice)
