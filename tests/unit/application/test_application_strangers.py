"""What requests that accept nothing cost: reads, queries to the DNS, and counts."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final
from uuid import UUID

import pytest

from pillarbox.application.authentication import RecentKeys, SeenKeys
from pillarbox.application.ports import DomainVerdict
from pillarbox.application.sending.batch import BatchSend
from pillarbox.application.sending.single import SingleSend
from pillarbox.application.sending.smtp import SmtpMessage
from pillarbox.domain.accounts.key import digest_of_key
from pillarbox.domain.accounts.quota import refusals_name
from pillarbox.domain.errors import FieldError, ServiceError, Unavailable, ValidationFailed
from pillarbox.domain.messages.mail import SendRequest
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, DIGEST, NOW, request, starter_request
from tests.fakes.world import Fault, World
from tests.refusals import refusal

MAX_DOMAINS = 100

LOOK_UP, DNS, COUNT = "directory.look_up", "domains.look_up", "refusals.count"


def stranger(world: World) -> World:
    """Return the world with a process that has not seen any key yet."""
    world.seen = SeenKeys()
    return world


def addresses(count: int, domain: str = "example.com") -> tuple[str, ...]:
    return tuple(f"a{n}@{domain}" for n in range(count))


# Keys.


def test_a_new_key_is_read_alone_first(world: World) -> None:
    """The first request of a key in a process takes one more read; the next one does not."""
    stranger(world)
    world.send()
    assert world.gate.calls.count(LOOK_UP) == 2
    world.send()
    assert world.gate.calls.count(LOOK_UP) == 3


def test_a_revoked_key_is_forgotten(world: World) -> None:
    """A revocation takes effect at once; then only key and account are read for the key."""
    digest = digest_of_key(world.live)
    world.store.keys[digest] = replace(world.store.keys[digest], revoked_at=NOW)
    assert refusal(world.send).code == "invalid_api_key"
    world.store.max_addresses = 0
    assert refusal(world.send).code == "invalid_api_key"
    assert world.store.max_addresses == 0
    assert world.gate.calls == [LOOK_UP, LOOK_UP]


def test_a_key_is_checked_before_its_request_is_parsed(world: World) -> None:
    """`authenticate` refuses a forged key, and reads nothing for a key that is known."""
    for use_case in (world.single_send, world.batch_send):
        use_case.authenticate(world.live)
        assert world.gate.calls == []
        assert refusal(use_case.authenticate, builders.key_text()).code == "invalid_api_key"
        assert world.gate.calls == [LOOK_UP]
        world.gate.calls.clear()


def test_an_outage_forgets_no_key(world: World) -> None:
    """If the directory cannot be read, a known key stays known."""
    world.gate.fault = Fault(0, "before")
    assert refusal(world.send).code == "service_unavailable"
    assert digest_of_key(world.live) in world.seen.valid


def test_recent_keys_keep_the_newest() -> None:
    """A full set forgets the key that was added least recently."""
    keys = RecentKeys(2)
    for digest in ("a", "b", "a", "c"):
        keys.add(digest)
    assert [digest in keys for digest in "abc"] == [True, False, True]
    keys.discard("a")
    keys.discard("unknown")
    assert [digest in keys for digest in "abc"] == [False, False, True]


INVALID = ValidationFailed(FieldError("to", "is required", "required"))


@pytest.mark.parametrize(
    ("what", "code"),
    [
        (INVALID, "validation_failed"),
        (request(html=None, to=addresses(50)), "missing_field"),
        (request(to=addresses(51)), "recipient_limit_exceeded"),
        (request(to=addresses(5), more_recipients=330_000), "recipient_limit_exceeded"),
        (request(to=(*addresses(49), "nobody")), "invalid_recipient"),
    ],
)
def test_a_request_that_must_fail_reads_no_suppression(
    world: World, what: SendRequest | ServiceError, code: str
) -> None:
    """Form, mode, counts and syntax are checked before anything is read for the recipients."""
    assert refusal(world.send, what).code == code
    assert world.gate.calls == [LOOK_UP]
    assert world.store.max_addresses == 0


def test_the_count_includes_recipients_that_were_cut(world: World) -> None:
    """`details.count` is what was sent, also for recipients that the wire model left out."""
    error = refusal(world.send, request(to=addresses(5), more_recipients=330_000))
    assert error.details == {"count": 330_005, "limit": 50}


def test_a_batch_counts_recipients_that_were_cut(world: World) -> None:
    """A batch with too many recipients in one email is refused as a whole, without a read more."""
    error = refusal(world.send_batch, request(more_recipients=1_000))
    assert error.details == {"scope": "recipients", "count": 1_001, "limit": 1_000}
    assert world.gate.calls == [LOOK_UP]


@pytest.mark.parametrize("extra", [0, 1])
def test_a_batch_has_at_most_a_hundred_domains(world: World, extra: int) -> None:
    """One domain too many refuses the whole batch, before the DNS and before other reads."""
    domains = [f"d{n}.example" for n in range(MAX_DOMAINS + extra)]
    items = [
        request(to=tuple(f"a@{domain}" for domain in domains[start : start + 50]))
        for start in range(0, len(domains), 50)
    ]
    if not extra:
        world.send_batch(*items)
        assert len(world.store.messages) == 2
        return
    error = refusal(world.send_batch, *items)
    assert error.code == "batch_limit_exceeded"
    assert error.details == {"scope": "domains", "count": 101, "limit": 100}
    assert world.gate.calls == [LOOK_UP]


# The DNS.


def test_a_batch_asks_for_the_domains_of_good_messages_only(world: World) -> None:
    """Messages with a syntax error or a suppressed recipient make no query to the DNS."""
    world.store.suppressed[ACCOUNT, "ann@suppressed.example"] = "bounced"
    world.send_batch(
        request(to=("a@slow.example", "bad")),
        request(to=("ann@suppressed.example", "b@slow.example")),
        request(to=("c@good.example",)),
        request(html=None, to=("d@slow.example",)),
    )
    assert world.domains.asked == ["good.example"]


@pytest.mark.parametrize(
    "send", [World.send, lambda world: world.send_batch(request()), World.send_smtp]
)
def test_an_account_over_its_quota_asks_no_name_server(
    world: World, send: Callable[[World], object]
) -> None:
    """Once the quota is used up, requests get their 429 before the DNS is asked."""
    world.limit(1)
    send(world)
    if send is World.send_smtp:  # its first refusal tells the process
        assert refusal(send, world).code == "rate_limit_exceeded"
    world.gate.calls.clear()
    assert refusal(send, world).code == "rate_limit_exceeded"
    assert DNS not in world.gate.calls


def test_smtp_groups_again_after_a_success(world: World) -> None:
    """A refused message makes the next ones of its key go alone, until one is accepted."""
    world.limit(1)
    submission = world.smtp_submission

    def prepare() -> SmtpMessage:
        octets = f"From: {builders.SENDER}\r\n\r\nHello\r\n".encode()
        return submission.prepare(world.live, ("ann@example.com",), bytearray(octets))

    submission.submit_all(world.live, [prepare(), prepare()])
    alone = prepare()
    assert not alone.groupable
    world.advance(timedelta(minutes=1))
    submission.submit(world.live, alone)
    assert prepare().groupable


# Costly refusals.


def refusals(world: World) -> int:
    return world.store.counts.get((ACCOUNT, refusals_name(world.now)), 0)


def test_a_refusal_after_the_dns_is_counted(world: World) -> None:
    """A message to a domain without mail counts as a costly refusal, and uses no quota."""
    world.domains.verdicts["example.com"] = DomainVerdict.NO_MX
    assert refusal(world.send).code == "invalid_recipient"
    assert world.gate.calls == [LOOK_UP, DNS, COUNT]
    assert (refusals(world), world.used()) == (1, {0})


def test_a_refusal_for_missing_values_is_counted(world: World) -> None:
    """A 422 of the template comes after the DNS, so that it counts as well."""
    assert refusal(world.send, starter_request(variables={})).status == 422
    assert refusals(world) == 1


@pytest.mark.parametrize(
    ("what", "code"),
    [
        (request(starter_template="otp"), "multiple_modes"),
        (request(html=None, starter_template="nope"), "template_not_found"),
        (request(to=("bad",)), "invalid_recipient"),
    ],
)
def test_an_early_refusal_is_not_counted(world: World, what: SendRequest, code: str) -> None:
    assert refusal(world.send, what).code == code
    assert COUNT not in world.gate.calls


def test_after_too_many_refusals_the_dns_is_not_asked(world: World) -> None:
    """At the limit the key gets 429 before the DNS; in the next minute it may send again."""
    world.limit(10)
    world.domains.verdicts["nomx.example"] = DomainVerdict.NO_MX
    for _ in range(20):
        assert refusal(world.send, request(to=("a@nomx.example",))).status == 400
    world.gate.calls.clear()
    error = refusal(world.send)
    assert (error.code, world.gate.calls) == ("rate_limit_exceeded", [LOOK_UP])
    assert refusal(world.send_batch, request()).code == "rate_limit_exceeded"
    world.advance(timedelta(minutes=1))
    world.send()


def test_each_refused_message_of_a_batch_counts(world: World) -> None:
    """A batch counts its costly refusals in one call; its good messages are accepted."""
    world.domains.verdicts["nomx.example"] = DomainVerdict.NO_MX
    world.send_batch(request(), *[request(to=("a@nomx.example",))] * 3)
    assert (world.gate.calls.count(COUNT), refusals(world), world.used()) == (1, 3, {1})


def test_a_refusal_keeps_its_reason_if_it_cannot_be_counted(world: World) -> None:
    """If the count fails, the caller still learns why the message was refused."""
    world.domains.verdicts["example.com"] = DomainVerdict.NO_MX
    world.gate.refuse(COUNT)
    assert refusal(world.send).code == "invalid_recipient"


def test_refusals_over_smtp_count_and_stop_the_dns(world: World) -> None:
    """A refused message over SMTP counts once; after too many the DNS is not asked any more."""
    world.limit(10)
    world.domains.verdicts["nomx.example"] = DomainVerdict.NO_MX
    for number in range(1, 21):
        assert refusal(world.send_smtp, to="a@nomx.example").code == "invalid_recipient"
        assert refusals(world) == number
    world.gate.calls.clear()
    assert refusal(world.send_smtp, to="a@nomx.example").code == "rate_limit_exceeded"
    assert DNS not in world.gate.calls


def test_a_replay_is_answered_in_spite_of_refusals(world: World) -> None:
    first = world.send(digest=DIGEST)
    world.store.counts[ACCOUNT, refusals_name(world.now)] = 10**6
    assert world.send(digest=DIGEST) == replace(first, replayed=True)


WIDE: Final = tuple(f"a{number}@example.com" for number in range(50))


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
    assert refusals(world) == 5


def test_templates_that_are_looked_up_count(world: World) -> None:
    absent = request(html=None, subject=None)
    world.send_batch(*[replace(absent, template_id=UUID(int=number)) for number in range(100)])
    assert refusals(world) == 10


def test_a_refused_preview_counts(world: World) -> None:
    assert refusal(world.send, request(to=WIDE), world.preview).status == 403
    assert refusals(world) == 5


def test_replays_of_a_long_list_count(world: World) -> None:
    for replays in range(3):
        world.send(request(to=WIDE), digest=DIGEST)
        assert refusals(world) == 5 * replays
    for replays in range(3):
        world.send_batch(*[request(to=WIDE)] * 2, digest="0" * 64)
        assert refusals(world) == 10 + 5 * replays


def test_a_batch_that_accepts_something_does_not_count(world: World) -> None:
    suppress(world)
    world.send_batch(request(to=WIDE), request())
    assert refusals(world) == 0
    world.send_batch(request(to=WIDE), request(to=WIDE))
    assert refusals(world) == 5


@pytest.mark.parametrize("error", [Unavailable("table"), ServiceError("internal_error", "")])
def test_a_failure_of_the_service_does_not_count(world: World, error: ServiceError) -> None:
    """A 500 or 503 is not the caller's fault: its retries are not limited."""
    world.gate.refuse("quotas.reserve", error=error)
    assert refusal(world.send, request(to=WIDE)) is error
    assert refusals(world) == 0


@pytest.mark.parametrize("use_case", [SingleSend, BatchSend])
def test_a_key_with_too_many_refusals_is_refused_before_its_request_is_parsed(
    world: World, use_case: type[SingleSend | BatchSend]
) -> None:
    """At the limit a request costs one read of key, account and quota, until the minute ends."""
    world.limit(10)
    suppress(world)
    while refusals(world) < 20:
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


def test_a_used_up_quota_alone_keeps_replays(world: World) -> None:
    """An account without quota gets the response of an earlier request again."""
    world.send(request(), digest=DIGEST)
    use_quota_up(world)
    use_case = world.single_send
    assert refusal(world.send, request()).code == "rate_limit_exceeded"
    use_case.authenticate(world.live)
    world.send(request(), digest=DIGEST)
    assert refusals(world) == 0
