"""Passkeys over HTTP: the real handlers, and a software authenticator."""

import json
from dataclasses import replace
from datetime import timedelta
from itertools import count

from pillarbox import wiring
from pillarbox.domain.sign_in.codes import Link, new_link
from pillarbox.domain.sign_in.session import Role, digest_of
from pillarbox.wiring import services
from tests.contract.client import Api
from tests.contract.passkeys import WRONG_ANSWER, add, authenticator, requiring_passkeys, sign_in
from tests.contract.service import Service, text_of
from tests.contract.sign_in import Browser

_numbers = count(1)


def _address() -> str:
    return f"keen{next(_numbers)}@shop.example"


def test_a_passkey_is_added_used_listed_and_removed(service: Service) -> None:
    account, address = service.account(), _address()
    session, device = service.session(account, address=address), authenticator()
    added = add(session, device)
    assert added.status == 201
    assert added.json["lastUsedAt"] is None
    browser, signed_in = sign_in(device)
    assert signed_in.status == 200
    assert signed_in.json["user"]["email"] == address
    assert signed_in.json["account"]["id"] == account
    own = Api(session=browser.token().json["token"])
    (listed,) = own.raw("GET", "/passkeys").json["items"]
    assert (listed["id"], listed["name"], listed["current"]) == (added.json["id"], "Phone", True)
    assert listed["lastUsedAt"] is not None
    elsewhere, _ = sign_in(device)
    assert own.raw("DELETE", f"/passkeys/{listed['id']}").status == 204
    assert own.raw("GET", "/passkeys").json["items"] == []
    assert sign_in(device)[1].code == "invalid_passkey"
    for absent in (listed["id"], "x" * 3_000, "%00", "0" * 63):
        assert own.raw("DELETE", f"/passkeys/{absent}").code == "passkey_not_found"
    assert elsewhere.token().code == "invalid_session"
    service.code_events.clear()


def test_the_log_and_an_email_tell_of_it(service: Service) -> None:
    """The account's owners see who did what, and the user gets one email for each change."""
    account, address = service.account(), _address()
    session = service.session(account, address=address)
    service.deliver()
    service.code_events.clear()
    added = add(session, authenticator(), "Ada's phone").json
    assert Api(session=session).raw("DELETE", f"/passkeys/{added['id']}").status == 204
    log = Api(session=session).raw("GET", "/account/log").json["items"]
    actions = [(one["action"], one["subject"], one["by"]) for one in log[:2]]
    assert actions == [
        ("passkey.removed", "Ada's phone", address),
        ("passkey.added", "Ada's phone", address),
    ]
    events = list(service.code_events)
    assert service.mail_codes() == [{"notice_accepted": 1}] * 2
    assert service.mail_code(events[0]) == {"notice_accepted": 0}  # Lambda may repeat it
    mails = {text_of(mail).partition(".")[0]: mail["To"] for mail in service.mailed()}
    for change in ("added", "removed"):
        assert [to for text, to in mails.items() if f"is being {change}" in text] == [address]


