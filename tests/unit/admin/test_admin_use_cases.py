"""The use cases for accounts, keys, senders and suppressions, and their errors."""

from datetime import timedelta

import pytest

from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.application.accounts.senders import AccountSender
from pillarbox.domain.accounts.account import NO_BRAND, Brand, Plan
from pillarbox.domain.accounts.key import Preset
from pillarbox.domain.errors import ServiceError
from tests.fakes.builders import NOW
from tests.refusals import faults, refusal
from tests.unit.admin.use_cases import UseCases

# Accounts


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("", "too_short"),
        (" \u3000", "too_short"),
        ("x" * 129, "too_long"),
        ("a\nb", "control_character"),
        ("a\u202eb", "control_character"),
        ("a\udcffb", "control_character"),
    ],
)
def test_invalid_names_are_refused(use_cases: UseCases, name: str, code: str) -> None:
    assert faults(use_cases.accounts.create, name, Plan.FREE) == [("name", code)]
    assert [*use_cases.accounts.all()] == []
    account_id = use_cases.create_account()
    for attempt in (
        lambda: use_cases.accounts.update(account_id, AccountChanges(name=name)),
        lambda: use_cases.keys.issue_preview(account_id, name),
        lambda: use_cases.keys.issue_live(account_id, name, Preset.SEND),
    ):
        assert faults(attempt) == [("name", code)]
    assert [*use_cases.keys.of_account(account_id)] == []


def test_a_name_of_128_characters_is_accepted(use_cases: UseCases) -> None:
    assert use_cases.accounts.create("é" * 128, Plan.FREE).name == "é" * 128


@pytest.mark.parametrize(
    ("brand", "error"),
    [
        (Brand(name=" "), ("brandName", "too_short")),
        (Brand(name="x" * 129), ("brandName", "too_long")),
        (Brand(name="a\u202eb"), ("brandName", "control_character")),
        (Brand(from_name="a\r\nBcc: x@example.com"), ("fromName", "control_character")),
        (Brand(from_name="x" * 1025), ("fromName", "too_long")),
        (Brand(logo_url="http://a.example/l.png"), ("logoUrl", "invalid_url")),
        (Brand(logo_url="https://a.example/" + "x" * 2048), ("logoUrl", "too_long")),
        (Brand(accent="green"), ("accent", "invalid_colour")),
        (Brand(accent="#ffd500"), ("accent", "low_contrast")),
    ],
)
def test_an_invalid_brand_is_refused(
    account_id: str, use_cases: UseCases, brand: Brand, error: tuple[str, str]
) -> None:
    assert faults(use_cases.accounts.update, account_id, AccountChanges(brand=brand)) == [error]
    assert use_cases.accounts.get(account_id).brand == NO_BRAND


@pytest.mark.parametrize("shards", [0, -1, 3, 12, 257, 512])
def test_a_number_of_shards_is_a_power_of_two(
    account_id: str, use_cases: UseCases, shards: int
) -> None:
    before = use_cases.accounts.get(account_id)
    assert faults(use_cases.accounts.raise_shards, account_id, shards) == [
        ("shards", "out_of_range")
    ]
    assert use_cases.accounts.get(account_id) == before


def test_shards_are_used_from_a_full_hour_on(account_id: str, use_cases: UseCases) -> None:
    assert use_cases.accounts.raise_shards(account_id, 1).sharded_from is None
    raised = use_cases.accounts.raise_shards(account_id, 4)
    hour = NOW.replace(hour=16, minute=0, second=0, microsecond=0)
    assert raised.sharded_from == hour
    assert [raised.shards_at(hour - timedelta(milliseconds=1)), raised.shards_at(hour)] == [1, 4]
    raised = use_cases.accounts.raise_shards(account_id, 8)
    assert (raised.shards, raised.sharded_from) == (8, hour)
    assert use_cases.accounts.raise_shards(account_id, 8) == raised
    assert faults(use_cases.accounts.raise_shards, account_id, 4) == [("shards", "out_of_range")]


# Keys


def test_an_account_has_so_many_keys(use_cases: UseCases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pillarbox.application.accounts.keys.MAX_KEYS", 3)
    account_id = use_cases.create_account()
    issued = [use_cases.keys.issue_preview(account_id, str(n)) for n in range(3)]
    refused = refusal(use_cases.keys.issue_live, account_id, "web", Preset.SEND)
    shown = refused.code, refused.details
    assert shown == ("key_limit_exceeded", {"limit": 3})
    with pytest.raises(ServiceError, match="at most 3 keys"):
        use_cases.keys.issue_preview(account_id, "web")
    use_cases.keys.revoke(issued[1].record.key_id)
    assert use_cases.keys.issue_live(account_id, "web", Preset.SEND)


def test_the_last_revoked_keys_stay_in_the_list(
    use_cases: UseCases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pillarbox.application.accounts.keys.MAX_REVOKED_KEYS", 2)
    account_id = use_cases.create_account()
    ids = [use_cases.keys.issue_preview(account_id, str(n)).record.key_id for n in range(5)]
    for number in (4, 1, 3):
        use_cases.keys.revoke(ids[number])
    use_cases.keys.issue_preview(account_id, "new")
    names = [key.name for key in use_cases.keys.of_account(account_id)]
    assert names == ["0", "1", "2", "3", "new"]


# Senders


def test_ses_decides_whether_a_sender_is_verified(account_id: str, use_cases: UseCases) -> None:
    pending = use_cases.senders.add(account_id, "hello@shop.example", default=True)
    assert pending == AccountSender("hello@shop.example", verified=False, default=False)
    use_cases.identities.verified.add("hello@shop.example")
    verified = use_cases.senders.add(account_id, "hello@shop.example")
    assert verified == AccountSender("hello@shop.example", verified=True, default=True)
    unasked = use_cases.senders.add(account_id, "orders@shop.example", verified=True)
    assert unasked == AccountSender("orders@shop.example", verified=True, default=False)
    assert use_cases.identities.addresses == ["hello@shop.example"] * 2
    assert use_cases.senders.of_account(account_id) == (verified, unasked)
    assert use_cases.senders.add(
        account_id, "orders@shop.example", verified=True, default=True
    ).default


@pytest.mark.parametrize(
    "domain", ["p\u0430ypal.example", "xn--pypal-4ve.example", "\u03b1pple.example"]
)
def test_a_misleading_sender_domain_is_refused(use_cases: UseCases, domain: str) -> None:
    assert faults(
        use_cases.senders.add, use_cases.create_account(), f"hello@{domain}", verified=True
    ) == [("address", "mixed_scripts")]


@pytest.mark.parametrize(
    "domain", ["почта.example", "tokyo東京タワー.example", "kim김치.example", "xn--a.example"]
)
def test_scripts_that_may_be_mixed_are_accepted(use_cases: UseCases, domain: str) -> None:
    assert use_cases.senders.add(
        use_cases.create_account(), f"hello@{domain}", verified=True
    ).verified


def test_only_a_verified_sender_becomes_the_default(account_id: str, use_cases: UseCases) -> None:
    use_cases.senders.add(account_id, "hello@shop.example")
    refused = refusal(use_cases.senders.make_default, account_id, "hello@shop.example")
    assert refused.code == "no_verified_sender"
    for attempt in (use_cases.senders.make_default, use_cases.senders.remove):
        refused = refusal(attempt, account_id, "orders@shop.example")
        assert refused.code == "sender_not_found"
