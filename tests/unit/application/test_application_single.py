"""Accepting a mail: what is checked, in which order, and what is left behind."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from pillarbox.application.ports import DomainVerdict, StoredResponse
from pillarbox.application.sending.single import SingleSend
from pillarbox.domain.account import Plan
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.domain.ids import derived_id
from pillarbox.domain.key import digest_of_key
from pillarbox.domain.mail import SavedBody, StarterBody
from pillarbox.domain.quota import Limits
from pillarbox.http.replies import send_result
from tests.fakes import builders
from tests.fakes.builders import (
    ACCOUNT,
    DIGEST,
    NOW,
    OTHER_HASH,
    PREVIEW_SENDER,
    SENDER,
    UPGRADE_URL,
    attachment,
    request,
    starter_request,
)
from tests.fakes.world import World

TEMPLATE = UUID("0197a1b2-0000-7000-8000-000000000001")
LOOK_UP, ACQUIRE, DNS = "directory.look_up", "claims.acquire", "domains.look_up"
RESERVE, PUT, COMMIT = "quotas.reserve", "jobs.put", "messages.commit"


@pytest.fixture
def world() -> World:
    return World()


def submit(
    world: World, sent: Any = None, key: str | None = None, digest: str | None = None
) -> StoredResponse:
    return SingleSend(world.ports).submit(key or world.live, sent or request(), digest, send_result)


def refused(
    world: World, sent: Any = None, key: str | None = None, digest: str | None = None
) -> ServiceError:
    with pytest.raises(ServiceError) as error:
        submit(world, sent, key, digest)
    return error.value


def left_behind(world: World) -> tuple[object, ...]:
    """What a refused request could have left: all empty."""
    store = world.store
    return (store.claims, store.messages, store.queue, store.spool, world.used() - {0})


def test_an_unkeyed_send_takes_four_rounds(world: World) -> None:
    """Without a key: one read, the quota, the job, the record; the DNS apart."""
    answer = submit(world)

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


def test_a_keyed_send_takes_five_rounds(world: World) -> None:
    """With a key the claim comes before everything slow, and the commit answers it."""
    answer = submit(world, digest=DIGEST)

    assert world.gate.calls == [LOOK_UP, ACQUIRE, DNS, RESERVE, PUT, COMMIT]
    assert world.store.claims[ACCOUNT, DIGEST].response == answer.body


def test_a_keyed_message_has_the_first_id_of_its_claim(world: World) -> None:
    """Whichever version of the service goes on under a claim makes the same message."""
    submit(world, digest=DIGEST)
    claim = world.store.claims[ACCOUNT, DIGEST].claim
    assert world.message().message_id == derived_id(claim.generation, 0)


def test_a_replay_costs_two_rounds_and_no_quota(world: World) -> None:
    """The same key and body again: the first answer byte for byte, and nothing more."""
    first = submit(world, digest=DIGEST)
    world.advance(timedelta(hours=23))
    world.gate.calls.clear()

    assert submit(world, digest=DIGEST) == replace(first, replayed=True)
    assert world.gate.calls == [LOOK_UP, ACQUIRE]
    assert len(world.store.messages) == len(world.store.queue) == 1


def test_a_replay_names_the_message_of_the_first_request(world: World) -> None:
    """The id that the log and SMTP need of a replay is the one that was accepted."""
    first = submit(world, digest=DIGEST)
    assert first.message_ids == (world.message().message_id,)
    assert submit(world, digest=DIGEST).message_ids == first.message_ids


def test_another_body_is_a_mismatch(world: World) -> None:
    """The same key with another body: 409, and the first answer stays."""
    submit(world, digest=DIGEST)
    error = refused(world, request(body_hash=OTHER_HASH), digest=DIGEST)
    assert (error.status, error.code) == (409, "idempotency_key_mismatch")
    assert submit(world, digest=DIGEST).replayed


def test_a_request_under_way_is_in_flight(world: World) -> None:
    """While the first request runs, the same one gets 409 with Retry-After: 5."""
    seen: list[ServiceError] = []

    def meanwhile(call: str) -> None:
        if call == DNS:
            world.gate.watch = lambda _: None
            seen.append(refused(world, digest=DIGEST))
            seen.append(refused(world, request(body_hash=OTHER_HASH), digest=DIGEST))

    world.gate.watch = meanwhile
    submit(world, digest=DIGEST)

    assert [error.code for error in seen] == ["idempotency_in_flight", "idempotency_key_mismatch"]
    assert seen[0].headers == {"Retry-After": "5"}


def test_after_a_day_a_key_is_new(world: World) -> None:
    """24 hours on, the same key and body is another send."""
    first = submit(world, digest=DIGEST)
    world.advance(timedelta(hours=24, seconds=1))
    second = submit(world, digest=DIGEST)
    assert not second.replayed
    assert second != first


def test_a_refused_request_may_be_corrected_under_its_key(world: World) -> None:
    """A failed request gives its claim up: the next one with the key is a new attempt."""
    world.domains.verdicts["example.com"] = DomainVerdict.NO_DOMAIN
    assert refused(world, digest=DIGEST).code == "invalid_recipient"
    world.domains.verdicts.clear()
    assert not submit(world, request(body_hash=OTHER_HASH), digest=DIGEST).replayed


#: What makes a request or its account faulty, in the order that docs/decisions.md gives.
type Spoil = Callable[[World, dict[str, Any]], None]


def _no_scope(world: World, _: dict[str, Any]) -> None:
    keys = world.store.keys
    digest = digest_of_key(world.live)
    keys[digest] = replace(keys[digest], scopes=frozenset({"emails:read"}))


def _revoked(world: World, _: dict[str, Any]) -> None:
    digest = digest_of_key(world.live)
    world.store.keys[digest] = replace(world.store.keys[digest], revoked_at=NOW)


def _sender(world: World, _: dict[str, Any]) -> None:
    world.set_account(replace(world.store.accounts[ACCOUNT], default_sender=None))


def _no_mx(world: World, fields: dict[str, Any]) -> None:
    fields["cc"] = ("bob@nomx.example",)
    world.domains.verdicts["nomx.example"] = DomainVerdict.NO_MX


def _suppressed(world: World, _: dict[str, Any]) -> None:
    world.store.suppressed[ACCOUNT, "ann@example.com"] = "bounced"


def _quota(world: World, _: dict[str, Any]) -> None:
    limits = Limits(per_minute=0, per_day=None, per_month=None)
    world.set_account(replace(world.store.accounts[ACCOUNT], overrides=limits))


def fields(**changes: Any) -> Spoil:
    return lambda _, given: given.update(changes)


SPOILS: list[tuple[str, Spoil]] = [
    ("invalid_api_key", _revoked),
    ("scope_required", _no_scope),
    ("validation_failed", fields(fault=ValidationFailed(FieldError("to", "is required", "x")))),
    ("multiple_modes", fields(starter_template="otp")),
    ("recipient_limit_exceeded", fields(bcc=tuple(f"b{n}@example.com" for n in range(50)))),
    ("too_many_attachments", fields(attachments=(attachment(),) * 11)),
    ("attachment_type_not_allowed", fields(attachments=(attachment(content_type="x"),))),
    ("template_not_found", fields(html=None, template_id=TEMPLATE)),
    ("no_verified_sender", _sender),
    ("invalid_recipient", _no_mx),
    ("recipient_suppressed", _suppressed),
    ("rate_limit_exceeded", _quota),
]


@pytest.mark.parametrize("digest", [None, DIGEST])
@pytest.mark.parametrize("position", range(len(SPOILS)))
def test_of_several_faults_the_first_is_told(position: int, digest: str | None) -> None:
    """A request with this fault and every later one gets this one, and leaves nothing behind."""
    world = World()
    given: dict[str, Any] = {}
    for code, spoil in SPOILS[position:]:
        # One list of attachments, one set of modes: the earlier fault's stays.
        held = dict(given)
        spoil(world, given)
        given |= held
        assert code
    fault = given.pop("fault", None)

    error = refused(world, fault or request(**given), digest=digest)

    assert error.code == SPOILS[position][0]
    assert left_behind(world) == ({}, {}, [], {}, set())


@pytest.mark.parametrize("key", ["bx_live_x", "ü", "x" * 8192, None])
def test_keys_that_do_not_work_look_alike(world: World, key: str | None) -> None:
    """An unknown, broken or foreign key gets the same 401, whatever the body is."""
    errors = [
        error.envelope()
        for sent in (request(), ValidationFailed(FieldError("", "no", "no")))
        for error in [refused(world, sent, key or builders.key_text())]
    ]
    assert [error["code"] for error in errors] == ["invalid_api_key"] * 2
    assert errors[0] == errors[1]


def test_no_mode_is_a_missing_field(world: World) -> None:
    """None of the three modes: 400 missing_field; two: 400 multiple_modes with their names."""
    assert refused(world, request(html=None)).code == "missing_field"
    error = refused(world, request(starter_template="otp", template_id=TEMPLATE))
    assert error.details == {"given": ["starterTemplate", "templateId", "html"]}


@pytest.mark.parametrize("sent", [request(), request(html=None, template_id=TEMPLATE)])
def test_preview_keys_send_starters_only(world: World, sent: object) -> None:
    """A preview key with html or a saved template gets 403 upgrade_required and where to."""
    error = refused(world, sent, world.preview)
    assert (error.status, error.code) == (403, "upgrade_required")
    assert error.upgrade_url == UPGRADE_URL


def test_preview_limits_come_between_modes_and_sizes(world: World) -> None:
    """With a preview key too, two modes are told first, and too many recipients later."""
    many = tuple(f"b{n}@example.com" for n in range(51))
    two_modes = request(starter_template="otp", to=many)
    assert refused(world, two_modes, world.preview).code == "multiple_modes"
    assert refused(world, request(to=many), world.preview).code == "upgrade_required"
    starter = starter_request(to=many)
    assert refused(world, starter, world.preview).code == "recipient_limit_exceeded"


def test_preview_keys_send_from_the_fixed_sender(world: World) -> None:
    """A preview key needs no sender of its own, and cannot choose one."""
    world.set_account(builders.account(plan=Plan.FREE, senders={}, default_sender=None))
    answer = submit(world, starter_request(sender=SENDER), world.preview)
    assert f'"from":"{PREVIEW_SENDER}"' in answer.body
    assert world.message().sender == PREVIEW_SENDER


def test_preview_keys_are_held_to_ten_a_minute(world: World) -> None:
    """The eleventh send in a minute with a preview key is refused; a minute later it is not."""
    for _ in range(10):
        submit(world, starter_request(), world.preview)
    error = refused(world, starter_request(), world.preview)
    assert error.details == {"limit_per_minute": 10}
    assert "Retry-After" not in error.headers
    world.advance(timedelta(minutes=1))
    submit(world, starter_request(), world.preview)


@pytest.mark.parametrize(
    ("plan", "sender", "attribution"),
    [(Plan.FREE, SENDER, True), (Plan.STANDARD, "news@shop.example", False)],
)
def test_the_plan_decides_sender_and_footer(plan: Plan, sender: str, *, attribution: bool) -> None:
    """On a free plan `from` is ignored and the footer is there; on a paid one neither."""
    senders = {SENDER: True, "news@shop.example": True}
    world = World(builders.account(plan=plan, senders=senders))
    submit(world, starter_request(sender="news@shop.example"))
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
def test_a_mail_is_not_tried_beyond_its_expiry(
    world: World, variables: dict[str, Any], deadline: int
) -> None:
    """A code that is dead in five minutes is not delivered after them; else a day is tried."""
    submit(world, starter_request(variables={"otp_code": "1", **variables}))
    (job,) = world.store.queue
    assert job.deadline == NOW + timedelta(seconds=deadline)


def test_a_starter_without_what_it_is_about_is_refused(world: World) -> None:
    """A passcode mail without its code is a 422 that names it, and nothing is queued."""
    error = refused(world, starter_request(variables={"app_name": "x"}), digest=DIGEST)
    assert isinstance(error, ValidationFailed)
    assert [error.field for error in error.errors] == ["variables.otp_code"]
    assert left_behind(world) == ({}, {}, [], {}, set())


@pytest.mark.parametrize("slug", ["../x", "__class__", "OTP", ""])
def test_unknown_starters_are_not_found(world: World, slug: str) -> None:
    """A slug that is none of the ten, a path too, is 404 template_not_found."""
    assert refused(world, starter_request(starter_template=slug)).code == "template_not_found"


def test_a_saved_template_is_filled_and_kept_as_it_was(world: World) -> None:
    """A saved template's subject is filled; its source travels with the job."""
    world.store.templates[ACCOUNT, TEMPLATE] = builders.template(TEMPLATE)
    saved = request(html=None, subject=None, template_id=TEMPLATE)

    error = refused(world, saved)
    assert isinstance(error, ValidationFailed)
    assert error.errors == (
        FieldError("variables.name", "the template needs this value", "missing_variable"),
    )
    submit(world, replace(saved, variables={"name": "Ann"}, brand_name="Shop"))
    assert world.message().subject == "Hello Ann"
    (job,) = world.store.queue
    assert job.mail is not None
    assert job.mail.body == SavedBody(
        source="<p>Hello {{ name }}</p>", values={"name": "Ann", "brandName": "Shop"}
    )


