"""Files of suppressions: CSV with a header, or one address a line.

The dashboard writes and reads the same files (dashboard/src/csv.ts).
"""

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import batched
from typing import Final, TextIO
from uuid import UUID

from pillarbox.application.account_lookup import find_account
from pillarbox.application.accounts.ports import AccountRecords, SuppressionRecords
from pillarbox.application.accounts.suppressions import MANUAL
from pillarbox.application.ports import Clock
from pillarbox.application.validation import normalize_address
from pillarbox.domain.accounts.suppression import Suppression, is_hashed
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.ids import is_uuid

_COLUMNS: Final = ("address", "reason", "createdAt", "messageId")
_REASONS: Final = ("bounced", "complained", MANUAL)
#: Suppressions to store before the progress is reported.
_BATCH: Final = 100
#: A spreadsheet takes a cell that begins like this as a formula, and one with an apostrophe before
#: as text. A cell that begins with both in the first place gets one more, so that it comes back.
_FORMULA: Final = re.compile(r"'*[=+\-@\t\r]")
#: More errors than these are not listed.
_MAX_ERRORS: Final = 100


@dataclass(frozen=True, slots=True)
class ImportResult:
    """How many suppressions of a file were added, and how many addresses had one before."""

    added: int
    known: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionFiles:
    """Reads an account's suppressions from files, and writes them to files."""

    records: SuppressionRecords
    accounts: AccountRecords
    clock: Clock
    for_each: Callable[[Callable[[Suppression], bool], Sequence[Suppression]], Iterable[bool]]

    def read(self, file: TextIO) -> list[Suppression]:
        """Read a file; an address that is there twice counts once.

        Raises:
            ValidationFailed: on the lines that are wrong.
        """
        now = self.clock()
        entries: dict[str, Suppression] = {}
        errors: list[FieldError] = []
        reader = csv.reader(file)
        columns: Sequence[str] = ("address",)
        try:
            for row in reader:
                cells = [_cell_of(text.strip()) for text in row]
                if not any(cells):
                    continue
                if not entries and not errors and "address" in cells:
                    columns = cells
                    continue
                try:
                    entry = _suppression(columns, cells, now)
                except ValidationFailed as wrong:
                    (error,) = wrong.errors
                    field = f"line {reader.line_num}"
                    errors.append(FieldError(field, f"{error.field}: {error.message}", error.code))
                else:
                    entries.setdefault(entry.address, entry)
        except (csv.Error, UnicodeDecodeError) as error:
            message = f"is not a CSV file in UTF-8: {error}"
            raise ValidationFailed(FieldError("FILE", message, "invalid")) from error
        if errors:
            raise ValidationFailed(*errors[:_MAX_ERRORS])
        return [*entries.values()]

    def store(
        self, account_id: str, entries: Sequence[Suppression], report: Callable[[int], None]
    ) -> ImportResult:
        """Add suppressions; an address that is suppressed keeps its reason.

        `report` receives the number of entries stored so far. After a failure, run it again.

        Raises:
            ServiceError: `account_not_found`.
        """
        find_account(self.accounts, account_id)
        if any(is_hashed(entry.address) for entry in entries):
            self.accounts.set_hashed_suppressions(account_id)

        def add(entry: Suppression) -> bool:
            return self.records.add(account_id, entry) is entry

        added = done = 0
        for batch in batched(entries, _BATCH, strict=False):
            added += sum(self.for_each(add, batch))
            done += len(batch)
            report(done)
        return ImportResult(added, len(entries) - added)

    def write(self, account_id: str, file: TextIO, report: Callable[[int], None]) -> int:
        """Write an account's suppressions, sorted by address, and return their number.

        Raises:
            ServiceError: `account_not_found`.
        """
        find_account(self.accounts, account_id)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS)
        written = 0
        for written, entry in enumerate(self.records.of_account(account_id), start=1):
            at = entry.at.astimezone(UTC).isoformat(timespec="milliseconds")
            writer.writerow((_text_of(entry.address), entry.reason, at, entry.message_id or ""))
            report(written)
        return written


def _text_of(cell: str) -> str:
    """Return a cell as it is written: no formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _cell_of(text: str) -> str:
    """Return the cell that was written as a text."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def _suppression(columns: Sequence[str], cells: Sequence[str], now: datetime) -> Suppression:
    """Return the suppression in a line.

    Raises:
        ValidationFailed: on one of the columns.
    """
    if len(cells) > len(columns):
        message = f"the line has {len(cells)} columns; the header names {', '.join(columns)}"
        raise ValidationFailed(FieldError("columns", message, "invalid"))
    fields = dict(zip(columns, cells, strict=False))
    reason = fields.get("reason") or MANUAL
    if reason not in _REASONS:
        message = f"{reason!r} is not one of {', '.join(_REASONS)}"
        raise ValidationFailed(FieldError("reason", message, "invalid"))
    message_id = fields.get("messageId")
    if message_id and not is_uuid(message_id):
        message = f"{message_id!r} is not the id of a message"
        raise ValidationFailed(FieldError("messageId", message, "invalid"))
    address = fields.get("address", "")
    return Suppression(
        address=address if is_hashed(address) else mailbox_key(normalize_address(address)),
        reason=reason,
        at=_time(fields.get("createdAt"), now),
        message_id=UUID(message_id) if message_id else None,
    )


def _time(text: str | None, now: datetime) -> datetime:
    if not text:
        return now
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        message = f"{text!r} is not an ISO 8601 time"
        raise ValidationFailed(FieldError("createdAt", message, "invalid")) from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
