"""Budgets of look-ups for tests of something else."""

from datetime import UTC, datetime

from pillarbox.application.look_up_budget import LookUpBudget


def look_ups(*, used_up: bool = False) -> LookUpBudget:
    """Return a budget without an end, or one that is used up."""
    return LookUpBudget(
        count=lambda _subject, _window, _most, _now: not used_up, clock=lambda: datetime.now(UTC)
    )
