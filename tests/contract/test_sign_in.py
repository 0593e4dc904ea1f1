"""Signing in to the dashboard with a one-time code or a link."""

import re
from datetime import timedelta
from itertools import count
from typing import Final

import pytest

from pillarbox import wiring
from pillarbox.domain.sign_in.codes import parse_flow
from pillarbox.domain.sign_in.session import Role
from pillarbox.wiring import services
from tests.contract.client import Api
from tests.contract.service import APP_URL, Service, text_of
from tests.contract.sign_in import Browser, signed_in

_numbers: Final = count(1)
_COOKIE: Final = re.compile(
    r"__Host-pillarbox=[0-9a-z]{56}; Max-Age=2592000; Path=/; Secure; HttpOnly; SameSite=Strict"
)


def test_a_code_signs_in(service: Service, address: str) -> None:
    """Address, code, session: the body has an access token, the header a cookie."""
    account, browser = service.account(), Browser()
    services().team.add_member(account, address, Role.AUTHOR)
    asked = browser.request_code(address.upper())
    assert (asked.status, asked.json["newcomers"]) == (202, {"admitted": False, "until": None})
    (queued,) = service.codes()
    response = browser.sign_in(asked.json["flow"], queued.code)
    assert response.status == 200
    assert _COOKIE.fullmatch(response.headers["set-cookie"])
    body = response.json
    assert re.fullmatch("pbs_[0-9a-z]{68}", body.pop("token"))
    user = services().team.users.get(address)
    assert user
    assert body == {
        "expiresIn": 900,
        "user": {
            "id": user.user_id,
            "email": address,
            "operator": False,
            "passkeyNeeded": False,
        },
        "account": {"id": account, "name": "Test", "plan": "standard"},
        "role": "author",
        "accounts": [{"id": account, "name": "Test", "role": "author"}],
        "invitations": [],
    }


def test_the_email_has_code_and_link_and_the_service_sends_it(
    service: Service, address: str
) -> None:
    """The subject has no code. The link has the public part of the flow, so it signs nobody in."""
    flow = Browser().request_code(address).json["flow"]
    assert service.mail_codes() == [{"code_accepted": 1}]
    (mail,) = service.mailed()
    text = text_of(mail)
    code = re.search(r"\b\d{6}\b", text)
    assert code
    assert mail["To"] == address
    assert code[0] not in str(mail["Subject"])
    link = f"{APP_URL}/app/sign-in#{flow.partition('.')[0]}.{code[0]}"
    assert link in text
    assert flow.rpartition(".")[2] not in text
    assert Browser().sign_in(flow, code[0]).status == 200


def test_a_code_that_is_delivered_twice_is_sent_once(service: Service, address: str) -> None:
    """Lambda may invoke again with the same event: the second time nothing is sent."""
    Browser().request_code(address)
    (event,) = service.code_events
    assert [service.mail_code(event)["code_accepted"] for _ in range(2)] == [1, 0]
    service.code_events.clear()
    assert len(service.mailed()) == 1


def test_an_unknown_address_gets_no_code_and_no_session(service: Service) -> None:
    """While sign-up is not closed, an email without the code says that this address has none."""
    with service.signing_up("invited"):
        asked = Browser().request_code(f"nobody{next(_numbers)}@shop.example")
        (event,) = service.code_events
        assert service.mail_codes() == [{"code_accepted": 0}]
    (mail,) = service.mailed()
    text = text_of(mail)
    assert mail["To"] == event["address"]
    assert "It belongs to no account here" in text
    assert event["code"] not in str(mail)
    assert "/app/sign-in" not in text
    assert f"{APP_URL}/widget/report#" in text
    response = Browser().sign_in(asked.json["flow"], event["code"])
    assert (response.status, response.code) == (401, "invalid_code")


@pytest.mark.parametrize(
    ("mode", "domain", "expected"),
    [("closed", "shop.example", 0), ("open", "nomx.example", 0), ("open", "shop.example", 1)],
)
def test_strangers_get_no_email_that_may_bounce(
    service: Service, mode: str, domain: str, expected: int
) -> None:
    """While sign-up is closed they get none, and never one if their domain accepts no mail."""
    address = f"nobody{next(_numbers)}@{domain}"
    with service.signing_up(mode):
        assert Browser().request_code(address).status == 202
        assert len(service.mailed()) == expected


def test_a_code_works_only_in_the_browser_that_asked(service: Service, address: str) -> None:
    """With another secret the right code is refused, and it takes no attempt."""
    flow = Browser().request_code(address).json["flow"]
    (queued,) = service.codes()
    token = parse_flow(flow)
    for other in (f"{token.flow_id}.{token.user_digest}.{'0' * 32}", "x", flow[:-1]):
        for _ in range(6):
            assert Browser().sign_in(other, queued.code).code == "invalid_code"
    assert Browser().sign_in(flow, queued.code).status == 200


def test_a_code_expires_after_ten_minutes(service: Service, address: str) -> None:
    now = wiring.utc_now()
    with service.at(now):
        flows = [Browser().request_code(address).json["flow"]]
    (queued,) = service.codes()
    with service.at(now + timedelta(minutes=10)):
        assert Browser().sign_in(flows[0], queued.code).code == "invalid_code"
        assert services().code_mail.send(queued) is False


