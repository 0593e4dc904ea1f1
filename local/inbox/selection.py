"""Which emails a request selects, and how it pages through them."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from local.inbox.reading import view_of
from local.ses.store import CapturedMail

MAX_WAIT: Final = 60.0  # seconds


def aware(moment: datetime) -> datetime:
    """Return a moment in UTC if it names no zone."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class Selection(BaseModel):
    """The query of GET /messages and GET /messages/latest; an email must match all of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    q: str = ""
    to: str = ""
    subject: str = ""
    since: Annotated[datetime, AfterValidator(aware)] | None = None
    wait: Annotated[float, Field(ge=0, le=MAX_WAIT)] = 0
    limit: Annotated[int, Field(ge=1)] | None = None
    before: str = ""
    after: str = ""
    refused: bool = False

    def matches(self, mail: CapturedMail) -> bool:
        """Return whether an email is selected, without regard to pages."""
        addresses = {address.lower() for address in mail.destination.addresses}
        return (
            (self.refused or mail.refusal is None)
            and (not self.to or self.to.lower() in addresses)
            and self.subject.lower() in mail.subject.lower()
            and (self.since is None or mail.received_at >= self.since)
            and _has_words(mail, self.q.lower().split())
        )


@dataclass(frozen=True, slots=True)
class SelectedMails:
    """Selected emails, newest first, and whether older ones follow."""

    mails: list[CapturedMail]
    more: bool

    def __len__(self) -> int:
        """Return the number of emails on the page."""
        return len(self.mails)


def page_of(newest_first: list[CapturedMail], selection: Selection) -> SelectedMails:
    """Return a page: the selected emails between `after` and `before`, at most `limit`."""
    ids = [mail.id for mail in newest_first]
    start = ids.index(selection.before) + 1 if selection.before in ids else 0
    end = ids.index(selection.after) if selection.after in ids else None
    found: list[CapturedMail] = []
    for mail in newest_first[start:end]:
        if not selection.matches(mail):
            continue
        if len(found) == selection.limit:
            return SelectedMails(found, more=True)
        found.append(mail)
    return SelectedMails(found, more=False)


def _has_words(mail: CapturedMail, words: list[str]) -> bool:
    if not words:
        return True
    view = view_of(mail)
    searched = "\n".join(
        (
            mail.id,
            mail.tags.get("message", ""),
            mail.from_header,
            *mail.destination.addresses,
            mail.subject,
            view.text or view.html or "",
            *(part.filename or "" for part in view.parts),
        )
    ).lower()
    return all(word in searched for word in words)
