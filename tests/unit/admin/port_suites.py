"""Tests for all implementations of the ports for accounts and templates.

The fakes and the adapters run them with a `records` fixture of their own.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from pillarbox.application.accounts.ports import (
    AccountChanges,
    AccountRecords,
    KeyRecords,
    SuppressionRecords,
)
from pillarbox.application.templates.ports import (
    DeleteResult,
    TemplateDrafts,
    TemplateRecords,
    TemplateVersions,
)
from pillarbox.application.templates.publication import content_of
from pillarbox.domain.accounts.account import Account, Plan, Suspension
from pillarbox.domain.accounts.account_log import AccountAction, LogEntry, SettingValue
from pillarbox.domain.accounts.brand import Brand
from pillarbox.domain.accounts.key import PRESET_SCOPES, ApiKey, KeyType, Preset
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.accounts.suppression import Suppression
from pillarbox.domain.ids import new_id
from pillarbox.domain.templates.draft import SourceKind, TemplateDraft, TemplateVersion
from pillarbox.domain.templates.template import SavedTemplate
from tests.unit.admin.fakes import ACCOUNT, NOW, OTHER_ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Mapping

SENDER, OTHER_SENDER = "Hello.There@shop.example", "orders@shop.example"
LATER = NOW + timedelta(minutes=5)


def account(account_id: str = ACCOUNT) -> Account:
    return Account(account_id=account_id, name="Shop", plan=Plan.FREE, created_at=NOW)


def limits(
    per_minute: int | None = None,
    per_day: int | None = None,
    per_month: int | None = None,
    recipients_per_day: int | None = None,
) -> Limits:
    return Limits(
        per_minute=per_minute,
        per_day=per_day,
        per_month=per_month,
        recipients_per_day=recipients_per_day,
    )


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


def version_of(saved: SavedTemplate) -> TemplateVersion:
    return TemplateVersion(
        account_id=saved.account_id,
        template_id=saved.template_id,
        version=saved.version,
        content=content_of(saved),
        html=saved.html,
        by="ada@shop.example",
        at=saved.updated_at,
    )


def draft(minutes: int = 0, account_id: str = ACCOUNT) -> TemplateDraft:
    saved = template(minutes, account_id)
    return TemplateDraft(
        account_id=account_id,
        template_id=saved.template_id,
        content=replace(content_of(saved), kind=SourceKind.MJML, source="<mjml>é</mjml>"),
        revision=1,
        by="ada@shop.example",
        at=NOW,
    )


def add(records: TemplateRecords, saved: SavedTemplate) -> None:
    assert records.publish(saved, version_of(saved), unless_changed_since=None)


def id_of(saved: SavedTemplate) -> UUID:
    return UUID(saved.template_id)


class AccountRecordsSuite:
    """Tests for `AccountRecords`."""

    def test_an_account_is_read_as_it_was_added(self, records: AccountRecords) -> None:
        """An added account is read as it was added, and an unknown id gives None."""
        full = replace(
            account(),
            overrides=limits(0, 20, 300, 40),
            senders={SENDER: True, OTHER_SENDER: False},
            default_sender=SENDER,
            hold_uncertain=True,
            contact=SENDER,
        )
        records.add(full)
        assert records.get(ACCOUNT) == full
        assert records.get(OTHER_ACCOUNT) is None

    def test_all_accounts_are_listed_by_id(self, records: AccountRecords) -> None:
        """More accounts than one batch of reads returns are listed, sorted by id."""
        ids = [f"acct{number:08}" for number in range(130)]
        for account_id in reversed(ids):
            records.add(account(account_id))
        assert [listed.account_id for listed in records.all()] == ids

    def test_accounts_are_read_page_by_page(self, records: AccountRecords) -> None:
        """Each page says which id follows; the last one says that none does."""
        ids = [f"acct{number:08}" for number in range(5)]
        for account_id in ids:
            records.add(account(account_id))
        pages, first = list[list[str]](), None
        while True:
            page, first = records.page(first, 2)
            pages.append([listed.account_id for listed in page])
            if first is None:
                break
        assert pages == [ids[:2], ids[2:4], ids[4:]]
        assert records.page(ids[3], 2)[1] is None
        assert records.page("b", 2) == ([], None)

    def test_a_change_is_logged_with_what_it_changes(self, records: AccountRecords) -> None:
        """Each change can bring an entry; the newest entries are read first, of one account."""
        records.add(account())
        actions: list[tuple[AccountAction, Mapping[str, tuple[SettingValue, SettingValue]]]] = [
            (AccountAction.CHANGED, {"plan": ("free", "standard"), "perDay": (None, 7)}),
            (AccountAction.CHANGED, {"shards": (1, 2)}),
            (AccountAction.SUSPENDED, {}),
            (AccountAction.RESUMED, {}),
        ]
        entries = [
            LogEntry(
                entry_id=str(new_id(NOW + timedelta(seconds=number))),
                at=NOW + timedelta(seconds=number),
                by="root@pillarbox.example",
                action=action,
                changes=changes,
                reason="bounces" if action is AccountAction.SUSPENDED else None,
            )
            for number, (action, changes) in enumerate(actions)
        ]
        plan, shards, suspended, resumed = entries
        wanted = AccountChanges(plan=Plan.STANDARD, limits=limits(per_day=7))
        changed = records.change(ACCOUNT, wanted, plan)
        assert changed == records.get(ACCOUNT) == wanted.applied_to(account())
        raised = records.raise_shards(ACCOUNT, 2, LATER, shards)
        assert raised is not None
        assert raised.shards == 2
        stopped = records.suspend(ACCOUNT, Suspension(NOW, "bounces"), suspended)
        assert stopped == replace(raised, suspension=Suspension(NOW, "bounces"))
        assert records.resume(ACCOUNT, resumed) == raised
        assert [*records.newest_entries(ACCOUNT, 9)] == entries[::-1]
        assert [*records.newest_entries(ACCOUNT, 2)] == [resumed, suspended]
        assert [*records.newest_entries(OTHER_ACCOUNT, 9)] == []

    def test_a_change_that_is_refused_is_not_logged(self, records: AccountRecords) -> None:
        """An account that does not exist, or has more shards, gets no entry."""
        entry = LogEntry(entry_id=str(new_id(NOW)), at=NOW, by="root", action=AccountAction.RESUMED)
        assert records.resume(OTHER_ACCOUNT, entry) is None
        assert records.suspend(OTHER_ACCOUNT, Suspension(NOW), entry) is None
        assert records.change(OTHER_ACCOUNT, AccountChanges(name="x"), entry) is None
        records.add(account())
        records.raise_shards(ACCOUNT, 4, LATER)
        assert records.raise_shards(ACCOUNT, 2, LATER, entry) is None
        assert [*records.newest_entries(OTHER_ACCOUNT, 9)] == []
        assert [*records.newest_entries(ACCOUNT, 9)] == []

    def test_a_change_writes_only_the_fields_it_names(self, records: AccountRecords) -> None:
        """Two changes of different fields both persist, and the senders stay unchanged."""
        records.add(account())
        records.put_sender(ACCOUNT, SENDER, verified=True, default=False)
        records.change(ACCOUNT, AccountChanges(plan=Plan.ENTERPRISE, limits=limits(per_day=0)))
        changed = records.change(
            ACCOUNT,
            AccountChanges(name="Store", limits=limits(7, None, None, 8), hold_uncertain=True),
        )
        assert changed == records.get(ACCOUNT)
        assert changed == replace(
            account(),
            name="Store",
            plan=Plan.ENTERPRISE,
            overrides=limits(7, 0, None, 8),
            senders={SENDER: True},
            default_sender=SENDER,
            hold_uncertain=True,
        )

    def test_own_limits_can_be_removed(self, records: AccountRecords) -> None:
        """With `plan_limits` only the limits of the same change remain."""
        records.add(replace(account(), overrides=limits(1, 2, 3, 4), hold_uncertain=True))
        one = records.change(ACCOUNT, AccountChanges(plan_limits=True, limits=limits(per_day=9)))
        assert one is not None
        assert one.overrides == limits(per_day=9)
        none = records.change(ACCOUNT, AccountChanges(plan_limits=True, hold_uncertain=False))
        assert none == account()

    def test_a_contact_is_set_and_removed(self, records: AccountRecords) -> None:
        """A contact stays through other changes, and an empty text removes it."""
        records.add(account())
        records.change(ACCOUNT, AccountChanges(contact=SENDER))
        assert records.change(ACCOUNT, AccountChanges(name="Store")) == replace(
            account(), name="Store", contact=SENDER
        )
        removed = records.change(ACCOUNT, AccountChanges(contact=""))
        assert removed == records.get(ACCOUNT) == replace(account(), name="Store")

    def test_a_suspension_keeps_its_time_until_it_ends(self, records: AccountRecords) -> None:
        """The first time stays, a new reason replaces the old one, and resuming removes both."""
        records.add(account())
        suspended = records.suspend(ACCOUNT, Suspension(NOW, "bounces"))
        assert suspended == replace(account(), suspension=Suspension(NOW, "bounces"))
        assert records.suspend(ACCOUNT, Suspension(LATER)) == suspended
        again = records.suspend(ACCOUNT, Suspension(LATER, "complaints"))
        assert again == replace(account(), suspension=Suspension(NOW, "complaints"))
        assert records.get(ACCOUNT) == again
        assert records.resume(ACCOUNT) == account()
        assert records.resume(ACCOUNT) == account()
        assert records.suspend(OTHER_ACCOUNT, Suspension(NOW)) is None
        assert records.resume(OTHER_ACCOUNT) is None

    def test_a_brand_is_changed_field_by_field(self, records: AccountRecords) -> None:
        """A change sets the fields of the brand that it names; an empty text removes one."""
        records.add(account())
        first = Brand(name="Acme", logo_url="https://acme.example/l.png", accent="#0a7d5a")
        assert records.change(ACCOUNT, AccountChanges(brand=first)) == replace(
            account(), brand=first
        )
        second = AccountChanges(name="Store", brand=Brand(logo_url="", from_name="Ann of Acme"))
        expected = Brand(name="Acme", accent="#0a7d5a", from_name="Ann of Acme")
        assert records.change(ACCOUNT, second) == replace(account(), name="Store", brand=expected)
        assert records.get(ACCOUNT) == replace(account(), name="Store", brand=expected)
        nothing = Brand(name="", logo_url="", accent="", from_name="")
        bare = records.change(ACCOUNT, AccountChanges(brand=nothing))
        assert bare == replace(account(), name="Store")

    def test_hashed_suppressions_are_noted(self, records: AccountRecords) -> None:
        """They are noted for an account that exists, and create none."""
        records.add(account())
        records.set_hashed_suppressions(ACCOUNT)
        records.set_hashed_suppressions(OTHER_ACCOUNT)
        assert [*records.all()] == [replace(account(), hashed_suppressions=True)]

    def test_shards_are_raised_and_never_lowered(self, records: AccountRecords) -> None:
        """The first raise sets the time; the number never falls, in any order of raises."""
        first, later = NOW + timedelta(hours=1), NOW + timedelta(hours=9)
        records.add(replace(account(), senders={SENDER: True}))
        raised = records.raise_shards(ACCOUNT, 4, first)
        assert raised == replace(account(), senders={SENDER: True}, shards=4, sharded_from=first)
        assert records.raise_shards(ACCOUNT, 2, later) is None
        assert records.get(ACCOUNT) == raised
        raised = records.raise_shards(ACCOUNT, 8, later)
        assert raised is not None
        assert (raised.shards, raised.sharded_from) == (8, first)
        assert records.get(ACCOUNT) == raised

    def test_a_change_creates_no_account(self, records: AccountRecords) -> None:
        """Changes to an account that does not exist write nothing."""
        assert records.change(ACCOUNT, AccountChanges(name="Store")) is None
        assert records.raise_shards(ACCOUNT, 2, NOW) is None
        assert records.put_sender(ACCOUNT, SENDER, verified=True, default=True) is None
        assert records.remove_sender(ACCOUNT, SENDER) is None
        assert records.set_default_sender(ACCOUNT, SENDER) is None
        assert records.get(ACCOUNT) is None

    def test_the_first_verified_sender_becomes_the_default(self, records: AccountRecords) -> None:
        """A pending sender never becomes the default; a later verified one only on request."""
        records.add(account())
        records.put_sender(ACCOUNT, SENDER, verified=False, default=False)
        assert _default(records) is None
        records.put_sender(ACCOUNT, SENDER, verified=True, default=False)
        assert _default(records) == SENDER
        records.put_sender(ACCOUNT, OTHER_SENDER, verified=True, default=False)
        assert _default(records) == SENDER
        records.put_sender(ACCOUNT, OTHER_SENDER, verified=True, default=True)
        assert _default(records) == OTHER_SENDER

    def test_only_a_verified_sender_can_become_the_default(self, records: AccountRecords) -> None:
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

    def test_removing_the_default_sender_leaves_none(self, records: AccountRecords) -> None:
        """Removing the default leaves none; removing another sender keeps the default."""
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
    current = records.get(ACCOUNT)
    assert current is not None
    return current.default_sender


class KeyRecordsSuite:
    """Tests for `KeyRecords`."""

    def test_keys_are_listed_by_account(self, records: KeyRecords) -> None:
        """More keys than one batch of reads returns are listed, without other accounts' keys."""
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

    def test_only_a_revoked_key_is_forgotten(self, records: KeyRecords) -> None:
        """It is in no list any more; a key that works stays, and a repetition changes nothing."""
        records.add(api_key(1))
        records.add(api_key(2))
        records.revoke(ACCOUNT, api_key(1).key_id, NOW)
        for number in (1, 2, 1):
            records.forget(api_key(number))
        assert [*records.of_account(ACCOUNT)] == [api_key(2)]

    def test_revoking_creates_no_key(self, records: KeyRecords) -> None:
        """An unknown id and another account's id give None."""
        records.add(api_key(1))
        assert records.revoke(ACCOUNT, api_key(2).key_id, NOW) is None
        assert records.revoke(OTHER_ACCOUNT, api_key(1).key_id, NOW) is None
        assert [*records.of_account(ACCOUNT)] == [api_key(1)]


