"""Which emails a request selects, and how it pages through them."""

import re
from collections.abc import Container
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from local.inbox.queries import Address, Moment, Query, comparable, place_of
from local.inbox.reading import view_of
from local.ses.mail import CapturedMail

#: The id of an email, which may be gone.
type MailId = Annotated[str, Field(pattern="^([0-9a-f]{16}(-[0-9a-f]+)+)?$")]
#: The name before the colon, empty for a word, and what an email must have.
type Term = tuple[str, str | datetime]

_TERM: Final = re.compile(r'(?:(from|to|subject|has|is|before|since):)?(?:"([^"]*)"?|(\S*))')
_VALUES: Final = {"has": {"attachment"}, "is": {"unread", "read"}}
_MOMENT: Final = TypeAdapter[datetime](Moment)


def terms_of(text: str) -> tuple[Term, ...]:
    """Read a search: words, texts in quotes, and `from:ada` and the like.

    A name without a value is left out: somebody still types it.
    """
    found = _TERM.findall(comparable(text))
    return tuple(_term(name, quoted or word) for name, quoted, word in found if quoted or word)


def _term(name: str, value: str) -> Term:
    if value not in (known := _VALUES.get(name, {value})):
        message = f"Write {' or '.join(f'{name}:{one}' for one in sorted(known))}"
        raise PydanticCustomError("search", message)
    if name not in {"before", "since"}:
        return name, value
    try:
        return name, _MOMENT.validate_python(value.upper())
    except ValidationError as error:
        message = f"Write a day or a time, such as {name}:2026-01-31"
        raise PydanticCustomError("search", message) from error


class Selection(Query):
    """The query of /messages and /messages/latest; an email must match all of it."""

    q: Annotated[tuple[Term, ...], BeforeValidator(terms_of)] = ()
    to: Address = ""
    subject: Annotated[str, AfterValidator(comparable)] = ""
    before: MailId = ""
    after: MailId = ""
    refused: bool = False

    def matches(self, mail: CapturedMail, *, unread: bool) -> bool:
        """Return whether an email is selected, without regard to pages."""
        addresses = {*map(comparable, mail.destination.addresses)}
        return (
            (self.refused or mail.refusal is None)
            and (not self.to or self.to in addresses)
            and self.subject in comparable(mail.subject)
            and (self.since is None or mail.received_at >= self.since)
            and (not self.q or _has_terms(mail, self.q, unread=unread))
        )


@dataclass(frozen=True, slots=True)
class SelectedMails:
    """Selected emails, newest first, and whether older ones follow."""

    mails: list[CapturedMail]
    more: bool

    def __len__(self) -> int:
        """Return the number of emails on the page."""
        return len(self.mails)


def page_of(
    newest_first: list[CapturedMail], selection: Selection, read: Container[CapturedMail]
) -> SelectedMails:
    """Return a page: the selected emails between `after` and `before`, at most `limit`."""
    ids = [mail.id for mail in newest_first]
    before, after = selection.before, selection.after
    start = place_of(before, ids) + (before in ids) if before else 0
    end = place_of(after, ids) if after else None
    found: list[CapturedMail] = []
    for mail in newest_first[start:end]:
        if not selection.matches(mail, unread=mail not in read):
            continue
        if len(found) == selection.limit:
            return SelectedMails(found, more=True)
        found.append(mail)
    return SelectedMails(found, more=False)


def _has_terms(mail: CapturedMail, terms: tuple[Term, ...], *, unread: bool) -> bool:
    searched = _searched(mail)
    return all(_has_term(mail, searched, *term, unread=unread) for term in terms)


def _has_term(
    mail: CapturedMail, searched: str, name: str, value: str | datetime, *, unread: bool
) -> bool:
    if isinstance(value, datetime):
        return mail.received_at < value if name == "before" else mail.received_at >= value
    match name:
        case "from":
            return value in comparable(mail.from_header)
        case "to":
            return value in comparable("\n".join(mail.destination.addresses))
        case "subject":
            return value in comparable(mail.subject)
        case "has":
            return bool(view_of(mail).attached)
        case "is":
            return unread is (value == "unread")
    return value in searched


def _searched(mail: CapturedMail) -> str:
    """Return all in which a word is looked for."""
    view = view_of(mail)
    texts = (
        mail.id,
        mail.tags.get("message", ""),
        mail.from_header,
        *mail.destination.addresses,
        mail.subject,
        view.text or view.html or "",
        *(part.filename or "" for part in view.parts),
    )
    return comparable("\n".join(texts))
