"""Signing up for an account: the routes, the emails, and attacks on them."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count
from typing import Final
from unittest import mock

import pytest

from pillarbox import wiring
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.session import parse_access_token
from pillarbox.domain.sign_in.sign_up import Proof
from pillarbox.wiring import services
from tests.contract.client import Api
from tests.contract.counting import naming
from tests.contract.service import Service, text_of
from tests.contract.sign_in import Browser, add_user
from tests.contract.sign_up import WRONG_PROOF, post, proof_for, sign_up, user_without_account

NEWCOMERS = 500
STRANGERS = 100

_numbers: Final = count(1)
_CODE_MAIL: Final = "pillarbox.application.sign_in.code_mail"


def new_address() -> str:
    return f"new{next(_numbers)}@fresh.example"


def test_a_new_user_creates_an_account(service: Service) -> None:
    """Address, code, name, proof: the next access token is the owner's of the new account."""
    address = new_address()
    with service.signing_up("open"):
        asked = Browser().request_code(address)
        (mail,) = service.mailed()
        assert mail["To"] == address
        code = re.search(r"\b\d{6}\b", text_of(mail))
        assert code
        browser = Browser()
        body = browser.sign_in(asked.json["flow"], code[0]).json
        assert (body["account"], body["accounts"]) == (None, [])
        api = Api(session=body["token"])
        offer = api.raw("GET", "/sign-up").json
        assert (offer["status"], offer["account"]) == ("available", None)
        created = sign_up(api)
        assert created.status == 201
        account = created.json["account"]
        assert created.json == {
            "status": "created",
            "challenge": None,
            "account": {"id": account["id"], "name": "Acme", "plan": "free"},
        }
        token = browser.token().json
        assert (token["account"], token["role"]) == (account, "owner")
        detail = Api(session=token["token"]).raw("GET", "/account")
        assert (detail.status, detail.json["name"]) == (200, "Acme")
        assert api.raw("GET", "/sign-up").json["status"] == "created"
        assert post(api, "Again", WRONG_PROOF).code == "sign_up_closed"
    assert account["id"] in set(services().accounts.records.all_ids())  # type: ignore[attr-defined]


def test_nobody_becomes_a_user_while_sign_up_is_closed(service: Service) -> None:
    address = new_address()
    add_user(address)
    api = user_without_account(service, address)
    closed = {"status": "closed", "challenge": None, "account": None}
    assert api.raw("GET", "/sign-up").json == closed
    refused = post(api, "Acme", WRONG_PROOF)
    assert (refused.status, refused.code) == (403, "sign_up_closed")
    stranger = new_address()
    flow = Browser().request_code(stranger).json["flow"]
    (queued,) = service.codes()
    assert Browser().sign_in(flow, queued.code).code == "invalid_code"
    assert services().team.users.get(stranger) is None


def test_a_stranger_is_told_once_a_day(service: Service) -> None:
    """Requests for codes, again and again, do not fill a mailbox with our answers."""
    address, now = new_address(), wiring.utc_now().replace(hour=1, minute=0)
    for day, hours, expected in ((0, 0, 1), (0, 5, 0), (0, 22, 0), (1, 0, 1)):
        moment = now + timedelta(days=day, hours=hours)
        with service.at(moment), service.signing_up("invited"):
            Browser().request_code(address)
            assert [mail["To"] for mail in service.mailed()] == [address] * expected


def test_strangers_get_a_hundred_emails_a_day_in_all(service: Service) -> None:
    """A list of addresses does not make the service a source of unwanted mail."""
    assert STRANGERS == 100
    later, limit = wiring.utc_now() + timedelta(days=40), mock.patch(f"{_CODE_MAIL}.STRANGERS", 10)
    with service.at(later), service.signing_up("invited"), limit:
        for number in range(12):
            Browser().request_code(new_address(), f"203.0.{number}.1")
        assert len(service.mailed()) == 10


