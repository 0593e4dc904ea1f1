"""Passkeys: what adds one, what signs in, and what neither does, with a software authenticator."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, Final
from unittest import mock

import pytest
import webauthn

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.sign_in.passkeys import DynamoPasskeys
from pillarbox.adapters.dynamodb.sign_in.users import DynamoSessions
from pillarbox.adapters.passkeys import LambdaPasskeyNotices, read_notice
from pillarbox.application.sign_in.session_start import IssuedSession
from pillarbox.domain.errors import ServiceError, Unavailable, ValidationFailed
from pillarbox.domain.sign_in.passkey import (
    NewPasskeyAnswer,
    Passkey,
    PasskeyAnswer,
    PasskeyNotice,
    site_of,
)
from pillarbox.domain.sign_in.session import (
    Member,
    Role,
    SessionPrincipal,
    SignInMethod,
    User,
    new_session,
    new_user,
    user_digest,
)
from pillarbox.http.sign_in.passkeys import NewPasskeyChallengeItem, PasskeyChallengeItem
from tests.fakes.authenticator import (
    CAN_BE_SYNCED,
    PRESENT,
    SYNCED,
    VERIFIED,
    Authenticator,
    encode,
)
from tests.fakes.builders import ACCOUNT, NOW, account
from tests.fakes.container import BASE, Container

assert webauthn  # loaded before the first test, which would pay for it
ADA: Final = "ada@shop.example"
MINUTE: Final = timedelta(minutes=1)


class World(Container):
    """Users, one of them with an account, and the passkeys that they add."""

    def __init__(self, base: str = BASE, **settings: str) -> None:
        super().__init__(settings, code_requests=self)
        self.notices: list[PasskeyNotice] = []
        self.service_address.store(base)
        self.account_store.add(account())

    def invoke(self, event: Mapping[str, Any]) -> None:
        """Take a notice, as the function does."""
        self.notices.append(read_notice(event))

    def actions(self) -> list[str]:
        """Return what the log of the account has."""
        return sorted(one.action for one in self.log(ACCOUNT))

    def user(self, address: str = ADA, *, operator: bool = False) -> User:
        user = self.user_store.add(new_user(address))
        if operator:
            self.user_store.set_operator(address, operator=True)
        member = Member(
            account_id=ACCOUNT,
            user_id=user.user_id,
            address=address,
            role=Role.OWNER,
            added_at=NOW,
        )
        self.member_store.put(member)
        return replace(user, operator=operator)

    def caller(
        self, user: User, method: SignInMethod = SignInMethod.CODE, passkey: str | None = None
    ) -> SessionPrincipal:
        session, _ = new_session(user, "Firefox", self.now, method, passkey)
        self.session_store.add(session)
        return SessionPrincipal(session=session, operator=False)

    def authenticator(self, **changes: Any) -> Authenticator:
        site = self.passkeys.challenge().site
        return Authenticator(**({"origin": site.origin, "rp_id": site.rp_id} | changes))

    def add(
        self, caller: SessionPrincipal, device: Authenticator, name: str = "Phone", **changed: str
    ) -> Passkey:
        answer = device.create(NewPasskeyChallengeItem.of(self.passkeys.challenge_new(caller)))
        flow, *texts = (answer | changed).values()
        return self.passkeys.add(caller, flow, NewPasskeyAnswer(*texts), name)

    def sign_in_with(
        self, device: Authenticator, client: str = "192.0.2.1", **changed: str
    ) -> IssuedSession:
        begun = PasskeyChallengeItem.of(self.passkeys.challenge())
        return self.answer(device.get(begun), client, **changed)

    def answer(
        self, answer: dict[str, str], client: str = "192.0.2.1", **changed: str
    ) -> IssuedSession:
        flow, *texts = (answer | changed).values()
        return self.passkeys.sign_in(flow, PasskeyAnswer(*texts), client, "Firefox")


@pytest.fixture
def world() -> World:
    return World()


def refused[**P](call: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> str:
    try:
        call(*args, **kwargs)
    except ValidationFailed as error:
        (only,) = error.errors
        return f"{only.field}: {only.code}"
    except ServiceError as error:
        return error.code
    return ""


def test_an_answer_signs_in_once_and_soon(world: World) -> None:
    """A second use, a flow of another answer, or five minutes later: the session is refused."""
    device = world.authenticator()
    world.add(world.caller(world.user()), device)
    first, second = (device.get(PasskeyChallengeItem.of(world.passkeys.challenge())) for _ in "ab")
    assert refused(world.answer, first | {"flow": second["flow"]}) == "invalid_passkey"
    world.answer(first)
    assert refused(world.answer, first) == "invalid_passkey"
    late, too_late = (PasskeyChallengeItem.of(world.passkeys.challenge()) for _ in "ab")
    world.now += timedelta(seconds=299)
    world.answer(device.get(late))
    world.now += timedelta(seconds=1)
    assert refused(world.answer, device.get(too_late)) == "invalid_passkey"


@pytest.mark.parametrize(
    "changes",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://mail.example"},
        {"rp_id": "example"},
        {"rp_id": "evil.example"},
        {"flags": PRESENT},
        {"flags": VERIFIED},
        {"cross_origin": True},
    ],
    ids=str,
)
def test_what_is_of_another_page_or_person_is_refused(
    world: World, changes: dict[str, Any]
) -> None:
    """Another origin or name, a user who was not verified, a page in a frame: neither way works."""
    caller, device = world.caller(world.user()), world.authenticator()
    assert refused(world.add, caller, world.authenticator(**changes)) == ("flow: invalid_passkey")
    world.add(caller, device)
    for name, value in changes.items():
        setattr(device, name, value)
    assert refused(world.sign_in_with, device) == "invalid_passkey"


def test_a_changed_answer_is_refused(world: World) -> None:
    """Each part of an answer counts: those of another passkey, and what is no base64, are wrong."""
    ada, bob = world.user(), world.user("bob@shop.example")
    devices = [world.authenticator() for _ in "ab"]
    for user, device in zip((ada, bob), devices, strict=True):
        world.add(world.caller(user), device)
    first, second = devices
    strange = second.get(PasskeyChallengeItem.of(world.passkeys.challenge()))
    for name in ("credentialId", "clientData", "authenticatorData", "signature", "userHandle"):
        for text in (strange[name], "", "AAAA", "é", "%", "A" * 1_000, first.user_handle[:-1]):
            if name == "authenticatorData" and text == strange[name]:
                continue  # it is the same for all that do not count
            world.now += 60 * MINUTE
            got = refused(world.sign_in_with, first, **{name: text})
            assert got == "invalid_passkey", (name, text)
    world.sign_in_with(first)


def test_a_flow_of_a_new_passkey_is_of_its_session(world: World) -> None:
    user, device = world.user(), world.authenticator()
    caller, other = world.caller(user), world.caller(user)
    begun = NewPasskeyChallengeItem.of(world.passkeys.challenge_new(caller))
    flow, *texts = device.create(begun).values()
    answer = NewPasskeyAnswer(*texts)
    assert refused(world.passkeys.add, other, flow, answer, "x") == "flow: invalid_passkey"
    assert refused(world.passkeys.add, caller, flow, answer, " ") == "name: too_short"
    world.passkeys.add(caller, flow, answer, "Phone")
    assert refused(world.passkeys.add, caller, flow, answer, "x") == "flow: invalid_passkey"
    assert refused(world.add, caller, device) == "flow: invalid_passkey"  # added already
    assert refused(world.answer, device.get(begun)) == "invalid_passkey"
    assert len(world.passkeys.of_user(caller)) == 1


def test_a_flow_makes_one_passkey_of_the_credential_that_it_names(world: World) -> None:
    """A second authenticator cannot answer it too, and no answer is stored under another id."""
    caller, strange = world.caller(world.user()), world.authenticator()
    begun = NewPasskeyChallengeItem.of(world.passkeys.challenge_new(caller))
    named = {"credentialId": encode(strange.credential)}
    refusal = refused(world.add, caller, world.authenticator(), **named)
    assert refusal == "flow: invalid_passkey"
    codes = []
    for _ in range(2):
        flow, *texts = world.authenticator().create(begun).values()
        codes.append(refused(world.passkeys.add, caller, flow, NewPasskeyAnswer(*texts), "Phone"))
    assert codes == ["", "flow: invalid_passkey"]


def test_wrong_answers_for_new_passkeys_are_limited(world: World) -> None:
    """Reading one is dear, so a user gets so many in an hour."""
    caller, other = world.caller(world.user()), world.caller(world.user("bob@shop.example"))
    answer = NewPasskeyAnswer("AAAA", "AAAA", "AAAA")
    for _ in range(60):
        refusal = refused(world.passkeys.add, caller, "x", answer, "Phone")
        assert refusal == "flow: invalid_passkey"
    assert refused(world.add, caller, world.authenticator()) == "rate_limit_exceeded"
    world.add(other, world.authenticator())


def test_only_accounts_that_the_user_has_joined_hear_of_a_passkey(world: World) -> None:
    user = world.user()
    invited = Member(
        account_id="acct00000002",
        user_id=user.user_id,
        address=ADA,
        role=Role.OWNER,
        added_at=NOW,
        pending=True,
    )
    world.member_store.put(invited)
    world.add(world.caller(user), world.authenticator())
    assert len(world.actions()) == 1


def test_a_new_user_of_the_address_has_none_of_the_passkeys(world: World) -> None:
    device = world.authenticator()
    world.add(world.caller(world.user()), device)
    world.credentials.delete(keys.user(user_digest(ADA)))
    world.user()
    assert refused(world.sign_in_with, device) == "invalid_passkey"


def test_a_copy_of_a_passkey_stops_it(world: World) -> None:
    """The count of one that counts must rise. A copy stops both, and ends what they began."""
    user = world.user()
    device = world.authenticator(counts=True)
    world.add(world.caller(user), device)
    world.sign_in_with(device)
    copy = replace(device)
    world.sign_in_with(device)
    assert len(world.session_store.of_user(user.user_id)) == 3
    assert refused(world.sign_in_with, copy) == "invalid_passkey"
    assert len(world.session_store.of_user(user.user_id)) == 1
    assert refused(world.sign_in_with, device) == "invalid_passkey"
    (stopped,) = world.passkeys.of_user(world.caller(user))
    assert stopped.stopped_at == NOW
    assert [one.change for one in world.notices] == ["added", "stopped"]
    assert world.actions() == ["passkey.added", "passkey.stopped"]


def test_a_synced_passkey_need_not_count(world: World) -> None:
    """It signs in again and again with the count 0, and the list says that it is synced."""
    device = world.authenticator(flags=PRESENT | VERIFIED | CAN_BE_SYNCED | SYNCED)
    assert world.add(world.caller(world.user()), device).synced
    for _ in range(3):
        world.sign_in_with(device)


@pytest.mark.parametrize("change", ["added", "removed", "stopped"])
def test_no_passkey_changes_without_an_email(world: World, change: str) -> None:
    caller, device = world.caller(world.user()), world.authenticator(counts=True)
    passkey, copy = world.add(caller, device), replace(device)
    world.sign_in_with(device)
    before = world.passkeys.of_user(caller)
    attempts: dict[str, Callable[[], object]] = {
        "added": lambda: world.add(caller, world.authenticator()),
        "removed": lambda: world.passkeys.remove(caller, passkey.passkey_id),
        "stopped": lambda: world.sign_in_with(copy),
    }
    with mock.patch.object(LambdaPasskeyNotices, "put", side_effect=Unavailable("queue")):
        assert refused(attempts[change]) == "service_unavailable"
    assert world.passkeys.of_user(caller) == before


def test_the_log_has_no_change_that_was_refused(world: World) -> None:
    caller, device = world.caller(world.user()), world.authenticator()
    passkey = world.add(caller, device)
    assert refused(world.add, caller, device) == "flow: invalid_passkey"
    with mock.patch.object(DynamoPasskeys, "remove", return_value=False):  # another one was faster
        assert refused(world.passkeys.remove, caller, passkey.passkey_id) == "passkey_not_found"
    assert world.actions() == ["passkey.added"]


@pytest.mark.parametrize("removes", [True, False])
def test_the_next_try_ends_the_sessions_that_one_left(world: World, *, removes: bool) -> None:
    """Otherwise a thief of the device stays signed in."""
    caller, device = world.caller(world.user()), world.authenticator(counts=True)
    passkey, copy = world.add(caller, device), replace(device)
    world.sign_in_with(device)
    remove = partial(world.passkeys.remove, caller, passkey.passkey_id)
    attempt: Callable[[], object] = remove if removes else partial(world.sign_in_with, copy)
    with mock.patch.object(DynamoSessions, "remove", side_effect=Unavailable("data store")):
        assert refused(attempt) == "service_unavailable"
    assert refused(world.sign_in_with, device) == "invalid_passkey"
    refused(attempt)
    assert [*world.session_store.of_user(caller.session.user_id)] == [caller.session]
    assert bool(world.passkeys.of_user(caller)) != removes


def test_nobody_removes_the_passkey_of_another(world: World) -> None:
    added = world.add(world.caller(world.user()), world.authenticator())
    other = world.caller(world.user("bob@shop.example"))
    assert refused(world.passkeys.remove, other, added.passkey_id) == "passkey_not_found"


def test_signing_out_everywhere_ends_begun_flows_and_keeps_passkeys(world: World) -> None:
    """An answer to a challenge from before is refused; the passkey signs in afterwards."""
    device = world.authenticator()
    world.add(world.caller(world.user()), device)
    before = device.get(PasskeyChallengeItem.of(world.passkeys.challenge()))
    world.now += MINUTE
    world.user_store.end_proofs(ADA, world.now)
    assert refused(world.answer, before) == "invalid_passkey"
    world.now += MINUTE
    world.sign_in_with(device)


def test_members_need_no_passkey_where_operators_do() -> None:
    world = World(operator_passkeys="required")
    user = world.user()
    caller = world.caller(user)
    assert not world.session_start.issue(caller.session, user, None).passkey_needed
    world.add(caller, world.authenticator())


def test_attempts_are_limited_by_network_and_by_user(world: World) -> None:
    """A network tries so often, and a user is tried so often; nobody else pays for it."""
    user, other = world.user(), world.user("bob@shop.example")
    device, friend = world.authenticator(), world.authenticator()
    world.add(world.caller(user), device)
    world.add(world.caller(other), friend)
    for _ in range(20):
        assert refused(world.sign_in_with, friend, credentialId="AAAA") == "invalid_passkey"
    with mock.patch.object(DynamoPasskeys, "get") as read:
        assert refused(world.sign_in_with, friend) == "rate_limit_exceeded"
    assert not read.called
    world.sign_in_with(friend, "198.51.100.7")
    for network in range(3):
        client = f"203.0.{network}.1"
        for _ in range(20):
            assert refused(world.sign_in_with, device, client, signature="AA") == "invalid_passkey"
        world.now += MINUTE
        assert refused(world.sign_in_with, device, client) == "rate_limit_exceeded"
    assert refused(world.sign_in_with, device, "198.51.100.9") == "rate_limit_exceeded"
    world.sign_in_with(friend, "198.51.100.9")


def test_a_network_tries_200_times_an_hour(world: World) -> None:
    device, start = world.authenticator(), NOW.replace(minute=0, second=0)
    world.add(world.caller(world.user()), device)
    answers = []
    for minute in (*range(10), 59, 60):
        world.now = start + minute * MINUTE
        tries = {refused(world.sign_in_with, device, credentialId="AAAA") for _ in range(20)}
        answers.append(tries)
    assert answers == [*[{"invalid_passkey"}] * 10, {"rate_limit_exceeded"}, {"invalid_passkey"}]


@pytest.mark.parametrize(
    ("base", "site"),
    [
        ("https://mail.example", ("mail.example", "https://mail.example")),
        ("https://mail.example:8443", ("mail.example", "https://mail.example:8443")),
        ("http://127.0.0.1:3000", ("localhost", "http://localhost:3000")),
    ],
)
def test_the_site_follows_the_services_own_address(base: str, site: tuple[str, str]) -> None:
    """Browsers know no passkeys for an IP address, so this machine is `localhost`."""
    assert site_of(base) == site
    world = World(base=base)
    assert world.passkeys.challenge().site == site
