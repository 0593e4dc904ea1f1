"""Limits of CPU time grow on a slow machine, and never shrink."""

import time
from itertools import count

import pytest

from verification.attacks.machine import slowness


@pytest.mark.parametrize(("seconds", "expected"), [(0.001, 1), (0.025, 1), (0.075, 3)])
def test_slowness(seconds: float, expected: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that needs three times the usual time is three times slower."""
    ticks = count(step=seconds)
    monkeypatch.setattr(time, "process_time", lambda: next(ticks))
    slowness.cache_clear()
    try:
        assert slowness() == pytest.approx(expected)
    finally:
        slowness.cache_clear()
