"""Single sends: what is checked, in which order, and what a refusal leaves behind."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from pillarbox.application.ports import DomainVerdict, StoredResponse
from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.accounts.key import digest_of_key
from pillarbox.domain.accounts.quota import Limits, window_name
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.domain.ids import derived_id
from pillarbox.domain.messages.mail import StarterBody
from pillarbox.rendering.starters import get_starter
from tests.fakes import builders
from tests.fakes.builders import (
    ACCOUNT,
    DIGEST,
    NOW,
    SENDER,
    attachment,
    request,
    starter_request,
)
from tests.fakes.world import World
from tests.refusals import refusal

TEMPLATE = UUID("0197a1b2-0000-7000-8000-000000000001")
LOOK_UP, ACQUIRE, DNS = "directory.look_up", "claims.put", "domains.look_up"
RESERVE, PUT, COMMIT = "quotas.reserve", "jobs.put", "messages.commit"


def error_of(world: World, *given: Any, **named: Any) -> ServiceError:
    return refusal(world.send, *given, **named)


def left_behind(world: World) -> tuple[object, ...]:
    """Return the state that a refused request could have left; all parts should be empty."""
    store = world.store
    return (store.claims, store.messages, store.queue, store.spool, world.used() - {0})


def test_an_unkeyed_send_makes_four_aws_calls(world: World) -> None:
    """Without a key a send reads the account, reserves quota, queues and commits, beside DNS."""
    answer = world.send()

    assert world.gate.calls == [LOOK_UP, DNS, RESERVE, PUT, COMMIT]
    message = world.message()
    assert answer == StoredResponse(
        f'{{"messageId":"{message.message_id}","status":"queued","from":"{SENDER}"}}'
    )
    assert (message.status, message.to, message.subject) == (
        "pending",
        ("ann@example.com",),
        "Hello",
    )
    assert message.created_at == NOW
    (job,) = world.store.queue
    assert (job.message_id, job.body_hash) == (message.message_id, message.body_hash)
    assert (job.queued_at, job.deadline) == (NOW, NOW + timedelta(hours=24))
    assert world.used() == {1}


def test_a_keyed_send_makes_five_aws_calls(world: World) -> None:
    """With a key the claim comes before all slow steps and gives the id."""
    answer = world.send(digest=DIGEST)

    assert world.gate.calls == [LOOK_UP, ACQUIRE, DNS, RESERVE, PUT, COMMIT]
    held_claim = world.store.claims[ACCOUNT, DIGEST]
    assert answer.message_ids == (derived_id(held_claim.claim.generation, 0),)
    assert world.message().message_id == answer.message_ids[0]


def test_a_replay_makes_three_calls_and_uses_no_quota(world: World) -> None:
    """The same key and body return the first answer byte for byte and send nothing more."""
    first = world.send(digest=DIGEST)
    assert first.message_ids == (world.message().message_id,)
    world.advance(timedelta(hours=23))
    world.gate.calls.clear()

    again = world.send(digest=DIGEST)
    assert (again, again.message_ids) == (replace(first, replayed=True), first.message_ids)
    assert world.gate.calls == [LOOK_UP, ACQUIRE, "messages.get"]
    assert len(world.store.messages) == len(world.store.queue) == 1
    assert not world.store.tombstones


def test_a_commit_that_stays_unknown_keeps_its_key_and_not_its_quota(world: World) -> None:
    """If no tombstone can be put either, the message may come later, so a retry has to wait."""
    world.gate.refuse(COMMIT, "messages.withdraw")
    assert error_of(world, digest=DIGEST).code == "service_unavailable"
    assert world.used() == {0}
    world.gate.watch = lambda _: None
    assert error_of(world, digest=DIGEST).code == "idempotency_in_flight"
    world.advance(timedelta(seconds=65))
    assert not world.send(digest=DIGEST).replayed
    assert len(world.store.messages) == 1


def test_a_job_that_cannot_be_queued_needs_no_tombstone(world: World) -> None:
    """Nothing was put, so nothing can come later: the key is free at once."""
    world.gate.refuse(PUT)
    assert error_of(world, digest=DIGEST).code == "service_unavailable"
    assert (dict(world.store.claims), world.store.tombstones, world.used()) == ({}, set(), {0})


#: Adds a fault to a request or its account.
type AddFault = Callable[[World, dict[str, Any]], None]


def _no_scope(world: World, _: dict[str, Any]) -> None:
    keys = world.store.keys
    digest = digest_of_key(world.live)
    keys[digest] = replace(keys[digest], scopes=frozenset({"emails:read"}))


def _revoked(world: World, _: dict[str, Any]) -> None:
    digest = digest_of_key(world.live)
    world.store.keys[digest] = replace(world.store.keys[digest], revoked_at=NOW)


def _no_sender(world: World, _: dict[str, Any]) -> None:
    world.set_account(replace(world.store.accounts[ACCOUNT], default_sender=None))


def _no_mx(world: World, fields: dict[str, Any]) -> None:
    fields["cc"] = ("bob@nomx.example",)
    world.domains.verdicts["nomx.example"] = DomainVerdict.NO_MX


def _suppressed(world: World, _: dict[str, Any]) -> None:
    world.store.suppressed[ACCOUNT, "ann@example.com"] = "bounced"


def _no_quota(world: World, _: dict[str, Any]) -> None:
    limits = Limits(per_minute=0, per_day=None, per_month=None)
    world.set_account(replace(world.store.accounts[ACCOUNT], overrides=limits))


def _set_fields(**changes: Any) -> AddFault:
    return lambda _, fields: fields.update(changes)


#: The code of each fault, in the order that docs/errors.md gives.
FAULTS: list[tuple[str, AddFault]] = [
    ("invalid_api_key", _revoked),
    ("scope_required", _no_scope),
    (
        "validation_failed",
        _set_fields(fault=ValidationFailed(FieldError("to", "is required", "x"))),
    ),
    ("multiple_modes", _set_fields(starter_template="otp")),
    ("recipient_limit_exceeded", _set_fields(bcc=tuple(f"b{n}@example.com" for n in range(50)))),
    ("too_many_attachments", _set_fields(attachments=(attachment(),) * 11)),
    ("attachment_type_not_allowed", _set_fields(attachments=(attachment(content_type="x"),))),
    ("attachment_too_large", _set_fields(attachments=(attachment(5 * 1024 * 1024 + 1),))),
    ("template_not_found", _set_fields(html=None, template_id=TEMPLATE)),
    ("no_verified_sender", _no_sender),
    ("invalid_recipient", _set_fields(cc=("nobody",))),
    ("recipient_suppressed", _suppressed),
    ("rate_limit_exceeded", _no_quota),
    ("invalid_recipient", _no_mx),
]


@pytest.mark.parametrize("digest", [None, DIGEST])
@pytest.mark.parametrize("position", range(len(FAULTS)))
def test_the_first_of_several_faults_is_reported(
    world: World, position: int, digest: str | None
) -> None:
    """A request with this fault and every later one gets this error and leaves nothing behind."""
    fields: dict[str, Any] = {}
    for code, add_fault in FAULTS[position:]:
        # Two faults may change the same field: the earlier fault's value stays.
        earlier = dict(fields)
        add_fault(world, fields)
        fields |= earlier
        assert code
    fault = fields.pop("fault", None)

    error = error_of(world, fault or request(**fields), digest=digest)

    assert error.code == FAULTS[position][0]
    assert left_behind(world) == ({}, {}, [], {}, set())


def test_preview_limits_are_checked_between_modes_and_sizes(world: World) -> None:
    """A preview key's request fails first for two modes and last for too many recipients."""
    too_many = tuple(f"b{n}@example.com" for n in range(51))
    two_modes = request(starter_template="otp", to=too_many)
    assert error_of(world, two_modes, world.preview).code == "multiple_modes"
    assert error_of(world, request(to=too_many), world.preview).code == "upgrade_required"
    starter = starter_request(to=too_many)
    assert error_of(world, starter, world.preview).code == "recipient_limit_exceeded"


