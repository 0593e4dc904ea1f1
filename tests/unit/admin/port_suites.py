"""What every implementation of the ports of administration must do.

The fakes and the adapters each run these suites with a `records` fixture of their own.
"""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from pillarbox.application.accounts.ports import (
    AccountChanges,
    AccountRecords,
    KeyRecords,
    Suppression,
    SuppressionRecords,
)
from pillarbox.application.templates.ports import DeleteResult, TemplateRecords
from pillarbox.domain.account import Account, Plan
from pillarbox.domain.ids import new_id
from pillarbox.domain.key import PRESET_SCOPES, ApiKey, KeyType, Preset
from pillarbox.domain.quota import Limits
from pillarbox.domain.template import SavedTemplate
from tests.unit.admin.fakes import ACCOUNT, NOW, OTHER_ACCOUNT

SENDER, OTHER_SENDER = "Hello.There@shop.example", "orders@shop.example"
LATER = NOW + timedelta(minutes=5)


def account(account_id: str = ACCOUNT) -> Account:
    return Account(account_id=account_id, name="Shop", plan=Plan.FREE, created_at=NOW)


def limits(
    per_minute: int | None = None, per_day: int | None = None, per_month: int | None = None
) -> Limits:
    return Limits(per_minute=per_minute, per_day=per_day, per_month=per_month)


def api_key(number: int, account_id: str = ACCOUNT) -> ApiKey:
    return ApiKey(
        key_id=f"key_{account_id}{number:08}",
        account_id=account_id,
        name=f"key {number}",
        type=KeyType.LIVE,
        preset=Preset.SEND,
        scopes=PRESET_SCOPES[Preset.SEND],
        digest=f"{account_id}{number:08}",
        created_at=NOW,
    )


def template(minutes: int = 0, account_id: str = ACCOUNT) -> SavedTemplate:
    created = NOW + timedelta(minutes=minutes)
    return SavedTemplate(
        account_id=account_id,
        template_id=str(new_id(created)),
        name=f"Receipt {minutes}",
        subject="Your order {{ order }}",
        category="billing",
        html="<p>{{ order }}</p>",
        variables=("order",),
        required=("order",),
        internal=False,
        created_at=created,
        updated_at=created,
    )


def id_of(saved: SavedTemplate) -> UUID:
    return UUID(saved.template_id)


