"""Mail to people who have not agreed to get any: pauses, links, and what one party takes."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest

from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoStrangerMail
from pillarbox.application.delivery.ports import ProviderEvent
from pillarbox.application.ports import DomainVerdict
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.mail import SavedBody
from pillarbox.domain.messages.message import EventKind
from pillarbox.domain.sign_in.codes import CodeRequest
from pillarbox.domain.sign_in.preview_key import parse_report
from pillarbox.domain.sign_in.session import (
    SERVICE_ACCOUNT_ID,
    MemberPrincipal,
    Role,
    SessionPrincipal,
    new_session,
    new_user,
)
from pillarbox.domain.sign_in.sign_up import Newcomers, SignUpMode
from pillarbox.domain.sign_in.strangers import network_party
from tests.fakes.builders import ACCOUNT, NOW, account, event
from tests.fakes.container import Container
from tests.fakes.memory_tables import MemoryTable
from tests.fakes.stores import FakeJobs, Messages
from tests.fakes.world import World
from tests.refusals import refusal
from tests.unit.application.test_application_preview_keys import World as Widget

NEWCOMERS = 500

USER: Final = "ada@shop.example"
DAY: Final = timedelta(days=1)
TOMORROW: Final = datetime.combine(NOW.date() + DAY, time(), NOW.tzinfo)


class Strangers(World):
    """A world in which codes are mailed and members invited."""

    def __init__(self) -> None:
        super().__init__()
        self.service = service = Container(
            {"sign_up": "open"},
            clock=lambda: self.now,
            code_requests=_NoQueue(),
            jobs=FakeJobs(self.store),
            mail_domains=self.domains,
            message_store=Messages(self.store),
            stranger_mail=self.strangers,
        )
        self.code_mail, self.sign_in = service.code_mail, service.sign_in
        self.account_members = service.account_members
        self.users, self.previews = service.user_store, service.preview_accounts
        self.users.add(new_user(USER))
        session, _ = new_session(new_user("boss@shop.example"), "", self.now)
        self.boss = MemberPrincipal(
            session=session, operator=False, account=account(), role=Role.OWNER
        )

    def request(self, address: str, **changes: Any) -> bool:
        """Ask for a code, and let the worker send it."""
        number = len(self.store.messages)
        request = CodeRequest(
            flow_id=f"flow{number:08}", address=address, code="123456", at=self.now, **changes
        )
        return self.code_mail.send(request)

    def invite(self, address: str, role: Role = Role.VIEWER) -> None:
        self.account_members.invite(self.boss, address, role)

    def bounce(self, number: int = -1) -> bool:
        """Report a permanent bounce of a message, twice; return whether mail pauses."""
        message = [*self.store.messages.values()][number]
        bounced = event(EventKind.BOUNCED, 5, message.to[0])
        provider_event = ProviderEvent(
            account_id=message.account_id,
            message_id=message.message_id,
            at=bounced.at,
            events=(bounced,),
            suppress=((message.to[0], "bounced"),),
            provider_message_id="ses-1",
        )
        first, again = (self.record(provider_event)[0] for _ in range(2))
        assert first.strangers_paused == again.strangers_paused
        return first.strangers_paused

    @property
    def values(self) -> Mapping[str, Any]:
        """The values of the newest email."""
        mail = self.store.queue[-1].mail
        assert mail is not None
        assert isinstance(mail.body, SavedBody)
        return mail.body.values


class _NoQueue:
    def put(self, request: CodeRequest) -> None:
        """Forget the request."""


@pytest.fixture
def world() -> Strangers:
    return Strangers()


def bounce_until_paused(world: Strangers) -> int:
    """Let newcomers ask for codes that bounce; return how many were mailed."""
    for number in range(100):
        if not world.request(f"nobody{number}@gmail.example"):
            return number
        world.bounce()
    raise AssertionError("nothing pauses")


def test_bounces_stop_newcomers_at_the_twentieth(world: Strangers) -> None:
    """After 20 codes that bounced no newcomer gets one; visitors, guests and users do."""
    assert bounce_until_paused(world) == 20
    assert world.request("late@gmail.example", for_preview=True)
    world.invite("late@gmail.example")
    assert world.request(USER)


def test_whose_mail_bounces_loses_it_first(world: Strangers) -> None:
    """Two bounces of an account or a network pause it for two days, and nobody else."""
    others = replace(world.boss, account=replace(world.boss.account, account_id="o" * 12))
    for number in range(2):
        world.invite(f"nobody{number}@gmail.example")
        world.bounce()
    error = refusal(world.invite, "late@gmail.example")
    assert error.code == "rate_limit_exceeded"
    assert f"{TOMORROW + DAY:%Y-%m-%d} 00:00 UTC" in error.message
    world.account_members.invite(others, "late@gmail.example", Role.VIEWER)
    for audience in (False, True):
        for number in range(2):
            assert world.request(f"n{number}@gmail.example", party="bad", for_preview=audience)
            world.bounce()
        assert not world.request("later@gmail.example", party="bad", for_preview=audience)
        assert world.request("later@gmail.example", party="good", for_preview=audience)
    world.now = TOMORROW + DAY
    world.invite("late@gmail.example")


def test_many_of_many_pause_all_only_if_ses_is_endangered(world: Strangers) -> None:
    """20 bounces of a day of all strangers pause all of them at a twentieth of all mail."""
    for sent, paused in ((100_000, False), (30, True)):
        world.strangers = DynamoStrangerMail(MemoryTable("table"))
        world.sent_in_a_day = sent
        world.code_mail = replace(
            world.code_mail, strangers=replace(world.code_mail.strangers, records=world.strangers)
        )
        for number in range(25):
            world.request(f"{sent}n{number}@gmail.example", party=f"net{number // 2}")
            world.bounce()
        assert world.request("v@gmail.example", for_preview=True) is not paused
        world.now += 3 * DAY


def test_the_bounce_that_pauses_mail_to_strangers_is_told(world: Strangers) -> None:
    """The twentieth of 20 that bounced raises the alarm; a bounce of mail to a user never does."""
    told = []
    for number in range(20):
        world.request(f"nobody{number}@gmail.example")
        told.append(world.bounce())
    assert told == [False] * 19 + [True]
    world.request(USER)
    assert not world.bounce()


def test_good_mail_to_strangers_goes_on(world: Strangers) -> None:
    """One bounce of 40 pauses nothing, and bounces of mail to users do not count at all."""
    for number in range(40):
        assert world.request(f"new{number}@gmail.example")
    world.bounce()
    for _ in range(10):
        world.request(USER)
        world.bounce()
    assert world.request("late@gmail.example")
    assert sum(day.bounced for day in world.strangers.since("newcomers", NOW.date())) == 1


def test_a_tenants_tag_counts_no_bounce(world: Strangers) -> None:
    world.request("new@gmail.example")
    message = [*world.store.messages.values()][-1]
    forged = replace(message, account_id=account().account_id, message_id=UUID(int=9))
    world.store.messages[forged.account_id, forged.message_id] = forged
    world.bounce()
    assert not any(day.bounced for day in world.strangers.since("newcomers", NOW.date()))


def test_each_stranger_can_stop_such_mail(world: Strangers) -> None:
    """Codes for newcomers and preview keys and invitations have the link; users' codes do not."""
    closed = replace(world.service.sign_up_policy, domains=frozenset({"shop.example"}))
    refused = replace(world.code_mail, policy=closed)
    requests: dict[str, Callable[[], object]] = {
        "newcomer": lambda: world.request("a@gmail.example"),
        "preview key": lambda: world.request("b@gmail.example", for_preview=True),
        "invitation": lambda: world.invite("c@gmail.example"),
        "refusal": lambda: refused.send(
            CodeRequest(flow_id="f" * 12, address="d@gmail.example", code="1", at=world.now)
        ),
    }
    for name, ask in requests.items():
        ask()
        url, token = world.values["stop_url"].split("#")
        report = parse_report(token)
        assert url == "https://mail.example/widget/report", name
        assert report is not None
        assert report.account_id == SERVICE_ACCOUNT_ID
        assert report.mailbox == world.store.queue[-1].mail.to[0]  # type: ignore[union-attr]
        assert report.is_signed(world.service.proof_store.key().hex())
    world.request(USER)
    assert world.values["stop_url"] == ""


