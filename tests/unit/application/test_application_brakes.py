"""What one party takes from all others by each limit that could stop them (docs/security.md)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.codes import CodeRequest
from pillarbox.domain.sign_in.session import Role
from pillarbox.domain.sign_in.strangers import network_party
from tests.unit.application.test_application_mail_to_strangers import Strangers
from tests.unit.application.test_application_preview_keys import World as Widget

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
