"""Following: what the provider reports changes the message and suppresses addresses."""

from dataclasses import replace
from uuid import UUID

import pytest

from pillarbox.application.authentication import Authentication
from pillarbox.application.delivery.feedback import FeedbackOutcome, MessageContention
from pillarbox.application.history.lookup import MessageLookup
from pillarbox.application.ports import ProviderEvent
from pillarbox.application.templates.starters import list_starters, preview_starter
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.key import digest_of_key
from pillarbox.domain.message import EventKind
from tests.fakes import builders, stores
from tests.fakes.builders import ACCOUNT, NOW, at, event
from tests.fakes.world import World

ANN = "ann@example.com"
MESSAGE = builders.message()
BOUNCE = ProviderEvent(
    account_id=ACCOUNT,
    message_id=MESSAGE.message_id,
    at=at(5),
    events=(event(EventKind.BOUNCED, 5, ANN),),
    suppress=(("Ann@example.com", "bounced"),),
    provider_message_id="ses-1",
)


@pytest.fixture
def world() -> World:
    made = World()
    made.accept(MESSAGE)
    return made


def test_a_notice_changes_the_message_and_suppresses(world: World) -> None:
    """A permanent bounce shows on the message and suppresses the mailbox; again, it is known."""
    assert world.feedback(BOUNCE).record("").outcome is FeedbackOutcome.CHANGED
    assert (world.message().status, world.message().provider_message_id) == ("bounced", "ses-1")
    assert world.store.suppressed == {(ACCOUNT, ANN): "bounced"}
    assert world.store.newest_event == at(5)
    assert world.feedback(BOUNCE).record("").outcome is FeedbackOutcome.KNOWN
    assert world.message().revision == 1


def test_a_known_notice_still_suppresses(world: World) -> None:
    """When the suppression failed after the message was saved, the repeated notice makes it."""
    world.feedback(replace(BOUNCE, suppress=())).record("")
    assert world.feedback(BOUNCE).record("").outcome is FeedbackOutcome.KNOWN
    assert world.store.suppressed


@pytest.mark.parametrize("account", ["acct00000002", ACCOUNT])
def test_a_notice_of_no_message_of_ours_changes_nothing(world: World, account: str) -> None:
    """A notice for another account's or an absent message suppresses nobody."""
    foreign = replace(BOUNCE, account_id=account)
    if account == ACCOUNT:
        foreign = replace(foreign, message_id=UUID(int=7))
    assert world.feedback(foreign).record("").outcome is FeedbackOutcome.UNKNOWN
    assert not world.store.suppressed
    assert world.message() == MESSAGE


def test_what_says_nothing_is_ignored(world: World) -> None:
    """A record that means nothing to a message is no sign of life either."""
    assert world.feedback(None).record("").outcome is FeedbackOutcome.IGNORED
    assert world.gate.calls == []


def test_a_change_meanwhile_is_not_lost(world: World) -> None:
    """Another event is saved between reading and saving: both are kept."""

    def meanwhile(call: str) -> None:
        if call == "messages.save":
            world.gate.watch = lambda _: None
            world.report(world.message(), event(EventKind.DELIVERED, 3, ANN))

    world.gate.watch = meanwhile
    assert world.feedback(BOUNCE).record("").outcome is FeedbackOutcome.CHANGED
    assert {e.kind for e in world.message().events} == {EventKind.DELIVERED, EventKind.BOUNCED}


def test_an_older_sight_of_a_message_harms_nothing(world: World) -> None:
    """What is read a moment behind is written over nothing: the other event stays."""
    world.store.stale_messages[ACCOUNT, MESSAGE.message_id] = MESSAGE
    newer = replace(MESSAGE, revision=1).with_events([event(EventKind.DELIVERED, 3, ANN)])
    world.store.messages[ACCOUNT, MESSAGE.message_id] = newer
    assert world.feedback(BOUNCE).record("").outcome is FeedbackOutcome.CHANGED
    assert {e.kind for e in world.message().events} == {EventKind.DELIVERED, EventKind.BOUNCED}


def test_a_record_that_is_not_seen_yet_is_looked_for_again(world: World) -> None:
    """An event as fast as the record itself is not taken for somebody else's."""
    world.store.stale_messages[ACCOUNT, MESSAGE.message_id] = None
    assert world.feedback(BOUNCE).record("").outcome is FeedbackOutcome.CHANGED
    assert world.message().status == "bounced"


def test_endless_contention_is_given_back(world: World) -> None:
    """After ten lost races the notice goes back to the queue; nothing was suppressed yet."""

    def meanwhile(call: str) -> None:
        if call == "messages.save":
            name = (ACCOUNT, MESSAGE.message_id)
            current = world.store.messages[name]
            world.store.messages[name] = replace(current, revision=current.revision + 1)

    world.gate.watch = meanwhile
    with pytest.raises(MessageContention):
        world.feedback(BOUNCE).record("")
    assert world.gate.calls.count("messages.save") == 10
    assert not world.store.suppressed


def test_history_shows_an_account_its_own(world: World) -> None:
    """A message is found by its account; another's and an absent one look the same."""
    directory, history = (
        stores.FakeDirectory(world.store),
        MessageLookup(stores.FakeMessages(world.store)),
    )
    principal = Authentication(directory).authenticate(world.live)
    assert history.get(principal, MESSAGE.message_id) == MESSAGE
    other = replace(principal, account=builders.account("acct00000002"))
    errors = []
    for who, what in ((other, MESSAGE.message_id), (principal, UUID(int=7))):
        with pytest.raises(ServiceError) as error:
            history.get(who, what)
        errors.append(error.value.envelope())
    assert errors[0] == errors[1]
    assert errors[0]["code"] == "message_not_found"
    blind = replace(principal, key=replace(principal.key, scopes=frozenset({"emails:send"})))
    with pytest.raises(ServiceError, match="emails:read"):
        history.get(blind, MESSAGE.message_id)


def test_keys_that_do_not_work_get_one_answer(world: World) -> None:
    """A revoked key, an unknown one and one whose account is gone are invalid_api_key."""
    authentication = Authentication(stores.FakeDirectory(world.store))
    digest = digest_of_key(world.live)
    answers = []

    def refused(text: str) -> None:
        with pytest.raises(ServiceError) as error:
            authentication.authenticate(text)
        answers.append(error.value.envelope())

    refused(builders.key_text())
    refused("bx_live_")
    world.store.keys[digest] = replace(world.store.keys[digest], revoked_at=NOW)
    refused(world.live)
    world.store.accounts.clear()
    refused(world.preview)
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["code"] == "invalid_api_key"


def test_starters_are_listed_and_tried_out() -> None:
    """Each of the ten renders with its samples; given values go over them."""
    assert len(list_starters()) == 10
    for starter in list_starters():
        preview = preview_starter(starter.slug, {})
        assert preview.subject
        assert preview.html.lstrip().startswith("<!")
        assert set(preview.values) == {v.name for v in starter.variables}
    assert "424242" in preview_starter("otp", {"otp_code": "424242"}).html
    with pytest.raises(ServiceError, match="no such starter"):
        preview_starter("nope", {})
