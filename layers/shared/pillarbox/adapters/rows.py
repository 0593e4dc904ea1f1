"""Write dataclasses as maps and read them back, both from one table of their fields."""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final, NamedTuple
from uuid import UUID

from pillarbox.domain.timing import milliseconds, to_datetime

_REQUIRED: Final = object()


class Codec(NamedTuple):
    """How a value is stored."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


class Column(NamedTuple):
    """Where a field is stored. A field with the value `absent` is not stored."""

    name: str
    codec: Codec | None = None
    absent: object = _REQUIRED


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
        self._columns = {field: _column(column) for field, column in given.items()}

    def write(self, one: object) -> dict[str, Any]:
        """Return the columns of an object; None stands for one that is not there."""
        written: dict[str, Any] = {}
        for field, (name, codec, absent) in self._columns.items():
            value = getattr(one, field)
            if value is None or value == absent:
                written[name] = None
            else:
                written[name] = codec.write(value) if codec else value
        return written

    def read(self, columns: Mapping[str, Any], **more: object) -> T:
        """Return the object of some columns, with the fields that are not in the table.

        Raises:
            KeyError, TypeError, ValueError: the columns are not those of such an object.
        """
        for field, (name, codec, absent) in self._columns.items():
            if absent is not _REQUIRED and columns.get(name) is None:
                more[field] = absent
            else:
                more[field] = codec.read(columns[name]) if codec else columns[name]
        return self._make(**more)


def _column(column: str | tuple[str, Codec] | Column) -> Column:
    name, codec, absent = Column(column) if isinstance(column, str) else Column(*column)
    return Column(name.removesuffix("?"), codec, None if name.endswith("?") else absent)


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