class SuppressionRecordsSuite:
    """Tests for `SuppressionRecords`."""

    def test_the_first_suppression_stays(self, records: SuppressionRecords) -> None:
        """Suppressing an address again returns and keeps the first suppression."""
        first = Suppression(
            address="ann@example.com", reason="bounced", at=NOW, message_id=new_id(NOW)
        )
        again = Suppression(address="ann@example.com", reason="manual", at=LATER)
        assert records.add(ACCOUNT, first) == first
        assert records.add(ACCOUNT, again) == first
        assert [*records.of_account(ACCOUNT)] == [first]

    def test_suppressions_are_listed_by_address(self, records: SuppressionRecords) -> None:
        """Each account has its own list, sorted by address."""
        addresses = [f"{number:03}@example.com" for number in range(20)]
        for address in reversed(addresses):
            records.add(ACCOUNT, Suppression(address=address, reason="manual", at=NOW))
        assert [suppression.address for suppression in records.of_account(ACCOUNT)] == addresses
        assert [*records.of_account(OTHER_ACCOUNT)] == []

    def test_suppressions_are_read_in_pages(self, records: SuppressionRecords) -> None:
        """A page begins with an address, has so many at most, and only those with the start."""
        texts = ("abe@x.example", "ada@x.example", "adb@x.example", "bob@x.example")
        made = [Suppression(address=text, reason="manual", at=NOW) for text in texts]
        assert records.add_all(ACCOUNT, made) == made
        other = replace(made[0], reason="bounce")
        assert records.add_all(ACCOUNT, [other]) == [made[0]]
        assert records.page(ACCOUNT, "", None, 3) == made[:3]
        assert records.page(ACCOUNT, "ad", None, 9) == made[1:3]
        assert records.page(ACCOUNT, "ad", "adb@x.example", 9) == [made[2]]
        assert records.page(ACCOUNT, "ad", "zoe@x.example", 9) == []
        assert records.page(ACCOUNT, "b", "abe@x.example", 9) == [made[3]]

    def test_a_suppression_is_removed_once(self, records: SuppressionRecords) -> None:
        """Removing returns whether there was one, and keeps other accounts' suppressions."""
        suppression = Suppression(address="ann@example.com", reason="manual", at=NOW)
        records.add(ACCOUNT, suppression)
        records.add(OTHER_ACCOUNT, suppression)
        assert records.remove(ACCOUNT, "ann@example.com")
        assert not records.remove(ACCOUNT, "ann@example.com")
        assert [*records.of_account(ACCOUNT)] == []
        assert [*records.of_account(OTHER_ACCOUNT)] == [suppression]