def test_a_stranger_uses_up_no_codes_of_who_stopped_mail(world: Strangers) -> None:
    """Three a day for a network, told in the answer, and three more from the user's own network."""
    world.previews.stop_mail(mailbox_key(USER), NOW)
    for client in ("198.51.100.1", "203.0.113.1"):
        for _ in range(3):
            world.sign_in.request_code(USER, client)
            world.now += timedelta(minutes=2)
        error = refusal(world.sign_in.request_code, USER, client)
        assert (error.code, "used up" in error.message) == ("rate_limit_exceeded", True)
    assert world.request(USER)
    for network in range(8):
        for _ in range(3):
            world.sign_in.request_code(USER, f"192.0.{network}.1")
            world.now += timedelta(minutes=7)
    assert refusal(world.sign_in.request_code, USER, "192.1.2.3").code == "rate_limit_exceeded"


def test_an_invited_user_joins_or_declines(world: Strangers) -> None:
    """Until then it is no member; afterwards there is no invitation; a stranger has none."""
    members = world.account_members
    for address in ("a@gmail.example", "b@gmail.example"):
        world.invite(address)
        world.advance(timedelta(seconds=1))
    first, second = (one for one in members.of_account(world.boss) if one.pending)
    joining, declining = (
        SessionPrincipal(
            session=replace(world.boss.session, user_id=one.user_id, address=one.address),
            operator=False,
        )
        for one in (first, second)
    )
    assert first.invited_by == "boss@shop.example"
    assert not members.accept(joining, ACCOUNT).pending
    world.advance(timedelta(seconds=1))
    members.decline(declining, ACCOUNT)
    assert [one.address for one in members.of_account(world.boss)] == ["a@gmail.example"]
    for principal in (joining, declining, world.boss):
        for answer in (members.accept, members.decline):
            assert refusal(answer, principal, ACCOUNT).code == "account_not_found"
    actions = [(one.action, one.by) for one in world.service.log(ACCOUNT)]
    assert actions == [
        ("member.invited", "boss@shop.example"),
        ("member.invited", "boss@shop.example"),
        ("member.joined", "a@gmail.example"),
        ("member.removed", "b@gmail.example"),
    ]


