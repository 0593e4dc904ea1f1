"""An endpoint that hangs does not keep the events of others waiting."""

from random import Random

import pytest

from tests.fakes.builders import ACCOUNT, OTHER_ACCOUNT
from tests.fakes.webhook_simulation import HANGS, WebhookService

pytestmark = pytest.mark.slow
#: In seconds. The account that is slow is served after the others once it has 30 events in flight.
SOON = 3.0


def p99(
    events: int,
    seconds: float = 300.0,
    *,
    watches: bool = True,
    endpoints: int = 1,
    answers: float = HANGS,
) -> float:
    """Return p99 of the waits at a quick endpoint, beside events for others of another account."""
    service = WebhookService(watches=watches)
    quick = service.add_endpoint(0.1)
    random = Random(2)  # noqa: S311  no secret
    count = int(2 * seconds)
    service.announce(quick, sorted(random.uniform(0, seconds - 10) for _ in range(count)))
    others = [service.add_endpoint(answers, account_id=OTHER_ACCOUNT) for _ in range(endpoints)]
    for _ in range(events):
        for other in others:
            service.announce(other, [0.0])
    service.run(seconds)
    assert len(service.waits[quick.endpoint_id]) == count
    return service.percentile(quick, 0.99)


def test_a_hanging_endpoint_does_not_delay_another() -> None:
    """With many events for an endpoint that hangs, another's p99 wait at most doubles."""
    alone, beside = p99(0), p99(300)
    assert alone > 0.02
    assert beside <= 2 * alone


def test_ten_slow_endpoints_of_an_account_delay_no_other_account() -> None:
    """Each email has an event for each of ten endpoints, which take 6 to 8 seconds."""
    assert p99(100, 60.0, endpoints=10, answers=7.9) <= SOON


def test_an_endpoint_that_takes_over_a_second_keeps_up() -> None:
    """After a burst its events wait, and its drain gets faster than they come."""
    service = WebhookService()
    slow = service.add_endpoint(1.5)
    service.announce(slow, [*[0.0] * 60, *(n / 40 for n in range(40 * 30))])
    service.run(50)
    assert service.slow == {slow.endpoint_id}
    assert len(service.waits[slow.endpoint_id]) == 60 + 40 * 30
    assert max(service.waits[slow.endpoint_id]) < 10


def test_a_starved_worker_does_not_blame_the_endpoint() -> None:
    """If only the worker's own calls are slow, an endpoint that answers at once is not slow."""
    service = WebhookService(table=1.5)
    quick = service.add_endpoint(0.1)
    service.announce(quick, [0.0] * 300)
    service.run(60)
    assert len(service.waits[quick.endpoint_id]) == 300
    assert service.slow == set()
    assert not service.waiting.oldest(ACCOUNT, quick.endpoint_id, 1)


def test_without_the_watch_for_slow_endpoints_it_would() -> None:
    """The model shows the wait that the drains of slow endpoints prevent."""
    assert p99(100, 60.0, watches=False) > 0.2