class TemplateRecordsSuite:
    """Tests for `TemplateRecords`."""

    def test_a_version_is_published_once(self, records: TemplateRecords) -> None:
        """Of two templates with one version's number, only the first is written."""
        saved = template()
        add(records, saved)
        same = replace(saved, name="Second", updated_at=LATER)
        assert not records.publish(same, version_of(same), unless_changed_since=NOW)
        assert not records.publish(same, version_of(same), unless_changed_since=None)
        assert records.get(ACCOUNT, id_of(saved)) == saved

    def test_templates_are_listed_newest_first(self, records: TemplateRecords) -> None:
        """An account's templates are listed newest first, including internal copies."""
        saved = [template(0), replace(template(1), internal=True), template(2)]
        for added in [saved[1], saved[2], saved[0], template(3, OTHER_ACCOUNT)]:
            add(records, added)
        assert [*records.newest_first(ACCOUNT)] == saved[::-1]

    def test_a_template_belongs_to_its_account(self, records: TemplateRecords) -> None:
        """Another account's id reads nothing and deletes nothing."""
        saved = template()
        add(records, saved)
        assert records.get(ACCOUNT, id_of(saved)) == saved
        assert records.get(OTHER_ACCOUNT, id_of(saved)) is None
        assert records.delete(OTHER_ACCOUNT, id_of(saved)) is DeleteResult.ABSENT
        assert records.reference(OTHER_ACCOUNT, id_of(saved), "campaign-1") is None
        assert records.get(ACCOUNT, id_of(saved)) == saved

    def test_a_change_needs_the_current_version(self, records: TemplateRecords) -> None:
        """A change of an older version is refused, and a change keeps the references."""
        saved = template()
        add(records, saved)
        records.reference(ACCOUNT, id_of(saved), "campaign-1")
        first = replace(saved, name="First", variables=(), updated_at=LATER)
        first = replace(first, version=2)
        second = replace(saved, name="Second", version=3)
        assert records.publish(first, version_of(first), unless_changed_since=NOW)
        assert not records.publish(second, version_of(second), unless_changed_since=NOW)
        current = records.get(ACCOUNT, id_of(saved))
        assert current == replace(first, references=frozenset({"campaign-1"}))

    def test_a_change_creates_no_template(self, records: TemplateRecords) -> None:
        """Changes and references to a deleted template write nothing."""
        saved = template()
        add(records, saved)
        assert records.delete(ACCOUNT, id_of(saved)) is DeleteResult.DELETED
        later = replace(saved, version=2)
        assert not records.publish(later, version_of(later), unless_changed_since=NOW)
        assert records.reference(ACCOUNT, id_of(saved), "campaign-1") is None
        assert records.unreference(ACCOUNT, id_of(saved), "campaign-1") is None
        assert records.delete(ACCOUNT, id_of(saved)) is DeleteResult.ABSENT
        assert records.get(ACCOUNT, id_of(saved)) is None

    def test_a_template_with_references_is_not_deleted(self, records: TemplateRecords) -> None:
        """A template can be deleted after its last reference is removed; each one counts once."""
        saved = template()
        add(records, saved)
        for by in ("campaign-1", "campaign-1", "schedule-2"):
            records.reference(ACCOUNT, id_of(saved), by)
        assert records.delete(ACCOUNT, id_of(saved)) is DeleteResult.REFERENCED
        left = records.unreference(ACCOUNT, id_of(saved), "campaign-1")
        assert left == replace(saved, references=frozenset({"schedule-2"}))
        assert records.delete(ACCOUNT, id_of(saved)) is DeleteResult.REFERENCED
        assert records.unreference(ACCOUNT, id_of(saved), "schedule-2") == saved
        assert records.unreference(ACCOUNT, id_of(saved), "schedule-2") == saved
        assert records.delete(ACCOUNT, id_of(saved)) is DeleteResult.DELETED