def test_newcomers_are_told_when_they_get_no_code(world: Strangers) -> None:
    """The answer names the end of a pause, of a full day, or none while sign-up is not public."""
    assert world.sign_in.newcomers() == Newcomers(admitted=True)
    invited = replace(
        world.sign_in, policy=replace(world.service.sign_up_policy, mode=SignUpMode.INVITED)
    )
    assert invited.newcomers() == Newcomers(admitted=False)
    for number in range(NEWCOMERS):
        assert world.code_mail._may_write(f"n{number}@gmail.example", "", is_welcome=True)
    assert world.sign_in.newcomers() == Newcomers(admitted=False, until=TOMORROW)
    world.now = TOMORROW
    assert world.sign_in.newcomers() == Newcomers(admitted=True)
    bounce_until_paused(world)
    assert world.sign_in.newcomers().until == TOMORROW + 2 * DAY


def test_a_domain_without_mail_costs_no_count(world: Strangers) -> None:
    """A stranger's address at such a domain gets nothing, and counts as nothing sent."""
    world.domains.verdicts["no.example"] = DomainVerdict.NO_MX
    assert not world.request("a@no.example")
    assert world.strangers.since("newcomers", NOW.date()) == []


_DOCS: Final = Path(__file__).parents[3] / "docs/security.md"

#: Tries the same as another party: its number, and that of the try. Returns whether it worked.
type _Try = Callable[[str, int], bool]


def _invite(world: Strangers, to: str = "n{}@gmail.example", *, sends: bool = True) -> _Try:
    def invite(party: str, number: int) -> bool:
        account = replace(world.boss.account, account_id=party)
        if not sends:
            account = replace(account, senders={})
        boss = replace(world.boss, account=account)
        try:
            world.account_members.invite(boss, to.format(f"{party}{number}"), Role.VIEWER)
        except ServiceError:
            return False
        return True

    return invite


