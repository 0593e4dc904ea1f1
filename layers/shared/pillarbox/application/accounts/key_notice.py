"""Tell the owners of an account by email that somebody made a key that manages it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pillarbox.application.ports import SendMail
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.account_log import COMMAND
from pillarbox.domain.accounts.key import MANAGEMENT_SCOPES, OPERATOR_SCOPES, ApiKey
from pillarbox.domain.address import mailbox_key
from pillarbox.rendering.notice import notice_source

if TYPE_CHECKING:
    from pillarbox.domain.errors import Json


_ADVICE: Final = (
    "If you did not expect this, revoke the key in the dashboard. The keys that it created stop"
    " with it. The log of the account shows what it changed."
)


@dataclass(frozen=True, slots=True)
class KeyNotices:
    """Writes to the owners of an account and to its contact."""

    #: Returns the addresses of an account's owners.
    owners_of: Callable[[str], Iterable[str]]
    send_mail: Callable[[], SendMail]

    def send(self, account: Account, key: ApiKey) -> None:
        """Accept an email about a new key to each of them.

        Raises:
            ServiceError: `service_unavailable`; the call may be repeated.
        """
        addresses = [*self.owners_of(account.account_id), *filter(None, [account.contact])]
        if not addresses:
            return
        title = "A new key manages your account"
        paragraphs: list[Json] = [*_text(key)]
        values: dict[str, Json] = {
            "title": title,
            "paragraphs": paragraphs,
            "about": f"Key: {key.key_id}",
            "url": "",
            "account": account.name,
            "account_id": account.account_id,
        }
        send_mail = self.send_mail()
        for address in {mailbox_key(one): one for one in addresses}.values():
            send_mail(address, title, notice_source(), values)


def _text(key: ApiKey) -> tuple[str, ...]:
    from pillarbox.domain.accounts.scope_words import words_of  # noqa: PLC0415  few keys manage

    may = "; ".join(words_of(key.scopes & (MANAGEMENT_SCOPES | OPERATOR_SCOPES)))
    until = f" until {key.expires_at:%-d %B %Y, %H:%M} UTC" if key.expires_at else ""
    places = f", from {', '.join(key.sources)}" if key.sources else ""
    creator = "The operator of the service" if key.created_by == COMMAND else key.created_by
    return (
        f"{creator} is creating the API key \u201c{key.name}\u201d.",
        f"A program with it may do this{until}{places}: {may}.",
        _ADVICE,
    )