@pytest.mark.parametrize("value", ["\u202eevil", "x\x00y", "x" * 999])
def test_values_cannot_make_an_unsafe_subject(world: World, value: str) -> None:
    """A value that would put controls or too much into a subject is a 422."""
    world.store.templates[ACCOUNT, TEMPLATE] = builders.template(TEMPLATE)
    saved = request(html=None, subject=None, template_id=TEMPLATE, variables={"name": value})
    error = refused(world, saved)
    assert isinstance(error, ValidationFailed)
    assert [error.code for error in error.errors] == ["unsafe_subject"]


@pytest.mark.parametrize("logo", ["http://x.example/l.png", "javascript:alert(1)", "/l.png", "x"])
def test_logos_are_https(world: World, logo: str) -> None:
    """A logoUrl that is no https: URL is a 422 with a template; raw HTML has no use for one."""
    assert refused(world, starter_request(logo_url=logo)).code == "validation_failed"
    submit(world, request(logo_url=logo))


def test_every_bad_recipient_is_listed(world: World) -> None:
    """Syntax and DNS faults are told together, each with the address as it was given."""
    world.domains.verdicts = {
        "gone.example": DomainVerdict.NO_DOMAIN,
        "null.example": DomainVerdict.NULL_MX,
        "slow.example": DomainVerdict.UNKNOWN,
    }
    error = refused(
        world,
        request(
            to=("Ann <ann@example.com>", "a@GONE.example", "fine@example.com"),
            cc=("b@null.example",),
            bcc=("c@slow.example",),
        ),
    )
    assert (error.status, error.code) == (400, "invalid_recipient")
    assert error.details is not None
    listed = error.details["recipients"]
    assert isinstance(listed, list)
    assert [entry["address"] for entry in listed if isinstance(entry, dict)] == [
        "Ann <ann@example.com>",
        "a@GONE.example",
        "b@null.example",
    ]