def test_other_sites_cannot_sign_a_browser_in(service: Service) -> None:
    """Neither a page of another site nor a form gets an answer accepted, or a challenge."""
    device = authenticator()
    assert add(service.session(service.account(), address=_address()), device).status == 201
    for headers in (
        {"Origin": "https://evil.example"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Content_Type": "text/plain"},
    ):
        assert sign_in(device, **headers)[1].code == "cross_site_request"
    begun = Browser().post("/passkeys/challenges", {}, Sec_Fetch_Site="cross-site")
    assert begun.code == "cross_site_request"
    service.code_events.clear()


def test_the_host_of_a_request_decides_nothing(service: Service) -> None:
    """An answer that was made for another host is refused there too: the stack's address counts."""
    account, address = service.account(), _address()
    device = authenticator(origin="https://evil.example", rp_id="evil.example")
    assert add(service.session(account, address=address), device).status == 422
    honest = authenticator()
    assert add(service.session(account, address=address), honest).status == 201
    honest.origin, honest.rp_id = "https://evil.example", "evil.example"
    host = {"Host": "evil.example", "Origin": "https://evil.example"}
    assert sign_in(honest, **host)[1].code == "invalid_passkey"
    service.code_events.clear()


def test_a_stranger_learns_nothing(service: Service) -> None:
    """A challenge names nobody, and all that fails has one response."""
    begun = Browser().post("/passkeys/challenges", {})
    assert {*begun.json} == {"flow", "challenge", "rpId"}
    known, unknown = authenticator(), authenticator()
    assert add(service.session(service.account(), address=_address()), known).status == 201
    unknown.user_handle = known.user_handle
    forged = authenticator(credential=known.credential, user_handle=known.user_handle)
    refusals = [sign_in(one)[1] for one in (unknown, forged)]
    refusals.append(Browser().post("/passkeys", WRONG_ANSWER))
    assert {refusal.status for refusal in refusals} == {401}
    assert len({json.dumps(refusal.error["message"]) for refusal in refusals}) == 1
    service.code_events.clear()


def test_an_old_session_adds_no_passkey(service: Service) -> None:
    browser = Browser()
    address = _address()
    assert browser.post("", {"link": services().team.new_link(address)}).status == 200
    now = wiring.utc_now()
    with service.at(now + timedelta(minutes=14, seconds=30)):
        assert add(browser.token().json["token"], authenticator()).status == 201
    with service.at(now + timedelta(minutes=15)):
        refused = add(browser.token().json["token"], authenticator())
    assert refused.code == "sign_in_required"


def test_operators_without_a_passkey_have_no_right(service: Service) -> None:
    """With OperatorPasskeys=required only a link of the command lets one be added."""
    account, address = service.account(), _address()
    services().team.add_member(account, address, Role.OWNER)
    services().team.set_operator(address, operator=True)
    device = authenticator()
    with requiring_passkeys():
        by_code, by_link = Browser(), Browser()
        flow = by_code.request_code(address).json["flow"]
        code = service.codes()[-1].code
        started = [
            by_code.sign_in(flow, code),
            by_link.post("", {"link": services().team.new_link(address)}),
        ]
        for response in started:
            assert response.json["user"]["passkeyNeeded"]
            assert not response.json["user"]["operator"]
            assert (response.json["account"], response.json["accounts"]) == (None, [])
            api = Api(session=response.json["token"])
            assert api.raw("GET", "/operator/accounts").code == "scope_required"
            assert api.raw("GET", "/account").code == "scope_required"
        weak, strong = (response.json["token"] for response in started)
        assert by_code.token(account).status == 422
        assert add(weak, device).code == "sign_in_required"
        added = add(strong, device)
        assert added.status == 201
        removal = Api(session=weak).raw("DELETE", f"/passkeys/{added.json['id']}")
        assert removal.code == "sign_in_required"
        _, signed_in = sign_in(device)
        assert signed_in.json["user"]["operator"]
        operator = Api(session=signed_in.json["token"])
        assert operator.raw("GET", "/operator/accounts").status == 200
    service.code_events.clear()


def test_the_link_of_an_invitation_is_none_of_the_command(service: Service) -> None:
    """A mailbox has it, so a session that began with it adds no passkey of an operator."""
    account, address, now = service.account(), _address(), wiring.utc_now()
    team, text = services().team, new_link()
    member = replace(team.add_member(account, address, Role.VIEWER), added_at=now, pending=True)
    team.members.put(member)
    link = Link(address=address, at=now, expires_at=now + timedelta(days=7), account_id=account)
    team.flows.put_link(digest_of(text), link)
    invited = Browser().post("", {"link": text})
    assert invited.status == 200
    team.set_operator(address, operator=True)
    with requiring_passkeys():
        assert add(invited.json["token"], authenticator()).code == "sign_in_required"
