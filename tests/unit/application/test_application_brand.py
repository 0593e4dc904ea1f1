"""The brand of an account in its emails and previews, and the tests of self-service keys."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from pillarbox.application.sending.recipients import as_test
from pillarbox.application.templates.previews import render_with_samples
from pillarbox.domain.accounts.account import Brand
from pillarbox.domain.messages.mail import Mail, SavedBody, StarterBody
from pillarbox.domain.templates.template import RenderValues
from pillarbox.rendering.starters import SLUGS, get_starter
from tests.fakes import builders, stores
from tests.fakes.builders import (
    ACCOUNT,
    NOW,
    PREVIEW_SENDER,
    UPGRADE_URL,
    attachment,
    request,
    starter_request,
)
from tests.fakes.world import World
from tests.refusals import faults, refusal

LOGO = "https://acme.example/logo.png"
OTHER_LOGO = "https://other.example/logo.png"
BRAND = Brand(name="Acme", logo_url=LOGO, accent="#0a7d5a", from_name="Ann of Acme")
TEMPLATE = UUID("0197a1b2-0000-7000-8000-000000000001")


def submit(world: World, send_request: Any, key: str | None = None) -> Mail:
    world.single_send.submit(key or world.live, send_request, None, lambda _: "{}")
    (job,) = world.store.queue
    return stores.FakeJobs(world.store).load(job)


def send_starter(brand: Brand, **changes: Any) -> tuple[Mail, StarterBody]:
    mail = submit(World(builders.account(brand=brand)), starter_request(**changes))
    assert isinstance(mail.body, StarterBody)
    return mail, mail.body


def test_the_brand_is_used_if_the_request_gives_none() -> None:
    """Name, logo, colour and display name of the account are in the email and its record."""
    world = World(builders.account(brand=BRAND))
    mail = submit(world, starter_request())
    assert isinstance(mail.body, StarterBody)
    body = mail.body
    assert (body.brand_name, body.logo_url, body.accent) == ("Acme", LOGO, "#0a7d5a")
    assert (mail.from_name, world.message().from_name) == ("Ann of Acme", "Ann of Acme")
    assert body.values["app_name"] == "Acme"
    assert mail.subject == "Your Acme code"


def test_another_brand_does_not_get_the_logo_of_the_account() -> None:
    """A request that names another brand shows that name, not the account's logo or address."""
    brand = replace(BRAND, company_address="1 Quay Street")
    assert send_starter(brand)[1].values["company_address"] == "1 Quay Street"
    other = send_starter(brand, brand_name="Other")[1]
    assert other.logo_url is None
    assert "company_address" not in other.values
    assert send_starter(BRAND, brand_name="Acme")[1].logo_url == LOGO
    assert send_starter(BRAND, logo_url=OTHER_LOGO)[1].brand_name == "Acme"


@pytest.mark.parametrize(
    ("brand", "given", "header"),
    [
        (Brand(), {}, "Shop"),
        (Brand(), {"from_name": " "}, "Shop"),
        (Brand(), {"from_name": "Bob"}, "Bob"),
        (Brand(), {"from_name": "B" * 200}, "B" * 128),
        (Brand(from_name="Ann"), {}, "Ann"),
        (Brand(from_name="Ann"), {"from_name": "Bob"}, "Bob"),
        (Brand(name="Acme", from_name="Ann"), {"from_name": "Bob"}, "Acme"),
        (Brand(name="Acme"), {"brand_name": ""}, "Shop"),
    ],
)
def test_the_header_falls_back_to_names(brand: Brand, given: dict[str, Any], header: str) -> None:
    """Without a brand name the header is the sender's name, else the account's.

    A sender without a name has that of the header.
    """
    mail, body = send_starter(brand, **given)
    assert (body.brand_name, body.values["app_name"]) == (header, header)
    assert mail.from_name == (given.get("from_name", brand.from_name) or header)


def test_raw_html_has_the_display_name() -> None:
    world = World(builders.account(brand=BRAND))
    assert submit(world, request()).from_name == "Ann of Acme"


