"""Attacks of a stranger, or of another user, on signing in and on sessions."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count
from typing import Any, Final
from unittest import mock

import pytest

from pillarbox import wiring
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.secret_store import EdgeSecret
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.codes import parse_flow
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT_ID, Role, digest_of, parse_access_token
from pillarbox.wiring import services
from tests.contract.client import Api
from tests.contract.service import Service, text_of
from tests.contract.sign_in import Browser, add_user, signed_in
from tests.contract.test_messages import event

TOKENS_PER_MINUTE = 60

_numbers: Final = count(1)
_LINK: Final = r"sign-in#([0-9a-z]{32})"


def test_a_cookie_with_another_secret_is_not_signed_in(service: Service, address: str) -> None:
    """The ids of a session are no secret: whatever digest a guess has, it is refused."""
    cookie = signed_in(service, address).cookie
    assert cookie is not None
    for guess in "0123456789abcdef":
        assert Browser(cookie[:24] + guess * 32).token().code == "invalid_session"
    assert Browser(cookie).token().status == 200


def test_several_flows_share_no_code(service: Service, address: str) -> None:
    """A right code works neither with another user's flow, nor with another flow of its address."""
    other = f"stranger{next(_numbers)}@shop.example"
    add_user(other)
    old, flow, own = (
        Browser().request_code(asked).json["flow"] for asked in (address, address, other)
    )
    codes = service.codes()
    victim, stranger = parse_flow(flow), parse_flow(own)
    mixed = [
        f"{victim.flow_id}.{victim.user_digest}.{stranger.secret}",
        f"{stranger.flow_id}.{victim.user_digest}.{stranger.secret}",
        f"{victim.flow_id}.{stranger.user_digest}.{victim.secret}",
    ]
    for forged in mixed:
        for code in codes:
            assert Browser().sign_in(forged, code.code).code == "invalid_code"
    assert Browser().sign_in(old, codes[1].code).code == "invalid_code"
    assert Browser().sign_in(old, codes[0].code).status == 200
    assert Browser().sign_in(flow, codes[1].code).status == 200


def test_parallel_sign_ins_make_one_session(service: Service, address: str) -> None:
    """Of 20 calls with the right code at once, or with the same link, one signs in."""
    sign_in = services().sign_in
    flow = sign_in.request_code(address, "127.0.0.1")
    (queued,) = service.codes()
    link = services().team.new_link(address)

    def use_code(_: int) -> bool:
        try:
            return bool(sign_in.with_code(flow, queued.code, ""))
        except ServiceError:
            return False

    def use_link(_: int) -> bool:
        try:
            return bool(sign_in.with_link(link, ""))
        except ServiceError:
            return False

    for use in (use_code, use_link):
        with ThreadPoolExecutor(20) as pool:
            assert [*pool.map(use, range(20))].count(True) == 1


@pytest.mark.parametrize("host", ["[", "[::1", "app.example]", "x@localhost", "", "a/b", "\x00"])
def test_a_malformed_host_is_no_origin(service: Service, host: str) -> None:
    """A request for such a host is 403, also if Origin is the http form of it."""
    browser = signed_in(service, "host@shop.example")
    for origin in ("https://app.example", f"http://{host}"):
        headers = {"x_pillarbox_host": host, "Host": host, "Origin": origin}
        assert browser.post("/token", {}, **headers).code == "cross_site_request"


def test_only_the_id_of_a_session_ends_one(service: Service, address: str) -> None:
    """The id of an access token's record, and an id that is too long for a key, are unknown."""
    token = signed_in(service, address).token().json["token"]
    api = Api(session=token)
    for absent in (f"{token[16:28]}%23{digest_of(token)}", "x" * 3000, "%00", "0" * 11, "%20"):
        assert api.raw("DELETE", f"/session/{absent}").code == "session_not_found"
    assert api.raw("GET", "/session").status == 200


