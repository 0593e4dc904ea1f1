"""Tell the owners of an account by email that something of it was paused, or may soon be.

The ids of the emails follow from the pause, so that a repeated notice creates no second email.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from pillarbox.application.ports import Messages, SendMail
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.pause import Pause, PauseLevel
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.ids import named_id
from pillarbox.rendering.notice import notice_source

if TYPE_CHECKING:
    from pillarbox.domain.errors import Json

#: In an account with several shards, the ids of notices have the least such number. So they stay
#: the same if the account's number is raised between two tries.
_SHARDS: Final = 2
_EFFECTS: Final = {
    PauseLevel.WARN: "Everything is still sent. If the rate rises, we slow sending down and then"
    " pause it.",
    PauseLevel.BRAKE: "It now sends at most a tenth of its limit for each minute.",
    PauseLevel.STOP: "We accept no email of it now. Emails that wait in the queue are sent if the"
    " pause ends within four hours.",
}
_TITLES: Final = {
    PauseLevel.WARN: "Too many of your emails are refused",
    PauseLevel.BRAKE: "Your emails are slowed down",
    PauseLevel.STOP: "Your emails are paused",
}


_WHERE: Final = (
    "The dashboard shows the figures, and the list of emails which ones were refused. Remove the"
    " addresses that do not exist, and send only to people who expect your email."
)
_RESUME: Final = (
    "When you have corrected the cause, an owner can end the pause in the dashboard, once in a"
    " month. Afterwards only the operator of the service can."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What owners are told. Two of one name and time are the same notice."""

    name: str
    at: datetime
    title: str
    paragraphs: Sequence[str]
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerMail:
    """Writes to the owners of an account and to its contact."""

    #: Returns the addresses of an account's owners.
    owners_of: Callable[[str], Iterable[str]]
    messages: Messages
    send_mail: SendMail

    def send(self, account: Account, notice: Notice) -> None:
        """Accept an email to each of them, unless that was done before.

        Raises:
            ServiceError: `service_unavailable`; the call may be repeated.
        """
        addresses = [*self.owners_of(account.account_id), *filter(None, [account.contact])]
        shards = min(account.shards_at(notice.at), _SHARDS)
        values: dict[str, Json] = {
            "title": notice.title,
            "paragraphs": [*notice.paragraphs],
            "about": notice.about,
            "account": account.name,
            "account_id": account.account_id,
        }
        for mailbox, address in {mailbox_key(one): one for one in addresses}.items():
            message_id = named_id(f"{notice.name} {mailbox}", notice.at, shards)
            if self.messages.get(account.account_id, message_id) is None:
                self.send_mail(
                    address,
                    notice.title,
                    notice_source(),
                    values,
                    account=account,
                    message_id=message_id,
                )


@dataclass(frozen=True, slots=True)
class PauseNotices:
    """Tells owners about new pauses, those of one judgement together."""

    mail: OwnerMail

    def send(self, account: Account, pauses: Sequence[Pause], at: datetime) -> None:
        """Accept one email to each owner. Those for the same pauses and events are the same.

        Args:
            account: the account.
            pauses: its new pauses.
            at: when the last of the events was that caused them.

        Raises:
            ServiceError: `service_unavailable`; the call may be repeated.
        """
        strictest = max(pauses, key=lambda pause: pause.level.rank)
        texts = [_text(pause) for pause in pauses]
        texts += [_WHERE] if strictest.level is PauseLevel.WARN else [_WHERE, _RESUME]
        name = " ".join(f"{pause.scope.value} {pause.id} {pause.level.value}" for pause in pauses)
        about = ", ".join(_name(pause) for pause in pauses)
        self.mail.send(
            account,
            Notice(
                name=name,
                at=at,
                title=_TITLES[strictest.level],
                paragraphs=texts,
                about=f"This is about: {about}",
            ),
        )


def _text(pause: Pause) -> str:
    until = f" Until {pause.until:%-d %B %Y, %H:%M} UTC." if pause.until else ""
    if pause.level is PauseLevel.WARN:
        until = ""
    return f"{_name(pause).capitalize()}: {pause.reason}. {_EFFECTS[pause.level]}{until}"


def _name(pause: Pause) -> str:
    return f"{pause.scope.value} {pause.id}" if pause.id else "the whole account"
