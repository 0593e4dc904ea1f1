"""The stores of signing in: the fakes, and the adapters on the table of identities."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from pillarbox.adapters.dynamodb.records import account_item
from pillarbox.adapters.dynamodb.sessions import DynamoSessions
from pillarbox.adapters.dynamodb.sign_in import DynamoFlows, DynamoSignInCounts
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.dynamodb.users import DynamoMembers, DynamoUsers
from pillarbox.application.sign_in.ports import (
    Flows,
    Members,
    SessionResult,
    Sessions,
    SignInCounts,
    Users,
)
from pillarbox.domain.role import Role
from pillarbox.domain.session import Member, User, new_access, new_session, parse_access_token
from pillarbox.domain.sign_in import CODE_TIME, FlowToken, new_flow
from tests.aws import Aws
from tests.fakes.builders import ACCOUNT, NOW, account, at
from tests.fakes.sign_in import (
    FakeFlows,
    FakeMembers,
    FakeSessions,
    FakeSignInCounts,
    FakeUsers,
)

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


@dataclass(frozen=True, kw_only=True)
class Stores:
    """One implementation of the ports. The accounts have `ACCOUNT`."""

    users: Users
    members: Members
    sessions: Sessions
    flows: Flows
    counts: SignInCounts


@pytest.fixture(params=["fakes", "adapters"])
def stores(request: pytest.FixtureRequest) -> Stores:
    """Return the fakes, then the adapters."""
    if request.param == "fakes":
        members = FakeMembers()
        return Stores(
            users=FakeUsers(),
            members=members,
            sessions=FakeSessions(members, {ACCOUNT: account()}),
            flows=FakeFlows(),
            counts=FakeSignInCounts(),
        )
    aws: Aws = request.getfixturevalue("aws")
    table, identities = Table(aws.table), Table(aws.identities)
    table.put(account_item(account()))
    return Stores(
        users=DynamoUsers(identities),
        members=DynamoMembers(identities),
        sessions=DynamoSessions(identities, table),
        flows=DynamoFlows(identities),
        counts=DynamoSignInCounts(identities),
    )


def test_a_user_is_found_by_the_address_in_any_case(stores: Stores) -> None:
    """The first user of an address stays; another address has none."""
    assert stores.users.add(USER) == USER
    assert stores.users.add(replace(USER, user_id="u00000000009")) == USER
    assert stores.users.get("ADA@shop.example") == USER
    assert stores.users.get("bob@shop.example") is None
    operator = replace(USER, operator=True)
    assert stores.users.set_operator("ada@shop.example", operator=True) == operator
    assert stores.users.get(USER.address) == operator
    assert stores.users.set_operator("bob@shop.example", operator=True) is None


def test_a_member_is_found_by_account_and_by_user(stores: Stores) -> None:
    """The oldest comes first; a second role replaces the first; a removal removes both sides."""
    later = replace(MEMBER, account_id="acct00000002", added_at=at(5))
    for member in (later, MEMBER, replace(MEMBER, role=Role.OWNER)):
        stores.members.put(member)
    owner = replace(MEMBER, role=Role.OWNER)
    assert stores.members.of_user(USER.user_id) == [owner, later]
    assert stores.members.of_account(ACCOUNT) == [owner]
    assert stores.members.remove(ACCOUNT, USER.user_id)
    assert not stores.members.remove(ACCOUNT, USER.user_id)
    assert stores.members.of_user(USER.user_id) == [later]
    assert stores.members.of_account(ACCOUNT) == []


def test_one_read_has_all_that_a_token_needs(stores: Stores) -> None:
    """Session, token, member and account are found; each that is missing is None."""
    session, _ = new_session(USER, "Firefox", NOW)
    access, text = new_access(session, ACCOUNT, NOW, operator=True)
    token = parse_access_token(text)
    nothing = SessionResult(session=None, access=None, member=None, account=account())
    assert stores.sessions.look_up(token) == nothing
    stores.sessions.add(session)
    stores.sessions.add_access(access)
    stores.members.put(MEMBER)
    found = stores.sessions.look_up(token)
    assert (found.session, found.access, found.member) == (session, access, MEMBER)
    assert found.account == account()
    assert stores.sessions.look_up(replace(token, digest="0" * 64)).access is None
    other = stores.sessions.look_up(replace(token, session_id="0" * 12))
    assert (other.session, other.access) == (None, None)
    assert stores.sessions.remove(USER.user_id, session.session_id)
    assert stores.sessions.look_up(token).session is None


def test_an_ended_session_is_not_used_again(stores: Stores) -> None:
    """A use is stored while the session exists, and does not bring it back."""
    session, _ = new_session(USER, "Firefox", NOW)
    stores.sessions.add(session)
    used = replace(session, used_at=at(60))
    assert stores.sessions.touch(used)
    assert stores.sessions.get(USER.user_id, session.session_id) == used
    assert stores.sessions.remove(USER.user_id, session.session_id)
    assert not stores.sessions.remove(USER.user_id, session.session_id)
    assert not stores.sessions.touch(used)
    assert stores.sessions.get(USER.user_id, session.session_id) is None


def test_the_sessions_of_a_user_are_listed_and_removed(stores: Stores) -> None:
    """The newest comes first; access tokens and other users' sessions are no part of it."""
    sessions = [new_session(USER, "Firefox", at(n))[0] for n in range(3)]
    other, _ = new_session(replace(USER, user_id="u00000000009"), "Firefox", NOW)
    for session in (*sessions, other):
        stores.sessions.add(session)
        stores.sessions.add_access(new_access(session, ACCOUNT, NOW, operator=False)[0])
    assert stores.sessions.of_user(USER.user_id) == sessions[::-1]
    stores.sessions.remove_all(USER.user_id)
    assert stores.sessions.of_user(USER.user_id) == []
    assert stores.sessions.of_user(other.user_id) == [other]


