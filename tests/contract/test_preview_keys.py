"""The routes of the preview widget, from the request for a code to the report of a test mail."""

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from pillarbox.domain.accounts.key import account_of_key
from pillarbox.domain.accounts.key_policy import PREVIEW_SUSPENDED
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.codes import FlowToken, parse_flow
from pillarbox.domain.sign_in.preview_key import folded_digest
from pillarbox.wiring import services, utc_now
from tests.contract.bodies import TO, otp
from tests.contract.client import Api, ApiResponse
from tests.contract.counting import naming
from tests.contract.service import Service, text_of
from tests.contract.sign_in import Browser
from tests.contract.sign_up import WRONG_PROOF, solved
from tests.contract.test_messages import event
from tests.fakes.builders import PREVIEW_SENDER


def post(path: str, **body: Any) -> ApiResponse:
    return Api().raw("POST", f"/preview-keys{path}", body)


def request_code(address: str) -> ApiResponse:
    proof = solved(post("/challenges", email=address).json["challenge"])
    return post("/codes", email=address, proof=proof)


def last_mail(service: Service, address: str) -> str:
    """Send what is queued, in any order; return the text of the last email to an address."""
    *_, mail = (one for one in service.mailed() if one["To"] == address)
    return text_of(mail)


def report_in(text: str) -> str:
    """Return the token in the link of a test mail."""
    link = re.search(r"/widget/report#([\w.-]+)", text)
    assert link
    return link[1]


def get_key(service: Service, address: str) -> ApiResponse:
    flow = request_code(address).json["flow"]
    code = re.search(r"\b\d{6}\b", last_mail(service, address))
    assert code
    return post("", flow=flow, code=code[0])


def test_a_visitor_gets_a_key_and_a_recipient_stops_it(service: Service) -> None:
    """Challenge, code, key, test mail, report: then neither key nor recipient can be used.

    Nor can a key that has sent nothing for 90 days.
    """
    address = "ada@example.com"
    answer = get_key(service, address)
    assert answer.status == 201
    assert answer.json == {"key": answer.json["key"], "email": address, "expiresInDays": 90}
    api = Api(answer.json["key"])
    assert api.send(otp(to="bob@customer.example")).code == "recipient_not_allowed"
    assert api.send(otp(to=address)).status == 200
    with service.at(utc_now() + timedelta(days=92)):
        assert api.send(otp(to=address)).code == "invalid_api_key"
    text = last_mail(service, address)
    assert "Test mail sent through Pillarbox by a preview key." in text
    report = report_in(text)
    assert post("/reports", token=report + "0").status == 204
    assert api.send(otp(to=address)).status == 200
    assert post("/reports", token=report).status == 204
    refused = api.send(otp(to=address))
    assert refused.code == "account_suspended"
    assert refused.json["error"]["message"] == PREVIEW_SUSPENDED
    other = service.preview()
    assert other.send(otp(to=address)).code == "recipient_suppressed"
    service.mailed()
    assert request_code(address).status == 202
    assert service.mailed() == []


def test_ses_gets_a_test_with_samples(service: Service) -> None:
    """The email of a self-service key has samples, a prefix, and a line at the top of both parts.

    Fields that are null or empty are not given.
    """
    absent = dict.fromkeys(("fromName", "subject", "brandName", "logoUrl", "replyTo"))
    own = {"otp_code": "900555", "app_name": "https://evil.example"}
    body = otp(variables=own, **absent, cc=[], bcc=[], attachments=[])
    service.mailed()
    assert service.preview(self_service=True).send(body).status == 200
    (mail,) = service.mailed()
    assert mail["Subject"] == "[Test] Your Harbour code"
    assert (mail["From"], mail["To"], mail["Reply-To"]) == (PREVIEW_SENDER, TO, None)
    assert [part.get_content_type() for part in mail.walk()][1:] == ["text/plain", "text/html"]
    assert text_of(mail).startswith("This is a test. All names, codes, amounts and links")
    for text in (text_of(mail), text_of(mail, "html")):
        assert "482913" in text
        assert "900555" not in text
        assert "evil" not in text