def test_saved_templates_get_the_brand() -> None:
    """A saved template reads brandName and logoUrl, unless the request has its own."""
    for given, shown in (
        ({}, {"brandName": "Acme", "logoUrl": LOGO}),
        ({"brand_name": "Other"}, {"brandName": "Other"}),
        ({"variables": {"brandName": "Mine"}}, {"brandName": "Mine", "logoUrl": LOGO}),
    ):
        world = World(builders.account(brand=BRAND))
        world.store.templates[ACCOUNT, TEMPLATE] = builders.template(TEMPLATE)
        send = request(html=None, subject=None, template_id=TEMPLATE, **given)
        body = submit(world, replace(send, variables={"name": "A", **send.variables})).body
        assert isinstance(body, SavedBody)
        assert body.values == {"name": "A", **shown}


def test_a_test_of_a_self_service_key_shows_no_brand() -> None:
    """The email of a self-service key shows neither the brand nor the name of its account."""
    world = World(builders.account(brand=BRAND))
    world.set_account(replace(world.store.accounts[ACCOUNT], name="Stranger", brand=BRAND))
    for digest, key in [*world.store.keys.items()]:
        world.store.keys[digest] = replace(key, self_service=key.type == "preview")
    mail = submit(world, starter_request(), world.preview)
    assert isinstance(mail.body, StarterBody)
    assert mail.body.is_test
    assert mail.from_name is None
    assert not {"Acme", "Stranger", LOGO, "#0a7d5a", "Ann of Acme"} & {
        *map(str, mail.body.values.values()),
        *map(str, (mail.body.brand_name, mail.body.logo_url, mail.body.accent)),
    }


def test_a_preview_looks_like_a_send_of_the_account() -> None:
    """A preview has the brand of the account, the values of its request and today's date."""
    shown = render_with_samples(
        "payment_receipt", RenderValues(), builders.account(brand=BRAND), NOW
    )
    for text in (f'src="{LOGO}"', 'alt="Acme"', "#0a7d5a", "14 March 2026"):
        assert text in shown.html
    given = RenderValues(brand_name="Other", logo_url=OTHER_LOGO)
    other = render_with_samples("otp", given, builders.account(brand=BRAND), NOW).html
    assert f'src="{OTHER_LOGO}"' in other
    assert 'alt="Other"' in other
    assert LOGO not in other
    assert "Shop" in render_with_samples("otp", RenderValues(), builders.account(), NOW).html


def test_a_preview_checks_the_logo() -> None:
    """A logoUrl that a send would refuse is refused in a preview, too."""
    given = RenderValues(logo_url="http://acme.example/logo.png")
    refused = faults(render_with_samples, "otp", given, builders.account(), NOW)
    assert refused == [("logoUrl", "invalid_url")]


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


def submit_test(world: World, **changes: Any) -> Mail:
    return submit(world, starter_request(**changes), world.preview)


def test_all_fields_are_named_at_once(world: World) -> None:
    """Each field that could deceive is 403 upgrade_required with its name and the upgrade URL."""
    changes = {field: value for fields in REFUSED.values() for field, value in fields.items()}
    error = refusal(submit_test, world, **changes)
    assert (error.status, error.code, error.upgrade_url) == (403, "upgrade_required", UPGRADE_URL)
    named = error.message.partition("cannot use ")[2].removesuffix(".")
    assert sorted(named.split(", ")) == sorted(REFUSED)
    assert world.store.queue == []


@pytest.mark.parametrize("name", REFUSED)
def test_a_key_of_an_operator_keeps_the_contract(name: str) -> None:
    """A preview key that an operator made sends the same request with the caller's values."""
    mail = submit_test(World(), **REFUSED[name])
    assert isinstance(mail.body, StarterBody)
    assert not mail.body.is_test
    assert mail.body.values["otp_code"] == "482913"
    assert not mail.subject.startswith("[Test]")


@pytest.mark.parametrize("slug", SLUGS)
def test_the_email_is_a_test_with_samples(world: World, slug: str) -> None:
    starter = get_starter(slug)
    samples = {variable.name: variable.sample for variable in starter.variables}
    hostile = dict.fromkeys(samples, "https://evil.example")
    mail = submit_test(world, starter_template=slug, variables=hostile)
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
    submit_test(world, variables={"otp_code": "1", "expiry_minutes": 1440})
    (job,) = world.store.queue
    assert job.deadline - job.queued_at == timedelta(minutes=10)


def test_only_starters_can_become_tests() -> None:
    """An email that is not from a starter raises, so that no other body ever gets through."""
    with pytest.raises(TypeError):
        as_test(builders.mail())
