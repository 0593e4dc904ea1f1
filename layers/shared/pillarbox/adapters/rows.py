"""Write dataclasses as maps and read them back, both from one table of their fields."""

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cached_property
from typing import Any, Final, NamedTuple
from uuid import UUID

from pillarbox.domain.timing import milliseconds, to_datetime

_REQUIRED: Final = object()


class Codec(NamedTuple):
    """How a value is stored."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


class Column:
    """Where a field is stored. A field with the value `absent` is not stored."""

    __slots__ = ("absent", "codec", "name")

    def __init__(self, name: str, codec: Codec | None = None, absent: object = _REQUIRED) -> None:
        self.name = name.removesuffix("?")
        self.codec = codec
        self.absent = None if name.endswith("?") else absent


class Row[T]:
    """The fields of a class and the columns that they become.

    A column may be a name alone, for a value that is stored as it is. After `?` at its end it
    need not be there, which means None.

    Args:
        make: the class.
        same: the fields that have the names of their columns.
        columns: the columns of the other fields.
    """

    def __init__(
        self, make: Callable[..., T], *same: str, **columns: str | tuple[str, Codec] | Column
    ) -> None:
        self._make = make
        given = dict(zip((name.removesuffix("?") for name in same), same, strict=True)) | columns
        self._given: dict[str, str | tuple[str, Codec] | Column] = given

    @cached_property
    def _columns(self) -> dict[str, Column]:
        return {field: _column(column) for field, column in self._given.items()}

    def write(self, one: object) -> dict[str, Any]:
        """Return the columns of an object; None stands for one that is not there."""
        written: dict[str, Any] = {}
        for field, column in self._columns.items():
            name, codec, absent = column.name, column.codec, column.absent
            value = getattr(one, field)
            if value is None or value == absent:
                written[name] = None
            else:
                written[name] = codec.write(value) if codec else value
        return written

    def read(self, columns: Mapping[str, Any], **more: object) -> T:
        """Return the object of some columns, with the fields that are not in the table."""
        for field, column in self._columns.items():
            name, codec, absent = column.name, column.codec, column.absent
            if absent is not _REQUIRED and columns.get(name) is None:
                more[field] = absent
            else:
                more[field] = codec.read(columns[name]) if codec else columns[name]
        return self._make(**more)


def _column(column: str | tuple[str, Codec] | Column) -> Column:
    if isinstance(column, Column):
        return column
    return Column(column) if isinstance(column, str) else Column(*column)


def one_of(values: type[Enum]) -> Codec:
    """Store the value of an enumeration's member."""
    return Codec(lambda member: member.value, values)


def nested(row: Row[Any]) -> Codec:
    """Store an object as a map of its own, without what is not there."""
    return Codec(
        lambda one: {name: value for name, value in row.write(one).items() if value is not None},
        row.read,
    )


def many(codec: Codec) -> Codec:
    """Store a tuple as a list."""
    return Codec(lambda values: [*map(codec.write, values)], lambda v: tuple(map(codec.read, v)))


MILLISECONDS: Final = Codec(milliseconds, to_datetime)
UUID_TEXT: Final = Codec(str, UUID)
TUPLE: Final = Codec(tuple, tuple)
