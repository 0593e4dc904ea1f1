"""For how long the content of an email is kept."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from pillarbox.domain.messages.kept import CODES, KeptContent, days_to_keep, kept_until
from pillarbox.domain.messages.message import ERASED_ADDRESS, Event, EventKind
from pillarbox.domain.messages.schedule import Schedule
from pillarbox.rendering.starters import SLUGS, get_starter
from tests.fakes import builders

ID = UUID(int=7)


@pytest.mark.parametrize(
    ("account", "asked", "days"),
    [(0, None, 0), (0, 90, 0), (30, None, 30), (30, 7, 7), (7, 30, 7), (30, 0, 0)],
)
def test_a_send_may_lower_the_days_and_never_raise_them(
    account: int, asked: int, days: int
) -> None:
    assert days_to_keep(builders.account(keep=account), asked, None) == days


@pytest.mark.parametrize(
    ("account", "template", "asked", "days"),
    [
        (30, 7, None, 7),
        (7, 30, None, 7),
        (30, 7, 1, 1),
        (30, 7, 20, 7),
        (30, 0, None, 0),
        (0, 7, 7, 0),
    ],
)
def test_the_smallest_of_account_template_and_send_is_in_force(
    account: int, template: int, asked: int | None, days: int
) -> None:
    saved = builders.template(ID, keep=template)
    assert days_to_keep(builders.account(keep=account), asked, saved) == days


def test_codes_and_links_are_never_kept() -> None:
    """That is, by starter, and by a saved template with its name, category or secret variable."""
    account = builders.account(keep=90)
    kept = {slug for slug in SLUGS if days_to_keep(account, None, get_starter(slug))}
    assert kept == {*SLUGS} - CODES
    assert len(CODES & {*SLUGS}) == 4
    for fields in ({"category": "Magic-Link"}, {"name": "Password  reset"}, {"category": "OTP"}):
        template = builders.template(ID, **fields)
        assert days_to_keep(account, 90, template) == 0
    for slug in CODES:  # a copy of a starter may have any name
        copy = builders.template(ID, variables=get_starter(slug).names)
        assert days_to_keep(account, 90, copy) == 0, slug
    assert days_to_keep(account, 90, builders.template(ID)) == 90


def test_the_days_begin_when_the_provider_took_the_email() -> None:
    """Before that, without days, a write or a hand-over, and after an erasure, nothing is kept."""
    message = replace(builders.message(), keep=7, attempt=1)
    at = message.created_at + timedelta(days=20)
    sent = message.with_events([Event(kind=EventKind.SENT, at=at)])
    assert kept_until(message) is None
    assert kept_until(sent) == at + timedelta(days=7)
    for unkept in ({"keep": 0}, {"unkept": True}, {"attempt": 0}):
        assert kept_until(replace(sent, **unkept)) is None
    assert kept_until(replace(sent, to=(ERASED_ADDRESS,))) is None


@pytest.mark.parametrize("kind", [EventKind.FAILED, EventKind.UNCERTAIN])
def test_the_days_of_an_email_that_was_not_taken_begin_when_it_was_due(kind: EventKind) -> None:
    """The content is not older than that, so the bucket has it for as long as the record says."""
    message = replace(builders.message(), keep=7, attempt=1)
    schedule = Schedule(due_at=message.created_at + timedelta(days=3), life=timedelta(hours=1))
    for tried, due_at in (
        (message, message.created_at),
        (replace(message, schedule=schedule), schedule.due_at),
    ):
        failed = tried.with_events([Event(kind=kind, at=due_at + timedelta(hours=20))])
        assert kept_until(failed) == due_at + timedelta(days=7)


@pytest.mark.parametrize(("keep", "days"), [(1, 1), (2, 7), (7, 7), (8, 30), (31, 90), (90, 90)])
def test_the_bucket_deletes_at_the_next_class(keep: int, days: int) -> None:
    """The bucket has rules for few numbers of days: never fewer than those that are promised."""
    assert KeptContent.of(replace(builders.message(), keep=keep)).days == days