def test_a_flow_has_so_many_attempts(stores: Stores) -> None:
    """An attempt with another secret, after the end or beyond the limit finds nothing."""
    token, flow, _ = new_flow(USER.address, NOW)
    stores.flows.put(flow)
    wrong = FlowToken(token.flow_id, token.user_digest, "0" * 32)
    assert stores.flows.attempt(wrong, 2, NOW) is None
    assert stores.flows.attempt(token, 2, NOW + CODE_TIME) is None
    tries = [stores.flows.attempt(token, 2, NOW) for _ in range(3)]
    assert tries == [flow, flow, None]


def test_a_flow_is_finished_once_and_replaced_by_the_next(stores: Stores) -> None:
    """After a right code nothing is checked; the flow that was replaced cannot be finished."""
    first, old, _ = new_flow(USER.address, NOW)
    second, new, _ = new_flow(USER.address, NOW)
    stores.flows.put(old)
    stores.flows.put(new)
    assert stores.flows.attempt(first, 5, NOW) is None
    assert not stores.flows.finish(old)
    assert stores.flows.finish(new)
    assert not stores.flows.finish(new)
    assert stores.flows.attempt(second, 5, NOW) is None


def test_a_link_is_redeemed_once(stores: Stores) -> None:
    """An absent, used or expired link has no address."""
    for digest in ("a", "b"):
        stores.flows.put_link(digest, USER.address, at(60))
    assert stores.flows.redeem_link("a", NOW) == USER.address
    assert stores.flows.redeem_link("a", NOW) is None
    assert stores.flows.redeem_link("b", at(60)) is None
    assert stores.flows.redeem_link("c", NOW) is None


def test_a_window_counts_up_to_its_limit(stores: Stores) -> None:
    """Each subject and each window counts alone; a refused request does not count."""
    counted = [stores.counts.count("a", MINUTE, 2, NOW) for _ in range(4)]
    assert counted == [True, True, False, False]
    assert stores.counts.count("b", MINUTE, 2, NOW)
    assert stores.counts.count("a", timedelta(hours=1), 2, NOW)
    assert stores.counts.count("a", MINUTE, 2, at(60))


def test_parallel_requests_do_not_exceed_a_limit(aws: Aws) -> None:
    """Of 40 parallel attempts 5 are made, and of 40 requests 3 are counted."""
    flows, counts = DynamoFlows(Table(aws.identities)), DynamoSignInCounts(Table(aws.identities))
    token, flow, _ = new_flow(USER.address, NOW)
    flows.put(flow)
    with ThreadPoolExecutor(8) as pool:
        tried = list(pool.map(lambda _: flows.attempt(token, 5, NOW), range(40)))
        counted = list(pool.map(lambda _: counts.count("a", MINUTE, 3, NOW), range(40)))
    assert len([one for one in tried if one]) == 5
    assert sum(counted) == 3