@pytest.mark.parametrize("text", ["\ud800", "\x00", "x" * 200, "é" * 200])
def test_unusual_text_is_an_ordinary_wrong_value(service: Service, text: str) -> None:
    """Surrogates, NUL and long texts in each field are 401 or 422, and never an error of ours."""
    browser = signed_in(service, "text@shop.example")
    flow = Browser().request_code("text@shop.example").json["flow"]
    service.codes()
    for path, body in (
        ("", {"link": text}),
        ("", {"flow": text, "code": "123456"}),
        ("", {"flow": flow, "code": text[:1] * 6}),
        ("/codes", {"email": f"{text}@shop.example"}),
        ("/token", {"accountId": text}),
    ):
        assert browser.post(path, body).status in {401, 422}, (path, body)


def _invitation(service: Service, account: str, address: str) -> str:
    service.deliver()
    owner = Api(session=service.session(account, Role.OWNER, f"boss-{account}@shop.example"))
    invited = owner.raw("POST", "/members", {"email": address, "role": "viewer"})
    assert invited.status == 201
    return text_of(*service.mailed())


def test_an_invitation_signs_in_no_operator_and_no_member_of_another_account(
    service: Service,
) -> None:
    """Whom a tenant invites, it does not choose: those who can do more sign in with a code."""
    operator, member = (f"{name}{next(_numbers)}@shop.example" for name in ("op", "member"))
    services().team.set_operator(operator, operator=True)
    services().team.add_member(service.account(), member, Role.OWNER)
    for address in (operator, member):
        text = _invitation(service, service.account(), address)
        assert "sign-in#" not in text
        assert "Sign in with a code" in text

    def added_again(account: str, address: str) -> None:
        services().team.remove_member(account, address)
        services().team.add_member(account, address, Role.OWNER)

    changes: list[Any] = [
        lambda _, address: services().team.set_operator(address, operator=True),
        lambda _, address: services().team.add_member(service.account(), address, Role.VIEWER),
        added_again,
    ]
    for change in changes:
        account, newcomer = service.account(), f"late{next(_numbers)}@shop.example"
        (link,) = re.findall(_LINK, _invitation(service, account, newcomer))
        change(account, newcomer)
        assert Browser().post("", {"link": link}).code == "invalid_code"


def test_removal_and_signing_out_everywhere_end_links_and_codes(service: Service) -> None:
    """What was sent before signs nobody in; what is asked for afterwards does."""
    account, address = service.account(), f"gone{next(_numbers)}@shop.example"
    (link,) = re.findall(_LINK, _invitation(service, account, address))
    services().team.remove_member(account, address)
    assert Browser().post("", {"link": link}).code == "invalid_code"
    team = services().team

    def sign_out() -> None:
        token = signed_in(service, address).token().json["token"]
        ended = Api(session=token).raw("DELETE", "/session", query={"all": "true"})
        assert ended.status == 204

    for end in (sign_out, lambda: team.set_operator(address, operator=False)):
        link, flow = team.new_link(address), Browser().request_code(address).json["flow"]
        code = service.codes()[-1].code
        end()
        assert Browser().post("", {"link": link}).code == "invalid_code"
        assert Browser().sign_in(flow, code).code == "invalid_code"
    assert Browser().post("", {"link": team.new_link(address)}).status == 200


def test_a_tenant_bombs_nobody_with_invitations(service: Service) -> None:
    """An address gets two from an account in a week and three a day from all; none has its name."""
    victim, sent = f"bombed{next(_numbers)}@gmail.com", []
    for _ in range(5):
        account = service.account()
        boss = Api(session=service.session(account, Role.OWNER, f"boss-{account}@shop.example"))
        for tag in ("", "+again"):
            address = victim.replace("@", f"{tag}@")
            made = boss.raw("POST", "/members", {"email": address, "role": "viewer"})
            sent.append(made.status)
    assert sent == [201] * 3 + [429] * 7
    account = service.account()
    boss = Api(session=service.session(account, Role.OWNER, f"boss-{account}@shop.example"))
    name = {"name": "Your PayPal is limited: https://evil.example/ now"}
    assert boss.raw("PATCH", "/account", name).status == 200
    text = _invitation(service, account, f"calm{next(_numbers)}@shop.example")
    assert "PayPal" not in text


