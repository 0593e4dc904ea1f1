"""Which emails a request selects, and how it pages through them."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, Field

from local.inbox.queries import Address, Query, comparable, place_of
from local.inbox.reading import view_of
from local.ses.mail import CapturedMail

#: The id of an email, which may be gone.
type MailId = Annotated[str, Field(pattern="^([0-9a-f]{16}(-[0-9a-f]+)+)?$")]


class Selection(Query):
    """The query of /messages and /messages/latest; an email must match all of it."""

    q: Annotated[str, AfterValidator(comparable)] = ""
    to: Address = ""
    subject: Annotated[str, AfterValidator(comparable)] = ""
    before: MailId = ""
    after: MailId = ""
    refused: bool = False

    def matches(self, mail: CapturedMail) -> bool:
        """Return whether an email is selected, without regard to pages."""
        addresses = {*map(comparable, mail.destination.addresses)}
        return (
            (self.refused or mail.refusal is None)
            and (not self.to or self.to in addresses)
            and self.subject in comparable(mail.subject)
            and (self.since is None or mail.received_at >= self.since)
            and _has_words(mail, self.q.split())
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
    before, after = selection.before, selection.after
    start = place_of(before, ids) + (before in ids) if before else 0
    end = place_of(after, ids) if after else None
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
    searched = comparable(
        "\n".join(
            (
                mail.id,
                mail.tags.get("message", ""),
                mail.from_header,
                *mail.destination.addresses,
                mail.subject,
                view.text or view.html or "",
                *(part.filename or "" for part in view.parts),
            )
        )
    )
    return all(word in searched for word in words)
