"""Self-service keys: what they refuse, and that their emails are tests with sample values."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from pillarbox.application.sending.recipients import as_test
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.mail import Mail, StarterBody
from pillarbox.rendering.starters import SLUGS, get_starter
from tests.fakes import builders, stores
from tests.fakes.builders import PREVIEW_SENDER, UPGRADE_URL, attachment, starter_request
from tests.fakes.world import World

#: Fields that a self-service key may not set, by their names in the contract.
REFUSED: dict[str, dict[str, Any]] = {
    "fromName": {"from_name": "Your bank"},
    "subject": {"subject": "Your account"},
    "brandName": {"brand_name": ""},
    "logoUrl": {"logo_url": "https://x.example/l.png"},
    "replyTo": {"reply_to": ("a@x.example",)},
    "cc": {"cc": ("b@example.com",)},
    "bcc": {"bcc": ("b@example.com",)},
    "attachments": {"attachments": (attachment(),)},
    "more than one recipient in to": {"to": ("ann@example.com", "ann@example.com")},
}


@pytest.fixture
def world() -> World:
    """Return a world whose preview key was made for self-service."""
    world = World()
    for digest, key in [*world.store.keys.items()]:
        world.store.keys[digest] = replace(key, self_service=key.type == "preview")
    return world


def submit(world: World, **changes: Any) -> Mail:
    world.single_send.submit(world.preview, starter_request(**changes), None, lambda _: "{}")
    (job,) = world.store.queue
    return stores.FakeJobs(world.store).load(job)


def refusal(world: World, **changes: Any) -> ServiceError:
    with pytest.raises(ServiceError) as error:
        submit(world, **changes)
    assert world.store.queue == []
    return error.value


@pytest.mark.parametrize("name", REFUSED)
def test_each_field_is_refused_by_name(world: World, name: str) -> None:
    """Each field that could deceive is 403 upgrade_required with its name and the upgrade URL."""
    error = refusal(world, **REFUSED[name])
    assert (error.status, error.code, error.upgrade_url) == (403, "upgrade_required", UPGRADE_URL)
    assert error.message.endswith(f"cannot use {name}.")


def test_all_fields_are_named_at_once(world: World) -> None:
    changes = {field: value for fields in REFUSED.values() for field, value in fields.items()}
    named = refusal(world, **changes).message.partition("cannot use ")[2].removesuffix(".")
    assert sorted(named.split(", ")) == sorted(REFUSED)


@pytest.mark.parametrize("name", REFUSED)
def test_a_key_of_an_operator_keeps_the_contract(name: str) -> None:
    """A preview key that an operator made sends the same request with the caller's values."""
    mail = submit(World(), **REFUSED[name])
    assert isinstance(mail.body, StarterBody)
    assert not mail.body.is_test
    assert mail.body.values["otp_code"] == "482913"
    assert not mail.subject.startswith("[Test]")


@pytest.mark.parametrize("slug", SLUGS)
def test_the_email_is_a_test_with_samples(world: World, slug: str) -> None:
    starter = get_starter(slug)
    samples = {variable.name: variable.sample for variable in starter.variables}
    hostile = dict.fromkeys(samples, "https://evil.example")
    mail = submit(world, starter_template=slug, variables=hostile)
    assert (mail.sender, mail.from_name, mail.reply_to) == (PREVIEW_SENDER, None, ())
    assert (mail.to, mail.cc, mail.bcc, mail.attachments) == (("ann@example.com",), (), (), ())
    assert mail.body == StarterBody(
        slug=slug,
        values=samples,
        brand_name="Harbour",
        logo_url=None,
        attribution=True,
        is_test=True,
    )
    assert mail.subject.startswith("[Test] ")
    assert "evil" not in mail.subject
    assert world.message().subject == mail.subject


def test_the_samples_decide_the_deadline(world: World) -> None:
    """A code of a test expires like the sample's, not as the caller says."""
    submit(world, variables={"otp_code": "1", "expiry_minutes": 1440})
    (job,) = world.store.queue
    assert job.deadline - job.queued_at == timedelta(minutes=10)


def test_variables_are_checked_as_in_any_send(world: World) -> None:
    """A missing variable or one of the wrong kind is 422, as it will be with a live key."""
    assert refusal(world, variables={}).code == "validation_failed"
    reset = {"starter_template": "password_reset", "variables": {"reset_url": "javascript:x"}}
    assert refusal(world, **reset).code == "validation_failed"


def test_only_starters_can_become_tests() -> None:
    """An email that is not from a starter raises, so that no other body ever gets through."""
    with pytest.raises(TypeError):
        as_test(builders.mail())
