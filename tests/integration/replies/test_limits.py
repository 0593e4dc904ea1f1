"""What a day allows, how long mail is kept, and what is left of it after that."""

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.application import receiving
from pillarbox.domain.accounts.account import Suspension
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.replies import ReceivedMail
from pillarbox.wiring import services, utc_now
from tests.aws import Aws, shared_client
from tests.fakes.builders import ACCOUNT, account
from tests.integration.replies.mail import (
    DOMAIN,
    answer,
    notify,
    received,
    store,
    token,
)

SUPPORT = f"support@{DOMAIN}"


@dataclass
class Rules:
    calls: list[str] = field(default_factory=list)
    alerts: Counter[tuple[str, object]] = field(default_factory=Counter)

    def switch(self, domain: str, *, on: bool) -> None:
        self.calls.append(f"{'resume' if on else 'stop'} {domain}")

    def put(self, domain: str) -> None:
        raise NotImplementedError

    def remove(self, domain: str) -> None:
        self.calls.append(f"remove {domain}")


@pytest.fixture
def rules() -> Rules:
    rules, it = Rules(), services()
    limit = replace(
        it.receiving_limit,
        rules=rules,
        raise_alert=lambda _, alert: rules.alerts.update([(alert.name, alert.at)]),
    )
    it.receiving = replace(it.receiving, limit=limit)
    it.receiving_limit = limit
    return rules


def send(
    number: int, sender: str = "ada@customer.example", receipts: int = 1, spf: bytes = b"pass"
) -> bool:
    """Store a mail and tell of it; return whether it was recorded."""
    before = len(received())
    octets = answer(SUPPORT).replace(b"<ada@customer.example>", f"<{sender}>".encode())
    octets = octets.replace(b" spf=pass", b" spf=" + spf)
    notify(store(octets, f"received/{DOMAIN}/{number}"), receipts=receipts)
    assert not objects(f"received/{DOMAIN}/{number}")
    return len(received()) > before


def objects(prefix: str) -> list[str]:
    listed = shared_client("s3").list_objects_v2(Bucket="pillarbox-spool", Prefix=prefix)
    return [one["Key"] for one in listed.get("Contents", ())]


def used(limits: dict[int, int]) -> None:
    """Let so much of each limit be used, of any sender."""

    def count(_subject: str, window: timedelta, most: int, _now: object) -> bool:
        assert window == timedelta(days=1)
        limits[most] = limits.get(most, 0) + 1
        return limits[most] <= most

    services().receiving = replace(services().receiving, count=count)


@pytest.mark.parametrize("most", [200, 2_000, 10_000])
def test_a_limit_has_two_sides(rules: Rules, most: int) -> None:
    """200 mails of a sender, 2,000 of a domain, and 10,000 of an account are recorded in a day."""
    used({most: most - 1})
    assert send(1)
    assert not send(2)
    assert bool(rules.calls) is (most == 10_000)


def test_a_flood_from_one_sender_leaves_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "MAX_OF_SENDER", 2)
    monkeypatch.setattr(receiving, "MAX_OF_DOMAIN", 3)
    flood = [send(number, "Ada@customer.example") for number in range(4)]
    assert flood == [True, True, False, False]
    assert send(8, "ada@customer.example", spf=b"softfail")
    assert send(5, "bob@customer.example")
    assert not send(6, "cleo@customer.example")
    assert send(7, "dora@other.example")


def test_a_mail_is_counted_at_its_first_receipt_alone() -> None:
    """An outage, in which each mail comes back often, uses up nothing."""
    used({200: 200, 2_000: 2_000, 10_000: 10_000})
    assert not send(1)
    assert send(2, receipts=2)


def test_a_full_account_stops_its_rule_until_the_next_day(rules: Rules) -> None:
    """SES is asked ten times at most, owners get one alert, and what resumes it is stored first."""
    used({10_000: 10_000})
    assert not any(send(number) for number in range(15))
    assert rules.calls == [f"stop {DOMAIN}"] * 10
    assert len(rules.alerts) == 1
    limit, owner = services().receiving_limit, replace(account(), reply_domain=DOMAIN)
    limit.look(owner)
    assert rules.calls[10:] == []
    tomorrow = utc_now() + timedelta(days=1)
    for _ in range(2):
        replace(limit, clock=lambda: tomorrow).look(owner)
    assert rules.calls[10:] == [f"resume {DOMAIN}"]


