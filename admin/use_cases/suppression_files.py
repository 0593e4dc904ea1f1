"""Files of suppressions: read a list, store it in batches, write one.

The dashboard writes and reads the same files (dashboard/src/csv.ts).
"""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO
from itertools import batched
from typing import Final, Protocol, TextIO
from uuid import UUID

from admin.use_cases.suppression_rows import (
    COLUMNS,
    REASONS,
    ListedRow,
    as_text,
    reason_of,
    rows_of,
)
from pillarbox.application.account_lookup import find_account
from pillarbox.application.accounts.ports import AccountRecords, SuppressionRecords
from pillarbox.application.accounts.suppressions import listed_mailbox
from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.suppression import Suppression, is_hashed
from pillarbox.domain.errors import FieldError, Unavailable, ValidationFailed
from pillarbox.domain.ids import is_uuid

#: Suppressions that are read in one call, the most that DynamoDB takes, and then written.
_BATCH: Final = 100
#: Seconds before a batch is repeated that the table had no capacity for.
_WAITS: Final = (1, 2, 4, 8, 16)
#: More errors than these are not listed.
_MAX_ERRORS: Final = 10


class ImportedSuppressions(SuppressionRecords, Protocol):
    """The suppressed mailboxes of each account, also by the hundred."""

    def find_suppressed(self, account_id: str, addresses: Iterable[str]) -> frozenset[str]:
        """Return which mailboxes are suppressed, with strong consistency."""

    def add_missing(
        self, account_id: str, suppressions: Sequence[Suppression], *, announce: bool
    ) -> None:
        """Suppress mailboxes, each once; earlier suppressions are kept.

        Without `announce` no webhook endpoint hears of them. A repetition changes nothing.
        """


@dataclass(frozen=True, slots=True)
class ImportResult:
    """How many suppressions of a file were added, and how many addresses had one before."""

    added: int
    known: int


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row that is no suppression, and why."""

    row: ListedRow
    error: FieldError


@dataclass(frozen=True, slots=True)
class SuppressionFile:
    """What a file says: its suppressions, and the rows that are none."""

    entries: Sequence[Suppression]
    refused: Sequence[RefusedRow]

    def check(self) -> None:
        """Refuse a file with rows that are no suppressions."""
        if self.refused:
            raise ValidationFailed(*(one.error for one in self.refused)).listing(_MAX_ERRORS)

    def refused_text(self) -> str:
        """Return the refused rows as a list that can be imported once it is corrected.

        The header and the cells are those of the file. The reason is a comment above each row.
        """
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        for number, one in enumerate(self.refused):
            if number == 0:
                writer.writerow(one.row.columns)
            reason = " ".join(one.error.message.split())  # a column's name may have line breaks
            text.write(f"# {one.error.field}: {reason}\n")
            writer.writerow(one.row.cells)
        return text.getvalue()


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionFiles:
    """Reads an account's suppressions from files, and writes them to files."""

    records: ImportedSuppressions
    accounts: AccountRecords
    clock: Clock
    #: Waits so many seconds.
    pause: Callable[[float], None]

    def read(self, file: TextIO) -> SuppressionFile:
        """Read a file; an address that is there twice counts once."""
        now = self.clock()
        entries: dict[str, Suppression] = {}
        refused: list[RefusedRow] = []
        for row in rows_of(file):
            try:
                entry = _suppression(row, now)
            except ValidationFailed as wrong:
                (error,) = wrong.errors
                message = f"{error.field}: {error.message}"
                refused.append(RefusedRow(row, FieldError(row.place, message, error.code)))
            else:
                entries.setdefault(entry.address, entry)
        return SuppressionFile([*entries.values()], refused)

    def store(
        self,
        account_id: str,
        entries: Sequence[Suppression],
        report: Callable[[int], None],
        *,
        announce: bool = False,
    ) -> ImportResult:
        """Add suppressions; an address that is suppressed keeps its reason.

        `report` receives the number of entries stored so far. After a failure, run it again.
        Webhook endpoints hear of each one only with `announce`.
        """
        find_account(self.accounts, account_id)
        if any(is_hashed(entry.address) for entry in entries):
            self.accounts.set_hashed_suppressions(account_id)
        added = done = 0
        for batch in batched(entries, _BATCH, strict=False):
            # Read once, so that a repeated write does not count its own first attempt as known.
            known = self.records.find_suppressed(account_id, [entry.address for entry in batch])
            missing = [entry for entry in batch if entry.address not in known]
            self._add(account_id, missing, announce=announce)
            added += len(missing)
            done += len(batch)
            report(done)
        return ImportResult(added, len(entries) - added)

    def _add(self, account_id: str, missing: Sequence[Suppression], *, announce: bool) -> None:
        for wait in _WAITS:
            try:
                return self.records.add_missing(account_id, missing, announce=announce)
            except Unavailable:
                self.pause(wait)
        return self.records.add_missing(account_id, missing, announce=announce)

    def write(self, account_id: str, file: TextIO, report: Callable[[int], None]) -> int:
        """Write an account's suppressions, sorted by address, and return their number."""
        find_account(self.accounts, account_id)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        written = 0
        for written, entry in enumerate(self.records.of_account(account_id), start=1):
            at = entry.at.astimezone(UTC).isoformat(timespec="milliseconds")
            writer.writerow((as_text(entry.address), entry.reason, at, entry.message_id or ""))
            report(written)
        return written


def _suppression(row: ListedRow, now: datetime) -> Suppression:
    fields = row.fields
    if any(map(str.strip, row.cells[len(row.columns) :])):
        named = ", ".join(row.columns)
        message = f"the line has {len(row.cells)} columns; the header names {named}"
        raise ValidationFailed(FieldError("columns", message, "invalid"))
    reason = reason_of(fields)
    if reason is None:
        message = f"{fields['reason']!r} is not one of {', '.join(REASONS)}"
        raise ValidationFailed(FieldError("reason", message, "invalid"))
    message_id = fields.get("messageId")
    if message_id and not is_uuid(message_id):
        message = f"{message_id!r} is not the id of a message"
        raise ValidationFailed(FieldError("messageId", message, "invalid"))
    address = fields.get("address", "")
    return Suppression(
        address=address if is_hashed(address) else listed_mailbox(address),
        reason=reason,
        at=_time(fields, now),
        message_id=UUID(message_id) if message_id else None,
    )


def _time(fields: Mapping[str, str], now: datetime) -> datetime:
    """Return since when the address is suppressed: now if the time cannot be read."""
    ours, text = fields.get("createdAt"), fields.get("created", "")
    try:
        if not ours and text.isdecimal():
            return datetime.fromtimestamp(int(text), UTC)
        at = datetime.fromisoformat(ours or text)
    except (ValueError, OverflowError, OSError):
        if not ours:
            return now
        message = f"{ours!r} is not an ISO 8601 time"
        raise ValidationFailed(FieldError("createdAt", message, "invalid")) from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