def test_what_the_dns_cannot_say_is_accepted(world: World) -> None:
    """A domain that could not be looked up in time is left to delivery."""
    world.domains.verdicts["example.com"] = DomainVerdict.UNKNOWN
    submit(world)


def test_a_suppressed_mailbox_is_known_in_any_case(world: World) -> None:
    """Ann@ is suppressed when ann@ is; the whole mail is refused and the address listed."""
    _suppressed(world, {})
    error = refused(world, request(to=("bob@example.com",), cc=("ANN@Example.com",)))
    assert (error.status, error.code) == (400, "recipient_suppressed")
    assert error.details == {"recipients": [{"address": "ANN@Example.com", "reason": "bounced"}]}


@pytest.mark.parametrize("number", [51, 101, 5000])
def test_too_many_recipients_never_reach_a_store(world: World, number: int) -> None:
    """However many recipients there are, the answer is 400, and only fifty were looked up."""
    error = refused(world, request(to=tuple(f"a{n}@example.com" for n in range(number))))
    assert error.code == "recipient_limit_exceeded"
    assert error.details == {"count": number, "limit": 50}
    assert world.store.max_addresses <= 50


def test_repeated_recipients_count_as_given(world: World) -> None:
    """51 times one address are 51 recipients; 50 times are one copy."""
    assert refused(world, request(to=("a@example.com",) * 51)).code == "recipient_limit_exceeded"
    submit(world, request(to=("a@example.com",) * 50))
    assert world.message().recipients == ("a@example.com",)