def _bouncing(world: Strangers, attempt: _Try) -> _Try:
    """Let all that the party sent bounce at once, as late as bounces come, and try once more."""

    def bounce(party: str, number: int) -> bool:
        if number == 30:
            for each in range(len(world.store.messages)):
                world.bounce(each)
        return attempt(party, number)

    return bounce


def _code(world: Strangers, *, welcome: bool = True, preview: bool = False) -> _Try:
    if not welcome:
        policy = replace(world.service.sign_up_policy, domains=frozenset({"shop.example"}))
        world.code_mail = replace(world.code_mail, policy=policy)

    def ask(party: str, number: int) -> bool:
        before = len(world.store.messages)
        world.code_mail.send(
            CodeRequest(
                flow_id=f"{party}{number}",
                address=f"{party}{number}@gmail.example",
                code="123456",
                at=world.now,
                party=party,
                for_preview=preview,
            )
        )
        return len(world.store.messages) > before

    return ask


def _widget() -> _Try:
    widget = Widget()

    def ask(party: str, number: int) -> bool:
        client = "198.51.100.1" if party == "bad" else f"198.{18 + number // 250}.{number % 250}.1"
        if number % 20 == 0:
            widget.now += timedelta(hours=1) if party == "bad" and number < 400 else timedelta(0)
        digest = f"{party}{number}"
        try:
            widget.preview_keys._count_codes_of_day(digest, network_party(client))
        except ServiceError:
            return False
        return True

    return ask


def _user(world: Strangers) -> _Try:
    def ask(party: str, number: int) -> bool:
        client = "198.51.100.1" if party == "bad" else f"203.0.113.{number % 250}"
        try:
            world.sign_in.request_code("ada@shop.example", client)
        except ServiceError:
            return False
        return True

    return ask


def _unwilling(world: Strangers) -> _Try:
    world.previews.stop_mail("ada@shop.example", world.now)
    return _user(world)


def _one_address(world: Strangers) -> _Try:
    return _invite(world, "same@gmail.example")


#: By the start of the row: how to try it, how often the party does, and how many others there are.
_ROWS: Final[Mapping[str, tuple[Callable[[Strangers], _Try], int, int]]] = {
    "invitations that bounce": (lambda w: _bouncing(w, _invite(w)), 31, 30),
    "5 invitations a day": (lambda w: _invite(w, sends=False), 50, 50),
    "2 invitations of an address": (_one_address, 50, 1),
    "codes for newcomers that bounce": (lambda w: _bouncing(w, _code(w)), 31, 30),
    "codes for newcomers: 500": (_code, 500, 500),
    "notices that somebody": (lambda w: _code(w, welcome=False), 100, 100),
    "codes of the widget that bounce": (lambda w: _bouncing(w, _code(w, preview=True)), 31, 30),
    "codes of the widget: five": (lambda _: _widget(), 500, 500),
    "codes for who stopped mail": (_unwilling, 50, 3),
    "codes for one user": (_user, 50, 3),
}


@pytest.mark.slow
@pytest.mark.parametrize("limit", _ROWS)
def test_one_party_takes_a_tenth_at_most(limit: str) -> None:
    """A party that does all it can leaves others at least nine tenths, as the page says."""
    prepare, tries, others = _ROWS[limit]
    world = Strangers()
    attempt = prepare(world)
    done = [attempt("bad", number) for number in range(tries)]
    assert not all(done)  # the limit exists
    refused = sum(not attempt(f"good{number}", number) for number in range(others))
    (row,) = (line for line in _DOCS.read_text().splitlines() if line.startswith(f"| {limit}"))
    said = int(re.search(r"(\d+) % \|$", row)[1])  # type: ignore[index]
    assert said <= 10
    assert refused / others <= said / 100


def test_the_page_has_each_limit_once() -> None:
    _, _, page = _DOCS.read_text().partition("## Brakes")
    rows = [line for line in page.partition("## Logs")[0].splitlines() if line.endswith("% |")]
    assert len(rows) == len(_ROWS)
