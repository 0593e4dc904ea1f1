"""The rows of suppression lists: Pillarbox's own, and those that other services export.

A list is CSV with a header, one address a line, or JSON: a list, or an object that holds one. The
dashboard reads the same CSV (dashboard/src/csv.ts).
"""

import csv
import json
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, TextIO

from pillarbox.application.accounts.suppressions import MANUAL
from pillarbox.domain.errors import FieldError, ValidationFailed

COLUMNS: Final = ("address", "reason", "createdAt", "messageId")
REASONS: Final = ("bounced", "complained", MANUAL)

#: What separates columns; Excel writes what the language of the machine says.
_SEPARATORS: Final = ",;\t"
#: A comment, or the line by which a file tells Excel its separator.
_NO_ROW: Final = re.compile(r"\s*#|sep=.\s*\Z", re.IGNORECASE)

#: A spreadsheet takes a cell that begins like this as a formula, and one with an apostrophe before
#: as text. A cell that begins with both in the first place gets one more, so that it comes back.
#: `#` is here because a line that begins with it is a comment.
_TEXT: Final = re.compile(r"'*[=+\-@\t\r\n#＝＋－＠]")  # noqa: RUF001  of full width

#: Names for our columns, as `_plain` makes them; the first that is there counts.
_NAMES: Final = {
    "address": ("email", "emailaddress", "recipient", "address"),
    "reason": ("suppressionreason", "reason", "origin"),
    "created": ("created", "createdat", "lastupdatetime"),
    "status": ("status",),
}
#: The reasons of other services, as `_plain` makes them.
_REASONS: Final = {
    "bounced": ("bounced", "bounce", "bounces", "hardbounce", "bouncedaddress", "invalid"),
    "complained": (
        "complained",
        "complaint",
        "spamcomplaint",
        "spamreport",
        "spamreports",
        "spamreportingaddress",
    ),
    MANUAL: (MANUAL, "manualsuppression", "unsubscribe", "unsubscribed", "unsubscribedaddress"),
}
_REASON_OF: Final = {name: ours for ours, names in _REASONS.items() for name in names}
#: A bounce's reply of SMTP (RFC 5321, section 4.2), which SendGrid writes as the reason.
_REPLY: Final = re.compile(r"[45]\d\d\b")
#: A status code of RFC 3463, which SendGrid writes beside the reason of a bounce.
_STATUS: Final = re.compile(r"[45]\.\d{1,3}\.\d{1,3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRow:
    """A row of a list: its place, its cells as they are written, and what they say.

    `fields` has, as far as they are there, `address`, `reason`, `createdAt` and `messageId`; and of
    other services their time (`created`) and the code of a bounce (`status`).
    """

    place: str
    cells: Sequence[str]
    fields: Mapping[str, str]
    #: What the header names, or stands for one. A row may have fewer cells, but no more.
    columns: Sequence[str]


def text_of(data: bytes) -> str:
    """Return the text of a file: UTF-8, UTF-16 with its mark, or else Windows-1252."""
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    if b"\0" in data:
        raise _not_a_list("is not a text; save a spreadsheet as CSV")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def rows_of(file: TextIO) -> Iterator[ListedRow]:
    """Read the rows of a list, without its header, empty lines and comments."""
    try:
        start = _to_first_text(file)
        if start and start[-1].lstrip().startswith(("{", "[")):
            yield from _json_rows("".join(start) + file.read())
        else:
            yield from _csv_rows(_Lines(chain(start, file)))
    except csv.Error as error:
        raise _not_a_list(f"is not a CSV file: {error}") from error
    except json.JSONDecodeError as error:
        raise _not_a_list(f"begins like JSON, but is not: {error}") from error


def as_text(cell: str) -> str:
    """Return a cell as it is written: neither a formula nor a comment."""
    return f"'{cell}" if _TEXT.match(cell) else cell


def reason_of(fields: Mapping[str, str]) -> str | None:
    """Return our word for the reason in a row; None if the row's reason is not known."""
    given = fields.get("reason", "")
    if not given:
        return MANUAL
    if _REPLY.match(given) or _STATUS.fullmatch(fields.get("status", "")):
        return "bounced"
    return _REASON_OF.get(_plain(given))


def _to_first_text(file: TextIO) -> list[str]:
    """Return the lines up to the first one that is not blank."""
    read: list[str] = []
    for line in file:
        read.append(line)
        if line.strip():
            break
    return read


class _Lines:
    """Lines of a file, and the number of the newest one."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        return line


def _csv_rows(lines: _Lines) -> Iterator[ListedRow]:
    columns: Sequence[str] | None = None
    separator = ""
    for line in lines:
        if not line.strip() or _NO_ROW.match(line):
            continue
        separator = separator or _separator_of(line)
        # A quoted cell may have line breaks, so the reader may take further lines.
        cells = next(csv.reader(chain([line], lines), delimiter=separator))
        texts = [_cell_of(cell.strip()) for cell in cells]
        if not any(texts):
            continue
        if columns is None and (columns := _header(texts)):
            continue
        columns = columns or ("address",)
        fields = _fields(columns, texts)
        yield ListedRow(place=f"line {lines.number}", cells=cells, fields=fields, columns=columns)


def _separator_of(line: str) -> str:
    """Return what separates the names of a header, or of another first line what it has most."""
    for separator in _SEPARATORS:
        if _names_addresses(next(csv.reader([line], delimiter=separator))):
            return separator
    return max(_SEPARATORS, key=line.count)


def _names_addresses(texts: Iterable[str]) -> bool:
    return bool({*map(_plain, texts)} & {*_NAMES["address"]})


def _header(texts: Sequence[str]) -> Sequence[str] | None:
    """Return the columns that a first line names; None if the line is no header."""
    if _names_addresses(texts):
        return texts
    if len(texts) > 1 and not any("@" in text for text in texts):
        named = "email, email address, recipient or address"
        raise ValidationFailed(
            FieldError(
                "line 1", f"none of the columns is for the address: name it {named}", "invalid"
            )
        )
    return None


def _json_rows(text: str) -> Iterator[ListedRow]:
    read = json.loads(text)
    lists = [read] if isinstance(read, list) else [v for v in read.values() if isinstance(v, list)]
    if len(lists) != 1:
        raise _not_a_list("is JSON without a list of suppressions, or with several lists")
    for number, item in enumerate(lists[0], start=1):
        given = item if isinstance(item, dict) else {"address": item}
        texts = ["" if value is None else str(value) for value in given.values()]
        fields = _fields([*given], texts)
        cells = [fields.get(name, "") for name in COLUMNS]
        yield ListedRow(place=f"item {number}", cells=cells, fields=fields, columns=COLUMNS)


def _fields(columns: Sequence[str], texts: Sequence[str]) -> dict[str, str]:
    """Return what the cells of known columns say; the others are ignored."""
    named = dict(zip(columns, texts, strict=False))
    fields: dict[str, str] = {
        name: named[name] for name in ("createdAt", "messageId") if name in named
    }
    plain = {_plain(name): text for name, text in named.items() if name not in fields}
    for field, names in _NAMES.items():
        known = next((plain[name] for name in names if name in plain), None)
        if known is not None:
            fields[field] = known
    return fields


def _cell_of(text: str) -> str:
    """Return the cell that `as_text` wrote."""
    return text[1:] if text.startswith("'") and _TEXT.match(text) else text


def _plain(text: str) -> str:
    """Return a name without case, spaces, hyphens and underscores."""
    return re.sub(r"[\s_-]", "", text).lower()


def _not_a_list(message: str) -> ValidationFailed:
    return ValidationFailed(FieldError("FILE", message, "invalid"))
