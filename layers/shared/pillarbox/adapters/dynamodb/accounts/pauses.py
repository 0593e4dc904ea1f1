"""The pauses in the record of an account. Functions load this only for an account that has some."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pillarbox.adapters.dynamodb.table import TIME, to_text
from pillarbox.adapters.rows import Column, Row, many, nested, one_of
from pillarbox.domain.accounts.pause import Pause, PauseCause, PauseLevel, PauseScope

_PAUSE: Final = Row(
    Pause,
    scope=("scope", one_of(PauseScope)),
    id=Column("id", absent=""),
    level=("level", one_of(PauseLevel)),
    cause=("cause", one_of(PauseCause)),
    since=("since", TIME),
    until=("until?", TIME),
    counts_from=("counts_from?", TIME),
    stopped_before=("stopped_before?", TIME),
    owner_resumed=("owner_resumed?", TIME),
)
_PAUSES: Final = many(nested(_PAUSE))


def pauses_of(item: Mapping[str, Any]) -> tuple[Pause, ...]:
    pauses: tuple[Pause, ...] = _PAUSES.read(item.get("paused", ()))
    return pauses


def pause_attributes(pauses: Sequence[Pause]) -> dict[str, object]:
    """Return the attributes of an account's pauses; None means that one is not there.

    The text lets the table's stream be filtered for accounts that have pauses.
    """
    newest = max((pause.since for pause in pauses), default=None)
    return {
        "paused": _PAUSES.write(pauses) if pauses else None,
        "paused_since": to_text(newest) if newest else None,
    }
