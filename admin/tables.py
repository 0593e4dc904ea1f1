"""Draw records and lists of them for people."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

#: The least width of a column whose text may be folded or cut.
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


def print_lines(console: Console, items: Sequence[Record], columns: Sequence[str]) -> None:
    """Print a list with one line an item; if its ids do not fit, as `print_list` does.

    Times are short, and texts are cut. Ids and times stay whole.
    """
    now = datetime.now(UTC)
    rows = [[_short(column, item.get(column), now) for column in columns] for item in items]
    widths = [max(map(cell_len, cells)) for cells in zip(map(label, columns), *rows, strict=True)]
    texts = [at for at, name in enumerate(columns) if not (_is_id(name) or name.endswith("At"))]
    while sum(widths) + len(widths) - 1 > console.width:
        widest = max(reversed(texts), key=widths.__getitem__, default=None)
        if widest is None or widths[widest] <= _FOLDED:
            return print_list(console, items, columns)
        widths[widest] -= 1
    for style, cells in (("bold", [*map(label, columns)]), *(("", row) for row in rows)):
        line = " ".join(_cut(cell, width) for cell, width in zip(cells, widths, strict=True))
        console.print(Text(line.rstrip(), style=style), no_wrap=True)
    return None


def _short(column: str, value: object, now: datetime) -> str:
    """Return a value as text, a time as `03-14 15:09`, or as a date if it was in another year."""
    text = to_text(value)
    if not column.endswith("At") or value is None:
        return text
    at = datetime.fromisoformat(text)
    return f"{at:%m-%d %H:%M}" if at.year == now.year else f"{at:%Y-%m-%d}"


def _cut(text: str, width: int) -> str:
    """Return a text with exactly so many cells of the terminal."""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return f"{set_cell_size(text, width - 1)}…"


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