def test_a_rule_that_cannot_be_stopped_is_tried_again(
    rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    used({10_000: 10_000})
    switch = Rules.switch

    def fail(_self: Rules, _domain: str, *, on: bool) -> None:
        monkeypatch.setattr(Rules, "switch", switch)
        raise ServiceError("service_unavailable", f"no switch {on}")

    monkeypatch.setattr(Rules, "switch", fail)
    key = store(answer(SUPPORT), f"received/{DOMAIN}/1")
    assert notify(key)["batchItemFailures"]
    assert not send(2)
    assert rules.calls == [f"stop {DOMAIN}"]
    assert send(1, receipts=2)


@pytest.mark.parametrize("ends", [True, False])
def test_what_changes_in_the_instant_of_a_limit_stays(
    rules: Rules, monkeypatch: pytest.MonkeyPatch, *, ends: bool
) -> None:
    """An older look, stop or change of names undoes neither an end nor a newer stop."""
    it, now = services(), utc_now()
    domains, read = it.receiving_domains, it.receiving_domains.get(DOMAIN)
    assert read is not None
    assert domains.stop(read, now.date() - timedelta(days=1))

    def change(*_: object, **__: object) -> None:
        if ends:
            domains.end(DOMAIN, ACCOUNT, now + timedelta(days=14))
        else:
            domains.stop(read, now.date())

    monkeypatch.setattr(Rules, "switch", change)
    it.receiving_limit.look(replace(account(), reply_domain=DOMAIN))
    if ends:
        it.receiving_limit.stop(read, 1)
    else:
        domains.put(read)
    stopped_on = None if ends else now.date()
    assert domains.get(DOMAIN) == replace(read, ended=ends, stopped_on=stopped_on)
    assert not rules.alerts


def test_a_received_mail_is_no_send() -> None:
    assert send(1)
    assert services().table.get(keys.quota(ACCOUNT)) is None


def kept(days: int) -> ReceivedMail:
    changed = replace(account(), reply_domain=DOMAIN, received_days=days)
    services().receiving = replace(services().receiving, account_of=lambda _: changed)
    send(1)
    (mail,) = received()
    return mail


@pytest.mark.parametrize(("days", "in_bucket"), [(7, 7), (8, 30), (30, 30)])
def test_what_an_account_keeps_ends(days: int, in_bucket: int) -> None:
    """The objects have a rule of the bucket, the API a clock, and the record the table's TTL.

    The record stays as long as the objects, since an erasure finds them by it.
    """
    mail = kept(days)
    assert {key.split("/")[1] for key in objects("answers/")} == {str(in_bucket)}
    until = mail.received_at + timedelta(days=days)
    item = services().table.get(keys.received(ACCOUNT, mail.received_id))
    assert item is not None
    expires_after = item["expires_at"] - mail.received_at.timestamp()
    assert 0 <= expires_after - (in_bucket + 1) * 86_400 <= 1
    reading = services().received_reading
    for now, is_there in ((until - timedelta(seconds=1), True), (until, False)):
        late = replace(reading, clock=lambda now=now: now)
        assert bool(late.find(ACCOUNT, mail.received_id)) is is_there
        assert bool(late.page(ACCOUNT, 10, None, None).items) is is_there


def test_a_deleted_account_leaves_no_mail(aws: Aws, rules: Rules) -> None:
    notify(store(answer(f"r.{token()}@{DOMAIN}")))
    assert send(2)
    assert len(objects("answers/")) == 4
    it = services()
    it.account_store.suspend(ACCOUNT, Suspension(utc_now() - timedelta(hours=1)))
    deletion = replace(it.account_deletion, end_receiving=rules.remove)
    until = utc_now() + timedelta(minutes=1)
    assert deletion.delete(ACCOUNT, drop_pending=True, until=until).done
    for table in (aws.table, aws.credentials):
        items = shared_client("dynamodb").scan(TableName=table)["Items"]
        assert not [item for item in items if item["pk"]["S"].startswith(("RECD", "MSG"))]
        assert "customer.example" not in str(items)
    assert objects("") == []
    assert rules.calls == [f"remove {DOMAIN}"]
    assert not notify(store(answer(f"r.{token()}@{DOMAIN}")))["batchItemFailures"]
    assert objects("") == []


@pytest.mark.parametrize("age", [0, 1, 3])
def test_a_new_key_of_tokens_waits_until_all_know_it(age: int) -> None:
    """Two keys count. A key that replaced an old one makes tokens after two hours, not before.

    What receives makes none, and learns of the first one at once.
    """
    it = services()
    made = utc_now()
    later = made + timedelta(days=181)
    reader = type(it.reply_keys)(it.credentials, lambda: made)
    assert reader.all() == ()
    known = type(reader)(it.credentials, lambda: made).for_new_tokens()
    assert reader.all() == [known]
    assert type(reader)(it.credentials, lambda: later).all() == [known]
    assert type(reader)(it.credentials, lambda: later).for_new_tokens() == known
    now = later + timedelta(hours=age)
    first, second = type(reader)(it.credentials, lambda: now).all()
    assert (first == known) is (age < 2)
    assert known in {first, second}
