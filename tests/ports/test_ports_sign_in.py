"""The stores of signing in, on the table of credentials."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from pillarbox.adapters.dynamodb.records import account_item
from pillarbox.adapters.dynamodb.sign_in.codes import DynamoFlows, DynamoSignInCounts
from pillarbox.adapters.dynamodb.sign_in.passkeys import DynamoPasskeys
from pillarbox.adapters.dynamodb.sign_in.sign_ups import DynamoProofs, DynamoSignUps
from pillarbox.adapters.dynamodb.sign_in.users import DynamoMembers
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.sign_in.codes import new_flow
from pillarbox.domain.sign_in.passkey import Passkey
from pillarbox.domain.sign_in.session import (
    Member,
    Role,
    User,
)
from pillarbox.domain.sign_in.sign_up import CheckedProof, SignUpRequest, SignUpState
from tests.aws import Aws
from tests.fakes.builders import ACCOUNT, NOW, account, at

USER = User(user_id="u00000000001", address="Ada@shop.example")
MEMBER = Member(
    account_id=ACCOUNT,
    user_id=USER.user_id,
    address=USER.address,
    role=Role.AUTHOR,
    added_at=NOW,
    invited_by="u00000000002",
)
MINUTE = timedelta(minutes=1)
PASSKEY = Passkey(
    user_id=USER.user_id,
    address=USER.address,
    credential="AAAA",
    public_key="BBBB",
    sign_count=7,
    name="Phone",
    synced=False,
    created_at=NOW,
)
PENDING = SignUpRequest(
    user_id=USER.user_id, address=USER.address, state=SignUpState.PENDING, at=NOW, name="Acme"
)


@dataclass(frozen=True, kw_only=True)
class Stores:
    """The stores. The accounts have `ACCOUNT`."""

    members: DynamoMembers
    flows: DynamoFlows
    sign_ups: DynamoSignUps
    proofs: DynamoProofs
    passkeys: DynamoPasskeys


@pytest.fixture
def stores(aws: Aws) -> Stores:
    table, credentials = Table(aws.table), Table(aws.credentials)
    table.put(account_item(account()))
    return Stores(
        members=DynamoMembers(credentials),
        flows=DynamoFlows(credentials),
        sign_ups=DynamoSignUps(credentials, table),
        proofs=DynamoProofs(credentials),
        passkeys=DynamoPasskeys(credentials),
    )


def test_a_member_joins_and_changes_as_was_read(stores: Stores) -> None:
    """A role that has changed meanwhile stops it, and a member that has joined is not invited."""
    members, invited = stores.members, replace(MEMBER, pending=True)
    assert members.add(invited)
    viewer = replace(invited, role=Role.VIEWER)
    assert members.change(invited, Role.VIEWER, None) == viewer
    assert members.join(invited) is None
    joined = replace(viewer, pending=False)
    assert members.join(viewer) == joined
    assert members.join(viewer) is None
    assert not members.add(invited)
    # What was read before would end the membership again.
    assert members.change(viewer, Role.AUTHOR, None) is None
    assert members.of_account(ACCOUNT) == members.of_user(USER.user_id) == [joined]


def test_an_account_keeps_an_owner_who_has_joined(stores: Stores) -> None:
    """Of two that leave at once one stays, and one that has yet to agree is not the keeper."""
    second, leaving = (replace(MEMBER, user_id=f"u0000000000{n}", role=Role.OWNER) for n in (4, 3))
    stores.members.put(leaving)
    stores.members.put(replace(second, pending=True))
    assert stores.members.change(leaving, None, second) is None
    stores.members.put(replace(second, role=Role.VIEWER))
    assert stores.members.change(leaving, None, second) is None
    stores.members.put(second)
    assert stores.members.change(leaving, None, second) == leaving
    assert stores.members.of_account(ACCOUNT) == [second]


def test_a_passkey_is_used_as_it_was_read(stores: Stores) -> None:
    assert stores.passkeys.add(PASSKEY)
    with ThreadPoolExecutor(8) as pool:
        uses = [*pool.map(lambda _: stores.passkeys.use(PASSKEY, 8, at(1)), range(8))]
    assert uses.count(True) == 1
    used = replace(PASSKEY, sign_count=8, used_at=at(1))
    assert stores.passkeys.get(USER.user_id, PASSKEY.passkey_id) == used
    assert stores.passkeys.stop(used, at(2))
    assert not stores.passkeys.stop(used, at(3))
    assert not stores.passkeys.use(used, 9, at(3))
    stopped = replace(used, stopped_at=at(2))
    assert stores.passkeys.get(USER.user_id, PASSKEY.passkey_id) == stopped
    assert stores.passkeys.remove(USER.user_id, PASSKEY.passkey_id)
    assert not stores.passkeys.use(used, 9, at(3))
    assert not stores.passkeys.stop(used, at(3))
    assert stores.passkeys.get(USER.user_id, PASSKEY.passkey_id) is None


def test_a_flow_is_finished_once_beside_others(stores: Stores) -> None:
    """After a right code nothing is checked; the other flow of the address goes on."""
    first, old, _ = new_flow(USER.address, NOW)
    second, new, _ = new_flow(USER.address, NOW)
    stores.flows.put(old)
    stores.flows.put(new)
    assert stores.flows.attempt(first, 5, NOW) == old
    assert stores.flows.finish(new)
    assert not stores.flows.finish(new)
    assert stores.flows.attempt(second, 5, NOW) is None
    assert stores.flows.attempt(first, 5, NOW) == old
    assert stores.flows.finish(old)
    _, absent, _ = new_flow(USER.address, NOW)
    assert not stores.flows.finish(absent)


def test_parallel_requests_do_not_exceed_a_limit(aws: Aws) -> None:
    flows, counts = DynamoFlows(Table(aws.credentials)), DynamoSignInCounts(Table(aws.credentials))
    token, flow, _ = new_flow(USER.address, NOW)
    flows.put(flow)
    with ThreadPoolExecutor(8) as pool:
        tried = list(pool.map(lambda _: flows.attempt(token, 5, NOW), range(40)))
        counted = list(pool.map(lambda _: counts.count("a", MINUTE, 3, NOW), range(40)))
    assert len([one for one in tried if one]) == 5
    assert sum(counted) == 3
    assert [counts.is_full("a", MINUTE, most, NOW) for most in (3, 4)] == [True, False]
    assert not counts.is_full("a", MINUTE, 3, at(60))
    assert not counts.count("none", MINUTE, 0, NOW)


def test_a_sign_up_is_changed_by_who_has_read_it(stores: Stores) -> None:
    """A change on top of another state changes nothing; the list has each address once."""
    refused = replace(PENDING, state=SignUpState.REFUSED)
    assert stores.sign_ups.get(USER.address) is None
    assert not stores.sign_ups.put(refused, PENDING)
    assert stores.sign_ups.put(PENDING, None)
    assert not stores.sign_ups.put(refused, None)
    assert stores.sign_ups.get(USER.address.upper()) == PENDING
    assert stores.sign_ups.put(refused, PENDING)
    assert not stores.sign_ups.put(PENDING, PENDING)
    later = replace(refused, at=at(1))
    assert stores.sign_ups.put(later, refused)
    assert not stores.sign_ups.put(PENDING, refused)
    other = replace(PENDING, address="bob@shop.example", name=None)
    assert stores.sign_ups.put(other, None)
    assert stores.sign_ups.all() == [other, later]


def test_an_account_is_created_with_its_owner_or_not_at_all(stores: Stores) -> None:
    """The second creation of one sign-up leaves neither account nor member."""
    created = replace(PENDING, state=SignUpState.CREATED, account_id="acct00000007")
    new = replace(account(), account_id="acct00000007")
    owner = replace(MEMBER, account_id=new.account_id, role=Role.OWNER, invited_by=None)
    assert stores.sign_ups.create(created, None, new, owner)
    assert stores.members.of_account(new.account_id) == [owner]
    assert stores.members.of_user(USER.user_id) == [owner]
    second = replace(created, account_id="acct00000008")
    again = replace(owner, account_id="acct00000008")
    assert not stores.sign_ups.create(second, None, replace(new, account_id="acct00000008"), again)
    assert stores.members.of_account("acct00000008") == []
    assert stores.sign_ups.get(USER.address) == created


def test_a_proof_is_used_once(stores: Stores) -> None:
    """The key stays the same, and of several uses of one proof the first counts."""
    assert stores.proofs.key() == stores.proofs.key()
    proof = CheckedProof("5" * 64, at(1))
    with ThreadPoolExecutor(8) as pool:
        uses = [*pool.map(lambda _: stores.proofs.use(proof), range(8))]
    assert uses.count(True) == 1
    assert stores.proofs.use(CheckedProof("6" * 64, at(1)))


def test_processes_share_one_key(aws: Aws) -> None:
    """The first request creates it, and others that come at the same time get the same."""
    stores = [DynamoProofs(Table(aws.credentials)) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        created = {*pool.map(DynamoProofs.key, stores)}
    assert len(created) == 1
    assert len(created.pop()) == 32