@pytest.mark.parametrize(
    ("plan", "sender", "attribution"),
    [(Plan.FREE, SENDER, True), (Plan.STANDARD, "news@shop.example", False)],
)
def test_the_plan_decides_sender_and_footer(plan: Plan, sender: str, *, attribution: bool) -> None:
    """A free plan ignores `from` and adds the footer; a paid plan does neither."""
    senders = {SENDER: True, "news@shop.example": True}
    world = World(builders.account(plan=plan, senders=senders))
    world.send(starter_request(sender="news@shop.example"))
    (job,) = world.store.queue
    assert job.mail is not None
    assert job.mail.sender == world.message().sender == sender
    assert isinstance(job.mail.body, StarterBody)
    assert job.mail.body.attribution == attribution


@pytest.mark.parametrize(
    ("variables", "deadline"),
    [({}, 600), ({"expiry_minutes": 5}, 300), ({"expiry_minutes": "1440"}, 86_400)]
    + [({"expiry_minutes": text}, 86_400) for text in ("99999", "soon", "-5", "1.5", "٣")],
)
def test_a_mail_is_not_tried_after_its_expiry(
    world: World, variables: dict[str, Any], deadline: int
) -> None:
    """A code that expires in five minutes has that deadline; other mail is tried for a day."""
    world.send(starter_request(variables={"otp_code": "1", **variables}))
    (job,) = world.store.queue
    assert job.deadline == NOW + timedelta(seconds=deadline)


