"""One test over many cases, which reports all cases that fail, and one loop over pages."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest


def for_each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Any], Any]:
    """Run a test once with all cases, where `pytest.mark.parametrize` makes a test of each.

    Args:
        names: the argument that each case is, or several.
        cases: a value for each of these names.
    """
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    rows = [dict(zip(wanted, [case] if len(wanted) == 1 else case, strict=True)) for case in cases]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def every_case(**fixtures: Any) -> None:
            failures = []
            for row in rows:
                try:
                    test(**row, **fixtures)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  all are reported
                    failures.append(f"{row}: {type(error).__name__}: {error}")
            assert rows
            assert not failures, "\n".join(failures)

        left = [p for name, p in inspect.signature(test).parameters.items() if name not in wanted]
        every_case.__signature__ = inspect.Signature(left)  # type: ignore[attr-defined]
        every_case.__name__, every_case.__doc__ = test.__name__, test.__doc__
        every_case.__module__ = test.__module__
        return every_case

    return decorate


def all_pages(read: Callable[[Any], Any]) -> Iterator[Any]:
    """Yield the items of all pages; each is read with what the one before names as next."""
    page = read(None)
    yield from page.items
    while page.next is not None:
        page = read(page.next)
        yield from page.items
