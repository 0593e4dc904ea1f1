"""Read the kept content of an email, for those who may."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Protocol
from uuid import UUID

from pillarbox.application.change_log import ChangeLog
from pillarbox.application.ports import Clock, Messages
from pillarbox.application.slow_requests import SlowRequests
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.account_log import AccountAction
from pillarbox.domain.accounts.key import EMAILS_CONTENT
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.kept import KeptContent, kept_until
from pillarbox.domain.messages.message import Message
from pillarbox.domain.sign_in.session import MemberPrincipal
from pillarbox.mime.parse import ShownMail, show

#: For how long the link to the whole message works.
LINK_TIME: Final = timedelta(minutes=5)


class KeptContents(Protocol):
    """The messages that are kept. Every method may raise `service_unavailable`."""

    def get(self, content: KeptContent) -> bytes | None:
        """Read a message; None if it is not there."""

    def sign(self, content: KeptContent, life: timedelta) -> str:
        """Return a URL that downloads a message, for a while."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadContent:
    """The content of a message, until when it is kept, and a link to all its octets."""

    message: Message
    mail: ShownMail
    until: datetime
    url: str
    url_until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentReading:
    """Reads kept content. Each reading is noted in the account's log before it is answered."""

    messages: Messages
    #: Returns where the messages are. A refusal needs none.
    contents: Callable[[], KeptContents]
    slow_requests: SlowRequests
    log: ChangeLog
    clock: Clock

    def read(self, principal: Principal | MemberPrincipal, message_id: UUID) -> ReadContent:
        principal.require(EMAILS_CONTENT)
        account = principal.account
        self.slow_requests.take(account.account_id)
        message = self.messages.get(account.account_id, message_id)
        octets = self.find(account, message) if message else None
        until = kept_until(message) if message else None
        if message is None or octets is None or until is None:
            raise content_not_found()
        self.log.note(
            account.account_id, AccountAction.CONTENT_READ, str(message_id), by=principal.actor
        )
        return ReadContent(
            message=message,
            mail=show(octets),
            until=until,
            url=self.contents().sign(KeptContent.of(message), LINK_TIME),
            url_until=self.clock() + LINK_TIME,
        )

    def find(self, account: Account, message: Message) -> bytes | None:
        """Return the octets of a message of an account; None if they may not be read any more.

        The account's setting of now counts too: what an owner shortens ends at once.
        """
        until = kept_until(replace(message, keep=min(message.keep, account.keep)))
        if until is None or self.clock() >= until:
            return None
        return self.contents().get(KeptContent.of(message))


def content_not_found() -> ServiceError:
    return ServiceError("content_not_found", "There is no kept content of such a message.")