def test_an_address_gets_five_short_codes_a_day(service: Service, address: str) -> None:
    """So 25 of a million codes can be guessed in a day; ten digits sign in as six do."""
    now = wiring.utc_now().replace(hour=1, minute=10)
    for number in range(7):
        with service.at(now + timedelta(hours=number)):
            flow = Browser().request_code(address).json["flow"]
            (queued,) = service.codes()
            assert len(queued.code) == (6 if number < 5 else 10)
            assert Browser().sign_in(flow, queued.code).status == 200
    with service.at(now + timedelta(days=1)):
        Browser().request_code(address)
        assert len(service.codes()[0].code) == 6


def test_a_stranger_does_not_use_up_the_codes_of_an_address(service: Service, address: str) -> None:
    """A network gets five codes an hour for an address, and its owner's network still gets one."""
    now = wiring.utc_now().replace(minute=10)
    asked = []
    for number in range(7):
        with service.at(now + timedelta(minutes=number)):
            asked.append(Browser().request_code(address, f"198.51.100.{number}").status)
    assert asked == [202] * 5 + [429] * 2
    with service.at(now + timedelta(minutes=8)):
        flow = Browser().request_code(address, "203.0.113.1").json["flow"]
        assert Browser().sign_in(flow, service.codes()[-1].code).status == 200


def test_an_address_gets_fifteen_codes_an_hour_in_all(service: Service, address: str) -> None:
    now = wiring.utc_now().replace(minute=10)
    with service.at(now):
        for number in range(15):
            asked = Browser().request_code(address, f"203.0.{number // 5}.1")
            # The limit of the network and minute; the hour's are the same for other minutes.
            assert asked.status == (202 if number % 5 < 3 else 429)
    with service.at(now + timedelta(minutes=9)):
        for number in range(6):
            assert Browser().request_code(address, f"203.1.{number}.1").status == 202
        refused = Browser().request_code(address, "203.0.99.1")
    assert (refused.status, refused.code) == (429, "rate_limit_exceeded")
    with service.at(now + timedelta(hours=1)):
        assert Browser().request_code(address, "203.0.99.1").status == 202


@pytest.mark.parametrize(
    ("block", "other"), [("198.18.7.{}", "198.18.8.1"), ("2001:db8:7:{}::1", "2001:db8:8::1")]
)
def test_a_network_asks_for_three_codes_a_minute_and_twenty_an_hour(
    service: Service, block: str, other: str
) -> None:
    """All addresses of a /24 or /48 count together; another block is not affected."""
    now = wiring.utc_now().replace(minute=0, second=0)

    def ask(minute: int, client: str) -> int:
        with service.at(now + timedelta(minutes=minute)):
            return Browser().request_code(f"n{next(_numbers)}@shop.example", client).status

    assert [ask(0, block.format(n)) for n in range(4)] == [202, 202, 202, 429]
    assert [ask(1 + n, block.format(n)) for n in range(18)] == [202] * 17 + [429]
    assert ask(30, other) == 202
    service.codes()


def test_this_machine_has_no_limit_of_a_network(service: Service) -> None:
    """Requests from the loopback address come from the developer's own browser."""
    asked = [Browser().request_code(f"l{n}@shop.example", "127.0.0.1").status for n in range(25)]
    assert asked == [202] * 25
    service.codes()


def test_a_link_signs_in_once_and_within_an_hour(service: Service, address: str) -> None:
    """A used, expired or made-up link is refused like a wrong code."""
    now = wiring.utc_now()
    link, late = (services().team.new_link(address) for _ in range(2))
    assert Browser().post("", {"link": link}).status == 200
    for text in (link, "0" * 32, "x"):
        assert Browser().post("", {"link": text}).code == "invalid_code"
    with service.at(now + timedelta(hours=1, seconds=1)):
        assert Browser().post("", {"link": late}).code == "invalid_code"


@pytest.mark.parametrize(
    "body",
    [
        {"flow": "x"},
        {"code": "123456"},
        {"flow": "x", "code": "123456", "link": "y"},
        {"flow": "x", "link": "y"},
        {"flow": "x", "code": "1"},
    ],
)
def test_a_body_of_another_shape_is_refused(service: Service, body: object) -> None:
    """A sign-in has flow and code, or a link, and nothing else."""
    assert service
    assert Browser().post("", body).code == "validation_failed"


@pytest.mark.parametrize("email", ["", "ada", "Ada <a@b.example>", "a@localhost", 5, None])
def test_only_an_address_gets_a_code(service: Service, email: object) -> None:
    """What is no address is 422 on email."""
    response = Browser().post("/codes", {"email": email})
    assert (response.status, [*response.errors]) == (422, ["email"])
    assert service.codes() == []


def test_a_user_without_an_account_gets_a_token_for_none(service: Service, address: str) -> None:
    """Account and role are null, sessions can be listed, and reads need an account."""
    services().team.set_operator(address, operator=True)
    body = signed_in(service, address).token().json
    assert (body["account"], body["role"], body["accounts"]) == (None, None, [])
    assert body["user"]["operator"] is True
    api = Api(session=body["token"])
    assert api.raw("GET", "/session").status == 200
    response = api.raw("GET", "/emails")
    assert (response.status, response.code) == (403, "scope_required")
