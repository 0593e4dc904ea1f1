"""When a failed webhook is tried again, and what failures do to the health of its endpoint."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from pillarbox.domain.webhooks.endpoint import EndpointHealth

#: The waits after the first failed attempt, the second, … After the last one no attempt follows.
WAITS: Final = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
)
#: A wait is up to a fifth shorter or longer, so that what failed together is not tried together.
_JITTER: Final = 0.2
#: The longest `Retry-After` that is obeyed.
MAX_RETRY_AFTER: Final = timedelta(hours=24)
#: The circuit opens after so many failures of different events in a row …
_FAILURES: Final = 5
#: … that take at least so long.
_FAILING: Final = timedelta(minutes=1)
#: After so long without a success the owner gets an email …
WARN_AFTER: Final = timedelta(hours=24)
#: … and after so long the endpoint is disabled.
DISABLE_AFTER: Final = timedelta(days=5)


def retry_wait(
    attempts: int, random: float, retry_after: timedelta | None = None
) -> timedelta | None:
    """Return the wait after failed attempts, or None if no more attempts follow.

    Args:
        attempts: how many attempts failed.
        random: from 0 to 1.
        retry_after: the wait for which the endpoint asked.
    """
    if attempts > len(WAITS):
        return None
    return max(_with_jitter(WAITS[attempts - 1], random), _obeyed(retry_after))


def probe_wait(probes: int, random: float, retry_after: timedelta | None = None) -> timedelta:
    """Return the wait before the next probe of an open circuit; probes never end."""
    wait = WAITS[min(probes, len(WAITS) - 1)]
    return max(_with_jitter(wait, random), _obeyed(retry_after))


def _with_jitter(wait: timedelta, random: float) -> timedelta:
    return wait * (1 - _JITTER + 2 * _JITTER * random)


def _obeyed(retry_after: timedelta | None) -> timedelta:
    return min(retry_after or timedelta(0), MAX_RETRY_AFTER)


def after_failure(health: EndpointHealth, now: datetime, *, is_first: bool) -> EndpointHealth:
    """Return the health after a failed attempt, the first one of its event or a later one.

    The circuit may open or the endpoint may become disabled. It is the same object if nothing
    changes, as when several failures in a row add nothing.
    """
    failing_since = health.failing_since or now
    failures = min(health.failures + is_first, _FAILURES)
    changed = replace(health, failing_since=failing_since, failures=failures)
    is_enabled = health.disabled_at is None
    if now - failing_since >= DISABLE_AFTER and is_enabled:
        return replace(changed, disabled_at=now, disabled_for="failing")
    if now - failing_since >= WARN_AFTER and is_enabled and health.warned_at is None:
        changed = replace(changed, warned_at=now)
    if health.open_since is None and failures == _FAILURES and now - failing_since >= _FAILING:
        return replace(changed, open_since=now, probes=0)
    return health if changed == health else changed


def after_success(health: EndpointHealth) -> EndpointHealth:
    """Return the health after a success: no failure counts any more, and the circuit is closed.

    A drain goes on, and only the owner enables a disabled endpoint.
    """
    if health.disabled_at is not None:
        return health
    return EndpointHealth(slow_since=health.slow_since, drain_until=health.drain_until)


def must_wait(health: EndpointHealth) -> bool:
    """Return whether events of the endpoint wait, and are not posted as they come."""
    return (
        health.disabled_at is not None
        or health.open_since is not None
        or health.slow_since is not None
    )
