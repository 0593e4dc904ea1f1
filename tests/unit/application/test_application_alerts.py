"""Alerts: who hears of what, how often, and what a chat gets."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.application.accounts.alert_looks import QuotaLook, UnusedKeysLook
from pillarbox.application.accounts.alert_telling import chat_body
from pillarbox.application.accounts.held_alerts import held_alerts
from pillarbox.application.webhooks.ports import PostResult
from pillarbox.domain.accounts.account import Account, Plan
from pillarbox.domain.accounts.alert import (
    Alert,
    AlertKind,
    AlertPost,
    AlertSettings,
    ChatState,
)
from pillarbox.domain.accounts.key import ApiKey
from pillarbox.domain.accounts.quota import Limits, QuotaState
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import Message, MessageOrigin
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, NOW, message
from tests.fakes.container import Container
from tests.fakes.webhooks import FakeWebhookQueue

MAX_TEXT = 4_000
RETRY_AFTER = timedelta(minutes=5)
TRIES = 3
MOST_TOLD = 20

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
URL = "https://hooks.slack.com/services/T0/B0/s3cret-xyz9"
OK = PostResult(status_code=200)
OWNERS = ("Ada@shop.example", "bob@shop.example")


def alert(number: int = 1, kind: AlertKind | None = AlertKind.ENDPOINT) -> Alert:
    return Alert(
        kind=kind,
        name=f"{number}",
        at=NOW,
        title=f"Title {number}",
        paragraphs=(f"Text {number}.", "More."),
        about=f"About {number}",
    )


class Desk(Container):
    """An account with two owners, one of whom is its contact too, and a chat that answers."""

    def __init__(
        self,
        answer: PostResult = OK,
        refused: str | None = None,
        *,
        webhooks: bool = True,
    ) -> None:
        self.answer, self.poster = answer, mock.Mock()
        self.poster.post.side_effect = lambda *_: self.answer
        self.poster.check.return_value = refused
        self.queue = FakeWebhookQueue()
        messages, self.mail, self.slow = mock.Mock(), mock.Mock(), mock.Mock()
        super().__init__(
            {"webhooks": "on" if webhooks else "off"},
            message_store=messages,
            owners_of=lambda _: OWNERS,
            send_mail=self.mail,
            slow_requests=self.slow,
            webhook_poster=self.poster,
            webhooks_queue=self.queue,
        )
        self.account_store.add(builders.account(contact="ada@shop.example"))
        accepted = dict[object, str]()
        messages.get.side_effect = lambda _, message_id: accepted.get(message_id)
        self.accept: Any = lambda address, *_, message_id, **__: accepted.setdefault(
            message_id, address
        )
        self.mail.side_effect = self.accept

    @property
    def account(self) -> Account:
        found = self.account_store.get(ACCOUNT)
        assert found
        return found

    @property
    def posts(self) -> list[AlertPost]:
        tasks: list[Any] = [task for task, _ in self.queue.tasks]
        return [task for task in tasks if isinstance(task, AlertPost)]

    def raise_all(self, *alerts: Alert) -> None:
        for one in alerts:
            self.alerts.raise_alert(ACCOUNT, one)

    def run(self, time: timedelta = 2 * MINUTE) -> list[str]:
        """Let minutes pass, and return the subjects that the first owner got."""
        before = self.mail.call_count
        end = self.now + time
        while self.now < end:
            self.now += MINUTE
            self.alert_telling.tell_due()
        calls = self.mail.call_args_list[before:]
        return [call.args[1] for call in calls if call.args[0].lower().startswith("ada")]

    def choose(self, **choices: Any) -> None:
        self.alert_store.set_settings(ACCOUNT, AlertSettings(**choices))


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_each_owner_and_the_contact_get_one_email(desk: Desk) -> None:
    desk.raise_all(alert(), alert())
    assert desk.run() == ["Title 1"]
    assert [call.args[0] for call in desk.mail.call_args_list] == [
        "ada@shop.example",
        "bob@shop.example",
    ]
    desk.raise_all(alert())
    assert desk.run(DAY / 12) == []
    assert not [*desk.alert_times.due(desk.now)]


def test_a_flood_becomes_one_digest_an_hour(desk: Desk) -> None:
    """The first is told at once, and fifty further ones together when an hour is over."""
    desk.raise_all(alert())
    assert desk.run() == ["Title 1"]
    for number in range(2, 52):
        desk.raise_all(alert(number))
        assert desk.run(MINUTE) == []
    assert desk.run(HOUR) == ["50 alerts about your account"]
    paragraphs = desk.mail.call_args.args[3]["paragraphs"]
    assert paragraphs[0] == f"Title 2 (About 2), {NOW:%-d %B, %H:%M} UTC. Text 2."
    assert paragraphs[MOST_TOLD] == "There are 30 more."
    assert desk.run(3 * HOUR) == []


def test_kinds_do_not_wait_for_each_other(desk: Desk) -> None:
    """A pause is told at once though an endpoint was told a minute ago; a test never waits."""
    desk.raise_all(alert(1))
    assert desk.run() == ["Title 1"]
    desk.raise_all(alert(2), alert(3, AlertKind.SENDING))
    assert desk.run() == ["Title 3"]
    for number in (4, 5):
        desk.raise_all(alert(number, None))
        assert desk.run() == [f"Title {number}"]
    assert desk.run(HOUR) == ["Title 2"]


@pytest.mark.parametrize("webhooks", [True, False])
def test_a_chat_gets_what_the_email_says(*, webhooks: bool) -> None:
    """Only a chat, if they want no email; none, if the operator switched webhooks off."""
    desk = Desk(webhooks=webhooks)
    desk.choose(mail=False, chat_url=URL)
    desk.raise_all(alert())
    assert desk.run() == []
    text = f"{builders.account().name}: Title 1\nText 1.\nMore.\nAbout 1"
    assert desk.posts == ([AlertPost(ACCOUNT, text)] if webhooks else [])


def test_an_account_that_is_gone_hears_nothing(desk: Desk) -> None:
    desk.raise_all(alert())
    desk.table.delete(keys.account(ACCOUNT))
    assert desk.run(HOUR) == []
    assert not [*desk.alert_times.due(desk.now)]


@pytest.mark.parametrize("fails", ["send_mail", "mark_told"])
def test_a_failure_doubles_no_email(desk: Desk, fails: str) -> None:
    """After an error between two owners, or before the alert is marked, each gets one email."""
    desk.raise_all(alert())
    error = ServiceError("service_unavailable", "planted")
    if fails == "send_mail":
        calls = iter([None, error])

        def fail_second(*given: Any, **more: Any) -> None:
            if planted := next(calls, None):
                raise planted
            desk.accept(*given, **more)

        desk.mail.side_effect = fail_second
        with pytest.raises(ServiceError):
            desk.run()
    else:
        with (
            mock.patch.object(desk.alert_store, "mark_told", side_effect=error),
            pytest.raises(ServiceError),
        ):
            desk.run()
    tried = desk.mail.call_count
    desk.run(4 * MINUTE)
    assert desk.mail.call_count == tried, "an account that failed waits for five minutes"
    desk.run(2 * MINUTE)
    ids = [call.kwargs["message_id"] for call in desk.mail.call_args_list]
    assert len({*ids}) == 2
    assert len(ids) == (3 if fails == "send_mail" else 2)


def test_one_account_that_fails_stops_no_other(desk: Desk) -> None:
    desk.raise_all(alert())
    desk.account_store.add(builders.account(account_id="zzzz"))
    desk.alerts.raise_alert("zzzz", alert())
    read = desk.alert_store.of_account

    def refuse(account_id: str) -> Any:
        if account_id == ACCOUNT:
            raise ValueError("unreadable")
        return read(account_id)

    with (
        mock.patch.object(desk.alert_store, "of_account", refuse),
        pytest.raises(ValueError, match="unreadable"),
    ):
        desk.run()
    assert desk.mail.call_count == 2


def test_a_post_that_fails_is_tried_three_times() -> None:
    """Its error is kept for the owners; the URL is the one that is set by then."""
    desk = Desk(answer=PostResult(status_code=404, body="no_service"))
    desk.choose(chat_url=URL)
    tasks = [AlertPost(ACCOUNT, "text")]
    outcomes = []
    for _ in range(TRIES):
        outcomes.append(desk.chat_posts.post(tasks[-1]))
        if desk.queue.tasks:
            ((_, delay),) = desk.queue.tasks
            assert delay == RETRY_AFTER
            tasks += desk.posts
            desk.queue.tasks.clear()
    assert outcomes == ["alert_retry", "alert_retry", "alert_failed"]
    assert desk.alert_store.chat_state(ACCOUNT) == ChatState(NOW, "404 no_service")
    desk.answer = PostResult(status_code=204)
    assert desk.chat_posts.post(tasks[0]) == "alert_posted"
    assert desk.alert_store.chat_state(ACCOUNT) == ChatState(NOW)
    assert desk.poster.post.call_args.args[0] == URL
    desk.choose()
    assert desk.chat_posts.post(tasks[0]) == "alert_unwanted"


def test_bodies_are_those_of_each_chat() -> None:
    """Slack and others get a text without marks of their own, and Teams a card."""
    assert json.loads(chat_body(URL, "a <!here> & b")) == {"text": "a &lt;!here&gt; &amp; b"}
    long = json.loads(chat_body(URL, "x" * (MAX_TEXT + 1)))["text"]
    assert (len(long), long[-1]) == (MAX_TEXT, "…")

    for host in (
        "prod-1.westeurope.logic.azure.com",
        "shop.webhook.office.com",
        "default1.a.environment.api.powerplatform.com",
    ):
        card = json.loads(chat_body(f"https://{host}/x", "one\ntwo"))
        content = card["attachments"][0]["content"]
        assert [line["text"] for line in content["body"]] == ["one", "two"]
    assert "text" in json.loads(chat_body("https://logic.azure.com.shop.example/x", "one"))


def quota_titles(
    used: dict[str, int], widget_secret: str | None = None, **limits: int | None
) -> list[str]:
    given = Limits(per_minute=60, per_day=limits.get("per_day"), per_month=limits.get("per_month"))
    limited = builders.account(plan=Plan.ENTERPRISE, widget_secret=widget_secret, overrides=given)
    raised: list[Alert] = []
    look = QuotaLook(
        lambda account: QuotaState(account.limits, used, NOW),  # type: ignore[arg-type]
        lambda _, one: raised.append(one),
    )
    look.look(limited)
    return [one.title for one in raised]


def test_owners_hear_of_a_quota_at_80_percent_and_at_its_end() -> None:
    """79 of 100 say nothing; without a limit nothing is read."""
    assert quota_titles({"day": 79}, per_day=100) == []
    assert quota_titles({"day": 80}, per_day=100) == ["The quota of emails of a day is 80 % used"]
    assert quota_titles({"month": 100}, per_month=100) == [
        "The quota of emails of a month is used up"
    ]
    assert quota_titles({"day": 10**9, "minute": 60}) == []
    assert quota_titles({"day": 100}, "secret", per_day=100) == [], "a visitor's"


def test_a_key_that_sends_nothing_for_90_days_is_told_each_90_days() -> None:
    key = builders.api_key("text", created_at=NOW - 400 * DAY)
    others = [
        replace(key, key_id="revoked", revoked_at=NOW),
        replace(key, key_id="reads", scopes=frozenset({"emails:read"})),
    ]
    desk, raised = Desk(), list[Alert]()
    at_six = NOW.replace(hour=6)

    def look(
        used_days: int | None,
        hour: int = 6,
        api_keys: tuple[ApiKey, ...] = (key, *others),
        visitor: Account | None = None,
    ) -> int:
        used_at = None if used_days is None else at_six - used_days * DAY
        uses = {one.key_id: used_at for one in api_keys if used_at}
        before = len(raised)
        UnusedKeysLook(
            ids_of=lambda _: [one.key_id for one in api_keys],
            last_uses=lambda _: uses,
            key_of=lambda _, key_id: next(one for one in api_keys if one.key_id == key_id),
            raise_alert=lambda _, one: raised.append(one),
            clock=lambda: at_six.replace(hour=hour),
        ).look(visitor or desk.account)
        return len(raised) - before

    told = [days for days in range(200) if look(days)]
    assert told == [90, 91, 180, 181]
    assert look(90, hour=7) == 0
    assert look(90, api_keys=()) == 0
    assert look(90, visitor=builders.account(widget_secret="secret")) == 0
    assert look(None) == 0
    assert [one.at for one in raised[:2]] == [at_six, at_six - DAY], "the same each day"


def from_key(key_id: str, seconds: int) -> Message:
    created = new_id(NOW + timedelta(seconds=seconds))
    return message(ACCOUNT, created, origin=MessageOrigin(key_id=key_id, for_owner=True))


def test_each_key_whose_emails_wait_raises_an_alert() -> None:
    """An alert has the link to the oldest email of its key; a later batch raises the same one."""
    first, second, other = from_key("k1", 0), from_key("k1", 9), from_key("k2", 5)
    alerts = held_alerts([second, other, first], "https://mail.example")
    assert {(one.name, one.url) for one in alerts} == {
        ("k1", f"https://mail.example/app/activity/{first.message_id}"),
        ("k2", f"https://mail.example/app/activity/{other.message_id}"),
    }
    (again,) = held_alerts([second], "https://mail.example")
    assert again.alert_id in {one.alert_id for one in alerts}
