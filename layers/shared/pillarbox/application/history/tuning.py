"""The figures that decide whether a query reads records, index entries or rollups.

They change what a query costs, not what it returns, if `max_write_delay` is right. The
last ones decide how changes are applied and checked.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pillarbox.domain.timing import CLOCK_MARGIN, milliseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """The figures of the history."""

    #: A message younger than this usually changes soon, so its record is read …
    settling_time: timedelta = timedelta(minutes=2)
    #: … but at most this many records, if the ledger has entries for the others.
    max_recent_records: int = 400
    #: A record is written at most this long after the time in its id: an accepting function ends
    #: after 30 seconds. So all messages created this long before an indexed one are indexed too.
    max_write_delay: timedelta = timedelta(seconds=40)
    #: Up to this many entries are read rather than narrowed down further: about four read units.
    max_entries: int = 400
    #: A status is rare if fewer than one message in this many has it. The entries of a rare
    #: status are read by status and update, other entries by creation.
    rare_status_ratio: int = 4
    #: A search finds so many messages at most, the newest ones …
    max_found: int = 1000
    #: … and reads so many records to filter or sort them by what the index does not have.
    max_filtered: int = 200
    #: A change that the stream has not delivered after this long is lost.
    max_stream_lag: timedelta = timedelta(minutes=15)
    #: While an account's change is younger, a temporary failure stops the stream and is retried.
    #: After that the hour is marked for rebuild and the stream goes on, for the other accounts,
    #: unless no rebuild would do it (`_AccountChanges.needs_retry`).
    retry_failures_for: timedelta = timedelta(minutes=5)
    #: So many messages are compared with the ledger at a time: about 100 MB of memory.
    max_checked_messages: int = 100_000

    def may_lag(self, updated: int, now: datetime) -> bool:
        """Return whether the stream may yet deliver an update of a time, in milliseconds.

        A time that is still to come says nothing: a complaint has the date that the recipient's
        provider gave it. It is taken for an old one, because to repair too early does no harm.
        """
        earliest, latest = now - self.max_stream_lag, now + CLOCK_MARGIN
        return milliseconds(earliest) <= updated <= milliseconds(latest)


STANDARD: Final = Tuning()
