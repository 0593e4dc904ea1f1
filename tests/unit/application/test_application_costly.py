"""What one key can make the service read for requests that accept nothing, again and again."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final
from uuid import UUID

import pytest

from pillarbox.application.sending.batch import BatchSend
from pillarbox.application.sending.single import SingleSend
from pillarbox.domain.accounts.quota import refusals_name
from pillarbox.domain.errors import ServiceError, Unavailable
from pillarbox.domain.messages.mail import SendRequest
from tests.fakes.builders import ACCOUNT, DIGEST, request
from tests.fakes.world import World
from tests.refusals import refusal

LOOK_UP: Final = "directory.look_up"
WIDE: Final = tuple(f"a{number}@example.com" for number in range(50))


def counted(world: World) -> int:
    return world.store.counts.get((ACCOUNT, refusals_name(world.now)), 0)


def suppress(world: World) -> None:
    world.store.suppressed[ACCOUNT, WIDE[0]] = "bounced"


def use_quota_up(world: World) -> None:
    world.limit(0)


@pytest.mark.parametrize(
    ("plant", "what", "code"),
    [
        (suppress, request(to=WIDE), "recipient_suppressed"),
        (use_quota_up, request(to=WIDE), "rate_limit_exceeded"),
        (
            lambda world: None,  # noqa: ARG005  nothing to plant
            request(to=WIDE, html=None, subject=None, template_id=UUID(int=1)),
            "template_not_found",
        ),
    ],
)
def test_a_refusal_after_a_long_look_up_counts(
    world: World, plant: Callable[[World], None], what: SendRequest, code: str
) -> None:
    """A refused email whose 50 recipients were looked up counts as five refused messages."""
    plant(world)
    assert refusal(world.send, what).code == code
    assert counted(world) == 5


def test_templates_that_are_looked_up_count(world: World) -> None:
    absent = request(html=None, subject=None)
    world.send_batch(*[replace(absent, template_id=UUID(int=number)) for number in range(100)])
    assert counted(world) == 10


def test_a_refused_preview_counts(world: World) -> None:
    assert refusal(world.send, request(to=WIDE), world.preview).status == 403
    assert counted(world) == 5


def test_replays_of_a_long_list_count(world: World) -> None:
    for replays in range(3):
        world.send(request(to=WIDE), digest=DIGEST)
        assert counted(world) == 5 * replays
    for replays in range(3):
        world.send_batch(*[request(to=WIDE)] * 2, digest="0" * 64)
        assert counted(world) == 10 + 5 * replays


def test_a_batch_that_accepts_something_does_not_count(world: World) -> None:
    suppress(world)
    world.send_batch(request(to=WIDE), request())
    assert counted(world) == 0
    world.send_batch(request(to=WIDE), request(to=WIDE))
    assert counted(world) == 5


@pytest.mark.parametrize("error", [Unavailable("table"), ServiceError("internal_error", "")])
def test_a_failure_of_the_service_does_not_count(world: World, error: ServiceError) -> None:
    """A 500 or 503 is not the caller's fault: its retries are not limited."""

    def fail(call: str) -> None:
        if call == "quotas.reserve":
            raise error

    world.gate.watch = fail
    assert refusal(world.send, request(to=WIDE)) is error
    assert counted(world) == 0


@pytest.mark.parametrize("use_case", [SingleSend, BatchSend])
def test_a_key_with_too_many_refusals_is_refused_before_its_request_is_parsed(
    world: World, use_case: type[SingleSend | BatchSend]
) -> None:
    """At the limit a request costs one read of key, account and quota, until the minute ends."""
    world.limit(10)
    suppress(world)
    while counted(world) < 20:
        world.send_batch(request(to=WIDE))
    world.gate.calls.clear()
    world.store.max_addresses = 0
    for _ in range(3):
        error = refusal(use_case(world.ports, world.seen).authenticate, world.live)
        assert (error.code, error.status) == ("rate_limit_exceeded", 429)
        assert error.headers["RateLimit-Reset"]
        assert error.log_fields == {"account_id": ACCOUNT}  # an operator looks for who it is
    assert world.gate.calls == [LOOK_UP] * 3
    assert world.store.max_addresses == 0
    world.advance(timedelta(minutes=1))
    use_case(world.ports, world.seen).authenticate(world.live)
    world.gate.calls.clear()
    use_case(world.ports, world.seen).authenticate(world.live)
    assert world.gate.calls == []


def test_the_refusal_of_the_dns_window_comes_early_the_next_time(world: World) -> None:
    """A process that gave 429 for costly refusals gives the next one without the other reads."""
    world.limit(10)
    world.store.counts[ACCOUNT, refusals_name(world.now)] = 20
    use_case = world.single_send
    use_case.authenticate(world.live)
    assert refusal(world.send, request()).code == "rate_limit_exceeded"
    assert refusal(use_case.authenticate, world.live).status == 429


def test_a_used_up_quota_alone_keeps_replays(world: World) -> None:
    """An account without quota gets the response of an earlier request again."""
    world.send(request(), digest=DIGEST)
    use_quota_up(world)
    use_case = world.single_send
    assert refusal(world.send, request()).code == "rate_limit_exceeded"
    use_case.authenticate(world.live)
    world.send(request(), digest=DIGEST)
    assert counted(world) == 0