@pytest.mark.parametrize("mode", ["approved", "open"])
def test_newcomers_get_five_hundred_codes_a_day_in_all(service: Service, mode: str) -> None:
    """The next one gets no email, and the answer does not tell; users get theirs as before."""
    known = new_address()
    add_user(known)
    assert NEWCOMERS == 500
    later = wiring.utc_now() + timedelta(days=60 if mode == "open" else 90)
    limit = mock.patch(f"{_CODE_MAIL}.NEWCOMERS", 1)
    with service.at(later), service.signing_up(mode), limit:
        welcome, late = new_address(), new_address()
        asked = [Browser().request_code(one).status for one in (welcome, late, known)]
        assert asked == [202, 202, 202]
        assert {mail["To"] for mail in service.mailed()} == {welcome, known}
        with service.at(later + timedelta(days=1)):
            Browser().request_code(late)
            assert [mail["To"] for mail in service.mailed()] == [late]


@pytest.mark.parametrize("mode", ["closed", "invited", "approved", "open"])
def test_nobody_learns_who_may_sign_up(service: Service, mode: str) -> None:
    """Known, welcome and unwelcome addresses: same calls to AWS and same bytes, in each mode."""
    known = new_address()
    add_user(known)
    seen: list[tuple[list[str], str]] = []
    with service.signing_up(mode, domains="fresh.example"):
        for asked in (known, new_address(), f"x{next(_numbers)}@else.example"):
            with naming() as calls:
                response = Browser().request_code(asked, f"198.51.{next(_numbers)}.9")
                wrong = Browser().sign_in(response.json["flow"], "000000")
            seen.append((calls, response.text.replace(response.json["flow"], "") + wrong.text))
    assert [code.address == known for code in service.codes()] == [True, False, False]
    assert "Invoke" in seen[0][0]
    assert seen[0] == seen[1] == seen[2]


def test_only_addresses_of_the_domains_sign_up(service: Service) -> None:
    """Another domain, and a name that merely ends like it, get no code and become no user."""
    with service.signing_up("open", domains="fresh.example, other.example"):
        for address in (f"a{next(_numbers)}@unfresh.example", "a@fresh.example.evil.example"):
            flow = Browser().request_code(address).json["flow"]
            (event,) = service.code_events
            assert event["code"] not in text_of(*service.mailed())
            assert Browser().sign_in(flow, event["code"]).code == "invalid_code"
            assert services().team.users.get(address) is None
        assert user_without_account(service, f"b{next(_numbers)}@FRESH.example")


def test_an_invited_user_creates_an_account(service: Service) -> None:
    """The link of the invitation signs in; others of the same stack are told that they cannot."""
    with service.signing_up("invited"):
        link = services().sign_up_approval.invite(new_address())
        body = Browser().post("", {"link": link}).json
        assert sign_up(Api(session=body["token"])).json["status"] == "created"
        other = new_address()
        add_user(other)
        assert post(user_without_account(service, other), "A", WRONG_PROOF).code == "sign_up_closed"


@pytest.mark.parametrize(
    "change",
    [
        {"number": -1},
        {"number": 500_001},
        {"number": 1.5},
        {"number": "1"},
        {"salt": "x" * 201},
        {"more": 1},
        {"algorithm": None},
    ],
)
def test_a_proof_of_another_shape_is_refused(service: Service, change: dict[str, object]) -> None:
    with service.signing_up("open"):
        api = user_without_account(service, new_address())
        refused = post(api, "Acme", WRONG_PROOF | change)
    assert refused.status == 422
    assert [name.partition(".")[0] for name in refused.errors] == ["proof"]


@pytest.mark.parametrize("different", [1, 20])
def test_of_parallel_sign_ups_one_creates_an_account(service: Service, different: int) -> None:
    with service.signing_up("open"):
        api = user_without_account(service, new_address())
        # One process handles one request at a time, but the use case may run in many processes.
        token = parse_access_token(api.session or "")
        principal = services().session_authentication.authenticate(token)
        proofs = [Proof(**proof_for(api)) for _ in range(different)]
        case = services().sign_up

        def ask(number: int) -> str:
            try:
                return case.create(principal, "Acme", proofs[number % different], "").status
            except ServiceError as error:
                return error.code

        with ThreadPoolExecutor(8) as pool:
            results = [*pool.map(ask, range(20))]
    assert results.count("created") == 1
    assert len(services().team.members.of_user(token.user_id)) == 1
