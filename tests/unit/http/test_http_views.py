"""Tests for the shapes of responses: where members are from, and how their values are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

from pillarbox.http.messages.replies import View, taken_from

if TYPE_CHECKING:
    from pillarbox.http.json_types import IfSet, Timestamp, Uuid

_ID = UUID("019b7998-4c00-7000-8000-000000000001")


@dataclass
class _Part:
    part_id: UUID = _ID


@dataclass
class _Whole:
    created_at: datetime = datetime(2026, 1, 1, 13, tzinfo=UTC)
    parts: tuple[_Part, ...] = (_Part(),)
    tags: frozenset[str] = frozenset({"b", "a"})
    best: _Part | None = None
    note: str | None = None
    by_name: dict[str, _Part] = field(default_factory=lambda: {"one": _Part()})


class _PartItem(View):
    id: Uuid = taken_from("part_id")


class _WholeItem(View):
    created_at: Timestamp
    parts: list[_PartItem]
    tags: list[str]
    best_id: Uuid | None = taken_from("best.part_id")
    best: _PartItem | None
    note: IfSet[str]
    by_name: dict[str, _PartItem]
    from_: str = taken_from(lambda whole: str(len(whole.parts)))


def test_members_are_written_by_their_types() -> None:
    assert _WholeItem.of(_Whole()) == {
        "createdAt": "2026-01-01T13:00:00.000+00:00",
        "parts": [{"id": str(_ID)}],
        "tags": ["a", "b"],
        "bestId": None,
        "best": None,
        "byName": {"one": {"id": str(_ID)}},
        "from": "1",
    }


def test_what_is_given_stands_for_attributes() -> None:
    shown = _WholeItem.of(_Whole(), note="new", best=_Part(), parts=[])
    assert (shown["note"], shown["best"], shown["parts"]) == ("new", {"id": str(_ID)}, [])


class _Holder:
    whole = _Whole(note="kept")
    count = 2


class _HolderItem(_WholeItem, under="whole"):
    count: int


def test_inherited_members_may_be_below_an_attribute() -> None:
    shown = _HolderItem.of(_Holder())
    assert (shown["note"], shown["count"], [*shown][-1]) == ("kept", 2, "count")