class AccountRecordsSuite:
    """`AccountRecords`."""

    def test_an_account_is_read_as_it_was_added(self, records: AccountRecords) -> None:
        """What is added can be read, and other ids give nothing."""
        full = replace(
            account(),
            overrides=limits(0, 20, 300),
            senders={SENDER: True, OTHER_SENDER: False},
            default_sender=SENDER,
            hold_uncertain=True,
        )
        records.add(full)
        assert records.get(ACCOUNT) == full
        assert records.get(OTHER_ACCOUNT) is None

    def test_all_accounts_are_listed_by_id(self, records: AccountRecords) -> None:
        """More accounts than one batch of reads takes are listed, in the order of their ids."""
        ids = [f"acct{number:08}" for number in range(130)]
        for account_id in reversed(ids):
            records.add(account(account_id))
        assert [found.account_id for found in records.all()] == ids

    def test_a_change_touches_what_it_names(self, records: AccountRecords) -> None:
        """Two changes of different fields both last, and leave the senders alone."""
        records.add(account())
        records.put_sender(ACCOUNT, SENDER, verified=True, default=False)
        records.change(ACCOUNT, AccountChanges(plan=Plan.ENTERPRISE, limits=limits(per_day=0)))
        changed = records.change(
            ACCOUNT, AccountChanges(name="Store", limits=limits(7), hold_uncertain=True)
        )
        assert changed == records.get(ACCOUNT)
        assert changed == replace(
            account(),
            name="Store",
            plan=Plan.ENTERPRISE,
            overrides=limits(7, 0),
            senders={SENDER: True},
            default_sender=SENDER,
            hold_uncertain=True,
        )

    def test_own_limits_can_be_dropped(self, records: AccountRecords) -> None:
        """With `plan_limits` only those limits stay that are given along."""
        records.add(replace(account(), overrides=limits(1, 2, 3), hold_uncertain=True))
        one = records.change(ACCOUNT, AccountChanges(plan_limits=True, limits=limits(per_day=9)))
        assert one is not None
        assert one.overrides == limits(per_day=9)
        none = records.change(ACCOUNT, AccountChanges(plan_limits=True, hold_uncertain=False))
        assert none == account()

    def test_an_absent_account_is_not_made_by_a_change(self, records: AccountRecords) -> None:
        """Changes to an account that is not there write nothing."""
        assert records.change(ACCOUNT, AccountChanges(name="Store")) is None
        assert records.put_sender(ACCOUNT, SENDER, verified=True, default=True) is None
        assert records.remove_sender(ACCOUNT, SENDER) is None
        assert records.set_default_sender(ACCOUNT, SENDER) is None
        assert records.get(ACCOUNT) is None

    def test_the_first_verified_sender_becomes_the_default(self, records: AccountRecords) -> None:
        """A pending sender never becomes the default; a later verified one only when told to."""
        records.add(account())
        records.put_sender(ACCOUNT, SENDER, verified=False, default=False)
        assert _default(records) is None
        records.put_sender(ACCOUNT, SENDER, verified=True, default=False)
        assert _default(records) == SENDER
        records.put_sender(ACCOUNT, OTHER_SENDER, verified=True, default=False)
        assert _default(records) == SENDER
        records.put_sender(ACCOUNT, OTHER_SENDER, verified=True, default=True)
        assert _default(records) == OTHER_SENDER

    def test_only_a_verified_sender_is_made_the_default(self, records: AccountRecords) -> None:
        """An unknown and a pending sender are refused, and the default stays."""
        records.add(account())
        records.put_sender(ACCOUNT, SENDER, verified=True, default=False)
        assert records.set_default_sender(ACCOUNT, OTHER_SENDER) is None
        records.put_sender(ACCOUNT, OTHER_SENDER, verified=False, default=False)
        assert records.set_default_sender(ACCOUNT, OTHER_SENDER) is None
        assert _default(records) == SENDER
        records.put_sender(ACCOUNT, OTHER_SENDER, verified=True, default=False)
        changed = records.set_default_sender(ACCOUNT, OTHER_SENDER)
        assert changed == records.get(ACCOUNT)
        assert _default(records) == OTHER_SENDER

    def test_a_removed_sender_is_no_default(self, records: AccountRecords) -> None:
        """Removing the default leaves none, removing another one leaves the default."""
        records.add(account())
        records.put_sender(ACCOUNT, SENDER, verified=True, default=False)
        records.put_sender(ACCOUNT, OTHER_SENDER, verified=True, default=False)
        left = records.remove_sender(ACCOUNT, OTHER_SENDER)
        assert left is not None
        assert (left.senders, left.default_sender) == ({SENDER: True}, SENDER)
        assert records.remove_sender(ACCOUNT, OTHER_SENDER) is None
        assert records.remove_sender(ACCOUNT, SENDER) == account()
        assert records.get(ACCOUNT) == account()


def _default(records: AccountRecords) -> str | None:
    found = records.get(ACCOUNT)
    assert found is not None
    return found.default_sender


class KeyRecordsSuite:
    """`KeyRecords`."""

    def test_keys_are_listed_by_account(self, records: KeyRecords) -> None:
        """More keys than one batch of reads takes are listed, and no other account's."""
        keys = [api_key(number) for number in range(120)]
        for key in [*keys, api_key(1, OTHER_ACCOUNT)]:
            records.add(key)
        assert sorted(records.of_account(ACCOUNT), key=lambda key: key.key_id) == keys
        assert [*records.of_account("acct00000003")] == []

    def test_the_first_revocation_stays(self, records: KeyRecords) -> None:
        """A key is revoked once; revoking it again does not change the time."""
        records.add(api_key(1))
        records.add(api_key(2))
        revoked = records.revoke(ACCOUNT, api_key(1).key_id, NOW)
        assert revoked == replace(api_key(1), revoked_at=NOW)
        assert records.revoke(ACCOUNT, api_key(1).key_id, LATER) == revoked
        listed = sorted(records.of_account(ACCOUNT), key=lambda key: key.key_id)
        assert listed == [revoked, api_key(2)]

    def test_an_absent_key_is_not_made_by_revoking(self, records: KeyRecords) -> None:
        """An unknown id gives nothing, nor does another account's."""
        records.add(api_key(1))
        assert records.revoke(ACCOUNT, api_key(2).key_id, NOW) is None
        assert records.revoke(OTHER_ACCOUNT, api_key(1).key_id, NOW) is None
        assert [*records.of_account(ACCOUNT)] == [api_key(1)]


