"""Header fields of the caller's own: one table for HTTP and SMTP.

Over HTTP a request names the fields that it wants, and everything outside this table is refused.
Over SMTP the sender writes the whole message, and only `is_ours` removes fields from it. Neither
door delivers a field that is meant for this service or for SES.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from pillarbox.domain.messages.header_text import is_header_safe, is_visible

MAX_HEADERS: Final = 20
#: In octets of UTF-8: all names and values.
MAX_HEADERS_BYTES: Final = 4096
#: In octets. A field is folded between words only, and a line has at most 998 (RFC 5322 section
#: 2.1.1).
_MAX_WORD: Final = 900

#: SES obeys fields with the first prefix (SES, SendRawEmail); the others are for this
#: service.
_OURS: Final = ("x-ses-", "x-tag-", "x-api-key", "x-scheduled-at")
_NAME: Final = "(?ai)x-[a-z0-9_-]{1,62}"

UNSUBSCRIBE: Final = "List-Unsubscribe"
UNSUBSCRIBE_POST: Final = "List-Unsubscribe-Post"
ONE_CLICK: Final = "List-Unsubscribe=One-Click"

_MESSAGE_ID: Final = r"<[!-;=?-~]+@[!-;=?-~]+>"
_LINK: Final = r"<(?ai:https?://|mailto:)[!-;=?-~]+>"

type Headers = Mapping[str, str]


class HeaderError(Exception):
    """A field, or all of them together, cannot be used; the text says why."""


def _listed(item: str, comma: str, joint: str) -> Callable[[str], str | None]:
    """Return what reads a list of items, and writes it with this joint; None for anything else."""

    def normal(value: str) -> str | None:
        is_list = re.fullmatch(f"{item}(?:{comma}{item})*", value)
        return joint.join(re.findall(item, value)) if is_list else None

    return normal


def _one_of(*values: str) -> Callable[[str], str | None]:
    by_lower = {value.lower(): value for value in values}
    return lambda value: by_lower.get(value.lower())


#: Name in lower case -> what returns a value in its one form, or None if it is not valid, and what
#: to say then.
_FIELDS: Final[Mapping[str, tuple[Callable[[str], str | None], str]]] = {
    # RFC 5322 section 3.6.4.
    **dict.fromkeys(
        ("in-reply-to", "references"),
        (
            _listed(_MESSAGE_ID, "[ \t]*", " "),
            "must be message ids such as <id@shop.example>, with blanks between them",
        ),
    ),
    # RFC 2369 section 2, and RFC 8058 section 3.1.
    "list-unsubscribe": (
        _listed(_LINK, "[ \t]*,[ \t]*", ", "),
        "must be links such as <https://shop.example/u>, with commas between them",
    ),
    "list-unsubscribe-post": (_one_of(ONE_CLICK), f"must be {ONE_CLICK}"),
    # RFC 3834 section 5.
    "auto-submitted": (
        _one_of("no", "auto-generated", "auto-replied", "auto-notified"),
        "must be no, auto-generated, auto-replied or auto-notified",
    ),
    # RFC 2076 section 3.9.
    "precedence": (_one_of("bulk", "list", "junk"), "must be bulk, list or junk"),
    "feedback-id": (
        _listed("[!-~]{1,255}", "(?!)", ""),
        "must be at most 255 visible ASCII characters",
    ),
}
#: What the OpenAPI document and the guides list.
NAMES: Final = (
    *("In-Reply-To", "References", UNSUBSCRIBE, UNSUBSCRIBE_POST),
    *("Auto-Submitted", "Precedence", "Feedback-ID"),
)


def is_ours(name: str) -> bool:
    """Return whether a field is for this service or for SES, and not for the recipient.

    `name` is in lower case.
    """
    return name.startswith(_OURS)


def normal_headers(headers: Headers) -> dict[str, str]:
    """Check the fields that a request sets: names, values, number and size.

    Returns them with structured values in one form: programs write `<a>,<b>` and `Bulk` too.

    Raises:
        HeaderError: the first fault; the text names the field.
    """
    if len(headers) > MAX_HEADERS:
        raise HeaderError(f"must not have more than {MAX_HEADERS} fields")
    if sum(len(text.encode()) for field in headers.items() for text in field) > MAX_HEADERS_BYTES:
        raise HeaderError(f"must not be larger than {MAX_HEADERS_BYTES} bytes in all")
    normal: dict[str, str] = {}
    for name, value in headers.items():
        normalize, fault = _FIELDS.get(name.lower(), (None, ""))
        found = normalize(value) if normalize else value
        if found is not None:
            fault = _fault(name, found) or ""
        if fault or found is None:
            raise HeaderError(f"{name[:64]!r} {fault}")
        normal[name] = found
    values = {name.lower(): value for name, value in normal.items()}
    if len(values) < len(headers):
        raise HeaderError("must not have the same name twice, in capitals or not")
    if UNSUBSCRIBE_POST.lower() in values and "<https:" not in values.get("list-unsubscribe", ""):
        raise HeaderError(f"'{UNSUBSCRIBE_POST}' needs an https: link in {UNSUBSCRIBE} (RFC 8058)")
    return normal


def _fault(name: str, value: str) -> str | None:
    if not value or not is_visible(value) or value != value.strip():
        return "must have a value without a blank at either end"
    if not is_header_safe(value):
        return "must not have control characters or text direction overrides"
    if max(len(word.encode()) for word in value.split(" ")) > _MAX_WORD:
        return f"must not have a word of more than {_MAX_WORD} bytes"
    if name.isascii() and name.lower() in _FIELDS:  # in small letters the Kelvin sign is a k
        return None
    if name.lower().startswith("x-tag-"):
        return "is a tag, which goes in tags"
    if is_ours(name.lower()):
        return "is not delivered to recipients"
    return None if re.fullmatch(_NAME, name) else f"is none of {', '.join(NAMES)} and X-…"


def unsubscribe_headers(url: str, *, one_click: bool) -> dict[str, str]:
    """Return the fields of RFC 2369 section 3.2, and of RFC 8058 if the URL answers a POST."""
    post = {UNSUBSCRIBE_POST: ONE_CLICK} if one_click else {}
    return {UNSUBSCRIBE: f"<{url}>"} | post