@dataclass(frozen=True, slots=True)
class TemplateStores:
    """The stores of templates, which one transaction writes."""

    records: TemplateRecords
    drafts: TemplateDrafts
    versions: TemplateVersions


class TemplateDraftsSuite:
    """Tests for `TemplateDrafts` and `TemplateVersions`."""

    def test_a_draft_replaces_the_revision_that_it_names(self, stores: TemplateStores) -> None:
        """A draft is stored only in place of the revision that its author saw."""
        first = draft()
        second = replace(first, revision=2, samples={"ada": {"name": "Ada", "lines": [1, None]}})
        assert not stores.drafts.put(second, replaces=1)
        assert stores.drafts.put(first, replaces=0)
        assert stores.drafts.get(ACCOUNT, UUID(first.template_id)) == first
        assert not stores.drafts.put(second, replaces=0)
        assert stores.drafts.put(second, replaces=1)
        assert not stores.drafts.put(replace(second, by="bob@shop.example"), replaces=1)
        assert stores.drafts.get(ACCOUNT, UUID(first.template_id)) == second
        assert stores.drafts.get(OTHER_ACCOUNT, UUID(first.template_id)) is None

    def test_a_repeated_put_of_a_draft_succeeds(self, stores: TemplateStores) -> None:
        """A put whose response was lost can be repeated."""
        first = draft()
        assert stores.drafts.put(first, replaces=0)
        assert stores.drafts.put(first, replaces=0)

    def test_drafts_are_listed_by_their_templates(self, stores: TemplateStores) -> None:
        """An account's drafts are listed, those of the newest templates first."""
        drafts = [draft(minutes) for minutes in range(3)]
        for one in (drafts[1], drafts[2], drafts[0], draft(3, OTHER_ACCOUNT)):
            assert stores.drafts.put(one, replaces=0)
        assert [*stores.drafts.of_account(ACCOUNT)] == drafts[::-1]
        counts = [stores.drafts.count(one) for one in (ACCOUNT, OTHER_ACCOUNT, "acct00000003")]
        assert counts == [3, 1, 0]
        stores.drafts.delete(ACCOUNT, UUID(drafts[1].template_id))
        assert [*stores.drafts.of_account(ACCOUNT)] == [drafts[2], drafts[0]]

    def test_a_publication_marks_its_draft(self, stores: TemplateStores) -> None:
        """The template, its version and the mark of the draft are written together."""
        first = draft()
        saved = replace(template(), template_id=first.template_id)
        assert stores.drafts.put(first, replaces=0)
        assert stores.records.publish(
            saved, version_of(saved), unless_changed_since=None, draft=first
        )
        marked = replace(first, version=1, version_revision=1)
        assert stores.drafts.get(ACCOUNT, id_of(saved)) == marked
        assert not marked.changed
        assert stores.versions.get(ACCOUNT, id_of(saved), 1) == version_of(saved)

    def test_a_changed_draft_is_not_published(self, stores: TemplateStores) -> None:
        """If the draft has another revision, neither template nor version is written."""
        first = draft()
        saved = replace(template(), template_id=first.template_id)
        assert stores.drafts.put(first, replaces=0)
        other = replace(first, revision=2)
        assert not stores.records.publish(
            saved, version_of(saved), unless_changed_since=None, draft=other
        )
        assert stores.records.get(ACCOUNT, id_of(saved)) is None
        assert stores.versions.get(ACCOUNT, id_of(saved), 1) is None

    def test_versions_are_listed_newest_first(self, stores: TemplateStores) -> None:
        """Versions of a template are listed newest first, by pages, and deleted together."""
        saved, other = template(0), template(1)
        published = [replace(saved, version=number) for number in range(1, 13)]
        for one in (*published, other):
            before = one.updated_at if one.version > 1 else None
            assert stores.records.publish(one, version_of(one), unless_changed_since=before)
        versions = [*map(version_of, published)]
        template_id = id_of(saved)
        assert stores.versions.newest_first(ACCOUNT, template_id, 5) == versions[:-6:-1]
        assert stores.versions.newest_first(ACCOUNT, template_id, 5, 3) == versions[1::-1]
        assert stores.versions.newest_first(ACCOUNT, template_id, 5, 1) == []
        for _ in range(2):
            stores.versions.delete(ACCOUNT, template_id, 11)
        assert stores.versions.newest_first(ACCOUNT, template_id, 2) == [versions[11], versions[9]]
        stores.versions.delete_all(ACCOUNT, template_id)
        assert stores.versions.newest_first(ACCOUNT, template_id, 5) == []
        assert stores.versions.get(ACCOUNT, id_of(other), 1) == version_of(other)
