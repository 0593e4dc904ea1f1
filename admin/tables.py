"""Draw records and lists of them for people."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

#: The least width of a column whose text may be folded.
_FOLDED: Final = 8
#: What a border and the padding of a column take.
_BORDER: Final = 3

#: A reply of the HTTP API, or what only the command says.
type Record = Mapping[str, object]


def print_record(console: Console, record: Record) -> None:
    """Print one record, a field a line."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in record.items():
        table.add_row(label(name), Text(to_text(value)))
    console.print(table)


def print_list(console: Console, items: Sequence[Record], columns: Sequence[str]) -> None:
    """Print a list as a table; if its ids do not fit into one, print a record for each item.

    An id stays on one line, so that it can be copied.
    """
    widths = {column: _least_width(column, items) for column in columns}
    if sum(widths.values()) + _BORDER * len(columns) + 1 > console.width:
        for position, item in enumerate(items):
            if position:
                console.print()
            print_record(console, {column: item.get(column) for column in columns})
        return
    table = Table()
    for column in columns:
        table.add_column(label(column), overflow="fold", no_wrap=_is_id(column))
    for item in items:
        table.add_row(*(Text(to_text(item.get(column))) for column in columns))
    console.print(table)


def _least_width(column: str, items: Sequence[Record]) -> int:
    whole = max(len(to_text(item.get(column))) for item in items)
    if _is_id(column):
        return max(whole, len(label(column)))
    heading = max(map(len, label(column).split()))
    return min(_FOLDED, max(whole, heading))


def _is_id(column: str) -> bool:
    return column == "id" or column.endswith("Id")


def label(name: str) -> str:
    """Return the label of a field: `Default sender` for `defaultSender`."""
    return re.sub("[A-Z]", lambda letter: f" {letter[0].lower()}", name).capitalize()


def to_text(value: object) -> str:
    """Return a value as text without control characters, which could control the terminal."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(to_text, value)) or "-"
        case dict():
            return ", ".join(f"{label(name)} {to_text(part)}" for name, part in value.items())
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in str(value))