@pytest.mark.parametrize(
    ("slug", "variables"),
    [
        ("otp", {"otp_code": "482913"}),
        ("magic_link", {"login_url": "https://shop.example/in"}),
        ("email_verify", {"verify_url": "https://shop.example/verify"}),
        ("password_reset", {"reset_url": "https://shop.example/reset"}),
        ("welcome", {}),
        ("password_changed", {}),
    ],
)
@pytest.mark.parametrize(("minutes", "urgent"), [(None, True), (60, True), (61, False)])
def test_codes_and_links_are_urgent(
    world: World, slug: str, variables: dict[str, Any], minutes: int | None, *, urgent: bool
) -> None:
    """A starter with a code or a link is urgent, unless its request says a longer expiry."""
    takes_expiry = "expiry_minutes" in get_starter(slug).names
    expiry = {"expiry_minutes": minutes} if minutes is not None and takes_expiry else {}
    world.send(starter_request(starter_template=slug, variables=variables | expiry))
    world.send()
    starter, html = world.store.queue
    assert starter.urgent == (bool(variables) and (urgent or not takes_expiry))
    assert not html.urgent


@pytest.mark.parametrize("value", ["\u202eevil", "x\x00y", "x" * 999])
def test_values_cannot_make_an_unsafe_subject(world: World, value: str) -> None:
    """A value that puts control characters or too much text into a subject gets a 422."""
    world.store.templates[ACCOUNT, TEMPLATE] = builders.template(TEMPLATE)
    with_template = request(
        html=None, subject=None, template_id=TEMPLATE, variables={"name": value}
    )
    error = error_of(world, with_template)
    assert isinstance(error, ValidationFailed)
    assert [error.code for error in error.errors] == ["unsafe_subject"]


def test_repeated_recipients_count_each_time(world: World) -> None:
    """The same address 51 times counts as 51 recipients; 50 times gives one copy."""
    assert error_of(world, request(to=("a@example.com",) * 51)).code == "recipient_limit_exceeded"
    world.send(request(to=("a@example.com",) * 50))
    assert world.message().recipients == ("a@example.com",)


def test_a_mailbox_gets_one_copy_and_counts_once(world: World) -> None:
    """Any case of an address in to, cc and bcc is one mailbox: one copy, one recipient."""
    fields = request(
        to=("dup@x.example", "b@X.example"), cc=("DUP@x.example",), bcc=("Dup@X.EXAMPLE",)
    )
    world.send(fields)
    message = world.message()
    assert message.recipients == ("dup@x.example", "b@x.example")
    assert (message.cc, message.bcc) == (("DUP@x.example",), ("Dup@x.example",))
    assert world.store.counts[ACCOUNT, window_name("recipients", world.now)] == 2
    world.settle()
    ((_, recipients, _),) = world.mailer.taken
    assert recipients == ("dup@x.example", "b@x.example")
