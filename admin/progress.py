"""Show progress to people while a command takes longer than two seconds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Final

from rich.console import Console
from rich.progress import (
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

#: A command that ends before shows nothing, so that it does not flicker.
_DELAY: Final = 2.0

type Report = Callable[[int], None]


class _Rate(ProgressColumn):
    """How many units a second are done, as soon as two reports show it."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


@contextmanager
def progress(
    description: str,
    unit: str = "",
    *,
    total: int | None = None,
    console: Console | None = None,
    delay: float = _DELAY,
) -> Iterator[Report]:
    """Show on a terminal's stderr what goes on, from two seconds on.

    The block calls the returned function with the number of units that are done.
    """
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    count = "{task.completed:,} " + (f"of {total:,} " if total is not None else "") + unit
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn(count if unit else ""),
        _Rate(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        # Standard output stays as it is: a program may read it.
        redirect_stdout=False,
        redirect_stderr=False,
    )
    task = bar.add_task(description, total=total)
    timer = Timer(delay, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda done: bar.update(task, completed=done)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