def test_a_complaint_about_a_code_leaves_requested_codes(service: Service) -> None:
    """A user who reported one as unwanted gets three a day and network, and no invitation."""
    service.deliver()
    address, start = f"angry{next(_numbers)}@shop.example", wiring.utc_now().replace(hour=1)
    add_user(address)
    with service.at(start):
        Browser().request_code(address)
        assert len(service.mailed()) == 1
        tags = {tag["Name"]: tag["Value"] for tag in service.ses.mails[-1]["EmailTags"]}
        complaint = {"complainedRecipients": [{"emailAddress": address}]}
        sent = tags["message"]
        assert service.report(event(SERVICE_ACCOUNT_ID, sent, "Complaint", complaint)) == []
    got = []
    for hour in range(1, 6):
        with service.at(start + timedelta(hours=hour)):
            Browser().request_code(address)
            got.append(len(service.mailed()))
    assert got == [1, 1, 1, 0, 0]
    account = service.account()
    boss = Api(session=service.session(account, Role.OWNER, f"boss-{account}@shop.example"))
    refused = boss.raw("POST", "/members", {"email": address, "role": "viewer"})
    assert (refused.status, refused.code) == (429, "rate_limit_exceeded")


def test_a_forged_address_gets_no_more_codes(service: Service) -> None:
    client = "X-Pillarbox-Client"
    forgeries: list[Any] = [
        lambda _: {},
        lambda number: {client: f"203.{number}.113.1"},
        lambda _: {client: "127.0.0.1"},
        lambda _: {client: "zzz"},
        lambda _: {client: "127.0.0.1", "X-Pillarbox-Edge": "secret"},
    ]
    sources = [f"198.51.{number}.7" for number in range(len(forgeries))]
    with service.at(wiring.utc_now().replace(second=30)):
        # The gateway does not know the address of the last one.
        for source, forge in zip([*sources, ""], [*forgeries, forgeries[0]], strict=True):
            statuses = [
                Browser()
                .post("/codes", {"email": f"n{next(_numbers)}@shop.example"}, source, **forge(n))
                .status
                for n in range(6)
            ]
            assert statuses == [202] * 3 + [429] * 3
    service.codes()


def test_the_address_that_the_edge_saw_counts(service: Service) -> None:
    """With the edge's secret, one server of the edge asks for many networks."""

    def ask(number: int, secret: str) -> int:
        headers = {"X-Pillarbox-Client": f"203.0.{number}.1", "X-Pillarbox-Edge": secret}
        address = f"n{next(_numbers)}@shop.example"
        return Browser().post("/codes", {"email": address}, "192.0.2.77", **headers).status

    edge = EdgeSecret("arn", wiring.utc_now, lambda _: "old new")
    with (
        mock.patch.dict(vars(services()), {"edge_secret": edge}),
        service.at(wiring.utc_now().replace(second=30)),
    ):
        assert [ask(number, "new") for number in range(5)] == [202] * 5
        assert [ask(number, "no") for number in range(5)] == [202] * 3 + [429] * 2
    service.codes()


def test_signing_out_everywhere_reads_no_tokens(service: Service, address: str) -> None:
    browser = signed_in(service, address)
    with service.at(wiring.utc_now().replace(second=30)):
        answers = [browser.token() for _ in range(TOKENS_PER_MINUTE + 2)]
        assert [one.status for one in answers] == [200] * TOKENS_PER_MINUTE + [429] * 2
        token = answers[0].json["token"]
        bounds = keys.sessions(parse_access_token(token).user_id)
        assert len([*services().credentials.query(*bounds)]) == 1
        ended = Api(session=token).raw("DELETE", "/session", query={"all": "true"})
        assert ended.status == 204
        assert [*services().credentials.query(*bounds)] == []
        assert browser.token().code == "invalid_session"