def test_a_batch_is_refused_and_previews_work(service: Service) -> None:
    """A batch is 403; a preview shows the caller's own values, to the caller alone."""
    api = service.preview(self_service=True)
    batch = api.raw("POST", "/emails/batch", {"messages": [otp()]})
    assert (batch.status, batch.code) == (403, "upgrade_required")
    shown = api.preview("otp", {"variables": {"otp_code": "900555"}})
    assert shown.status == 200
    assert "900555" in shown.json["html"]
    assert "This is a test." not in shown.json["html"]
    assert api.starters().text == service.preview().starters().text


def test_known_and_unknown_addresses_look_the_same(service: Service) -> None:
    get_key(service, "pat@example.com")

    def calls_for(address: str) -> tuple[list[str], int, set[str], int]:
        with naming() as made:
            answer = request_code(address)
        return made, answer.status, {*answer.json}, len(answer.json["flow"])

    known = calls_for("pat@example.com")
    assert known == calls_for("sam@example.com")
    assert len(known[0]) >= 4
    assert known[1] == 202
    service.mail_codes()


def test_a_code_gives_one_key_however_often_it_is_confirmed_at_once(service: Service) -> None:
    flow = parse_flow(request_code("roy@example.com").json["flow"])
    code = service.codes()[-1].code
    issued: list[str] = []

    def confirm(_: int) -> str:
        try:
            issued.append(services().preview_keys.issue(flow, code, "")[0].text)
        except ServiceError as error:
            return error.code
        return "issued"

    with ThreadPoolExecutor(8) as threads:
        outcomes = Counter(threads.map(confirm, range(8)))
    assert outcomes == {"issued": 1, "invalid_code": 7}
    assert Api(issued[0]).send(otp(to="roy@example.com")).status == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/preview-keys/codes", {"email": "dan@example.com", "proof": WRONG_PROOF}),
        ("/session/codes", {"email": "ada@shop.example"}),
    ],
)
@pytest.mark.parametrize(
    ("site", "is_refused"),
    [
        (None, False),
        ("same-origin", False),
        ("none", False),
        ("same-site", True),
        ("cross-site", True),
    ],
)
def test_pages_of_other_sites_ask_for_no_codes(
    service: Service, path: str, body: dict[str, Any], site: str | None, *, is_refused: bool
) -> None:
    headers = {"Sec-Fetch-Site": site} if site else {}
    answer = Api().raw("POST", path, body, headers)
    assert (answer.code == "cross_site_request") is is_refused
    assert bool(service.codes()) is (path == "/session/codes" and not is_refused)


def test_a_flow_serves_one_purpose(service: Service) -> None:
    """The code for a preview key signs nobody in, and that of a sign-in gives no key."""
    flow: FlowToken = parse_flow(request_code("max@example.com").json["flow"])
    assert flow.user_digest == folded_digest("max@example.com")
    queued = service.codes()[-1]
    assert Browser().sign_in(str(flow), queued.code).code == "invalid_code"
    with service.signing_up("open"):
        asked = Browser().request_code("max@example.com").json["flow"]
    queued = service.codes()[-1]
    assert post("", flow=asked, code=queued.code).code == "invalid_code"


def test_a_complaint_suspends_the_key(service: Service) -> None:
    api = Api(get_key(service, "joe@example.com").json["key"])
    sent = api.send(otp(to="joe@example.com")).json["messageId"]
    account = account_of_key(api.key or "")
    assert account
    complaint = {"complainedRecipients": [{"emailAddress": "joe@example.com"}]}
    assert service.report(event(account, sent, "Complaint", complaint)) == []
    assert api.send(otp(to="joe@example.com")).code == "account_suspended"
    other = service.account()
    message = Api(service.key(other)).send(otp()).json["messageId"]
    complaint = {"complainedRecipients": [{"emailAddress": TO}]}
    assert service.report(event(other, message, "Complaint", complaint)) == []
    assert Api(service.key(other)).send(otp(to="ann@example.com")).status == 200