class SuppressionRecordsSuite:
    """`SuppressionRecords`."""

    def test_the_first_suppression_stays(self, records: SuppressionRecords) -> None:
        """Suppressing an address again gives and keeps what is there."""
        first = Suppression(
            address="ann@example.com", reason="bounced", at=NOW, message_id=new_id(NOW)
        )
        again = Suppression(address="ann@example.com", reason="manual", at=LATER)
        assert records.add(ACCOUNT, first) == first
        assert records.add(ACCOUNT, again) == first
        assert [*records.of_account(ACCOUNT)] == [first]

    def test_suppressions_are_listed_by_address(self, records: SuppressionRecords) -> None:
        """Each account has its own list, in the order of the addresses."""
        addresses = [f"{number:03}@example.com" for number in range(20)]
        for address in reversed(addresses):
            records.add(ACCOUNT, Suppression(address=address, reason="manual", at=NOW))
        assert [found.address for found in records.of_account(ACCOUNT)] == addresses
        assert [*records.of_account(OTHER_ACCOUNT)] == []

    def test_a_suppression_is_lifted_once(self, records: SuppressionRecords) -> None:
        """Lifting tells whether there was one, and touches no other account's."""
        suppression = Suppression(address="ann@example.com", reason="manual", at=NOW)
        records.add(ACCOUNT, suppression)
        records.add(OTHER_ACCOUNT, suppression)
        assert records.remove(ACCOUNT, "ann@example.com")
        assert not records.remove(ACCOUNT, "ann@example.com")
        assert [*records.of_account(ACCOUNT)] == []
        assert [*records.of_account(OTHER_ACCOUNT)] == [suppression]


class TemplateRecordsSuite:
    """`TemplateRecords`."""

    def test_templates_are_listed_newest_first(self, records: TemplateRecords) -> None:
        """An account's templates come newest first, the internal ones too."""
        saved = [template(0), replace(template(1), internal=True), template(2)]
        for each in [saved[1], saved[2], saved[0], template(3, OTHER_ACCOUNT)]:
            records.add(each)
        assert [*records.newest_first(ACCOUNT)] == saved[::-1]

    def test_a_template_belongs_to_its_account(self, records: TemplateRecords) -> None:
        """Another account's id gives nothing and deletes nothing."""
        saved = template()
        records.add(saved)
        assert records.get(ACCOUNT, id_of(saved)) == saved
        assert records.get(OTHER_ACCOUNT, id_of(saved)) is None
        assert records.delete(OTHER_ACCOUNT, id_of(saved)) is DeleteResult.ABSENT
        assert records.reference(OTHER_ACCOUNT, id_of(saved), "campaign-1") is None
        assert records.get(ACCOUNT, id_of(saved)) == saved

    def test_a_change_is_written_over_what_it_was_made_from(self, records: TemplateRecords) -> None:
        """A change made from an older version is refused; references stay through changes."""
        saved = template()
        records.add(saved)
        records.reference(ACCOUNT, id_of(saved), "campaign-1")
        first = replace(saved, name="First", variables=(), updated_at=LATER)
        assert records.replace(first, unless_changed_since=NOW)
        assert not records.replace(replace(saved, name="Second"), unless_changed_since=NOW)
        kept = records.get(ACCOUNT, id_of(saved))
        assert kept == replace(first, references=frozenset({"campaign-1"}))

    def test_an_absent_template_is_not_made_by_a_change(self, records: TemplateRecords) -> None:
        """Changes and references to a template that is gone write nothing."""
        saved = template()
        records.add(saved)
        assert records.delete(ACCOUNT, id_of(saved)) is DeleteResult.DELETED
        assert not records.replace(saved, unless_changed_since=NOW)
        assert records.reference(ACCOUNT, id_of(saved), "campaign-1") is None
        assert records.unreference(ACCOUNT, id_of(saved), "campaign-1") is None
        assert records.delete(ACCOUNT, id_of(saved)) is DeleteResult.ABSENT
        assert records.get(ACCOUNT, id_of(saved)) is None

    def test_a_reference_holds_the_deletion_back(self, records: TemplateRecords) -> None:
        """A template goes when the last reference is gone; a reference counts once."""
        saved = template()
        records.add(saved)
        for by in ("campaign-1", "campaign-1", "schedule-2"):
            records.reference(ACCOUNT, id_of(saved), by)
        assert records.delete(ACCOUNT, id_of(saved)) is DeleteResult.REFERENCED
        left = records.unreference(ACCOUNT, id_of(saved), "campaign-1")
        assert left == replace(saved, references=frozenset({"schedule-2"}))
        assert records.delete(ACCOUNT, id_of(saved)) is DeleteResult.REFERENCED
        assert records.unreference(ACCOUNT, id_of(saved), "schedule-2") == saved
        assert records.unreference(ACCOUNT, id_of(saved), "schedule-2") == saved
        assert records.delete(ACCOUNT, id_of(saved)) is DeleteResult.DELETED
