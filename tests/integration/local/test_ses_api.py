"""The SES stand-in as boto3 sees it: accepted and rejected mail, and other operations."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError
from mypy_boto3_sesv2 import SESV2Client

from local.ses.account import StoredAccount
from local.ses.errors import SesError
from local.ses.sending import SesSendEmailRequest, accept
from local.ses.store import MailStore
from pillarbox.adapters.ses.identities import SesIdentities
from pillarbox.domain.accounts.sender_domain import DomainState
from tests.integration.local.local_ses import RAW, LocalSes, Send
from tests.loops import for_each
from tests.stack import PATIENCE


def refusal(caught: pytest.ExceptionInfo[ClientError]) -> tuple[str, int, str]:
    """Return the name of the SDK's exception, the status and the message."""
    answer = caught.value.response
    status = answer["ResponseMetadata"]["HTTPStatusCode"]
    return type(caught.value).__name__, status, answer["Error"]["Message"]


def test_recipients_come_from_the_headers_without_a_destination(
    send: Send, local_ses: LocalSes
) -> None:
    mail = local_ses.mailbox.get(send(Destination={}))
    assert mail is not None
    assert mail.destination.to == ("ada@example.com",)


def test_the_sending_rate_is_limited(ses: SESV2Client, send: Send, local_ses: LocalSes) -> None:
    assert ses.get_account()["SendQuota"]["MaxSendRate"] == 14.0
    send(*(f"a{number}@example.com" for number in range(50)))
    with pytest.raises(ClientError) as caught:
        send()
    assert refusal(caught) == ("TooManyRequestsException", 429, "Maximum sending rate exceeded.")
    assert len(local_ses.mailbox.newest_first()) == 1


@pytest.mark.parametrize(
    ("identity", "sender", "accepted"),
    [
        ("one@address.example", "one@address.example", True),
        ("one@address.example", "One@Address.Example", False),
        ("one@address.example", "one@ADDRESS.example", True),
        ("one@address.example", "two@address.example", False),
        ("domain.example", "any@domain.example", True),
        ("domain.example", "any@sub.domain.example", True),
        ("domain.example", "any@notdomain.example", False),
        ("unverified.example", "any@unverified.example", False),
    ],
)
def test_who_may_send(  # only the domain ignores case
    ses: SESV2Client, send: Send, identity: str, sender: str, *, accepted: bool
) -> None:
    ses.create_email_identity(EmailIdentity=identity)
    raw = RAW.replace(b"post@sender.example>", f"{sender}>".encode(), 1)
    if accepted:
        assert send(raw=raw, FromEmailAddress=sender)
    else:
        with pytest.raises(ses.exceptions.MessageRejected):
            send(raw=raw, FromEmailAddress=sender)


@for_each(
    ("overrides", "expected", "words"),
    [
        (
            {"Destination": {"BccAddresses": [f"r{n}@example.com" for n in range(51)]}},
            "BadRequestException",
            "Recipient count exceeds 50",
        ),
        ({"raw": b"no header at all"}, "BadRequestException", "header 'From'"),
        ({"Destination": {"ToAddresses": ["nobody"]}}, "BadRequestException", "@domain"),
        ({"Destination": {"ToAddresses": ["ä@example.com"]}}, "BadRequestException", "ASCII"),
        (
            {"FromEmailAddress": "eve@other.example"},
            "MessageRejected",
            "not verified. The following identities failed the check in region US-EAST-1: eve@",
        ),
        (
            {"raw": RAW.replace(b"post@sender.example>", b"eve@other.example>", 1)},
            "MessageRejected",
            "eve@other.example",
        ),
        ({"ConfigurationSetName": "absent"}, "NotFoundException", "<absent> does not exist"),
        ({"EmailTags": [{"Name": "a b", "Value": "x"}]}, "BadRequestException", "tag name"),
        ({"EmailTags": [{"Name": "a", "Value": "x@y"}]}, "BadRequestException", "tag value"),
        (
            {"Content": {"Simple": {"Subject": {"Data": "s"}, "Body": {}}}},
            "BadRequestException",
            "does not imitate Content.Simple",
        ),
    ],
)
def test_ses_errors(
    send: Send, local_ses: LocalSes, overrides: dict[str, object], expected: str, words: str
) -> None:
    with pytest.raises(ClientError) as caught:
        send(**overrides)
    name, _, message = refusal(caught)
    assert name == expected
    assert words in message
    assert local_ses.mailbox.newest_first() == []


def test_a_mail_over_40_mb_is_refused() -> None:
    mailbox = MailStore(account=StoredAccount(review="GRANTED"))
    mailbox.create_identity("sender.example")
    limit = 40 * 1024 * 1024
    raw = (RAW + (b"x" * 998 + b"\r\n") * (limit // 1_000))[:limit]
    for data, accepted in ((raw, True), (raw + b"y", False)):
        request = SesSendEmailRequest.model_validate({"Content": {"Raw": {"Data": data}}})
        if accepted:
            assert accept(mailbox, request).raw.endswith(data[-1_000:])
        else:
            with pytest.raises(SesError, match="more than 41943040 bytes") as caught:
                accept(mailbox, request)
            assert caught.value.error == "BadRequestException"


def test_the_state_of_a_domain_follows_its_identity(
    local_ses: LocalSes, inbox: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", local_ses.ses_url)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "local")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    domains = SesIdentities()
    assert domains.state("mail.shop.example") is None
    local_ses.mailbox.create_identity("mail.shop.example")
    for status, state in (
        ("FAILED", DomainState.FAILED),
        ("PENDING", DomainState.PENDING),
        ("SUCCESS", DomainState.VERIFIED),
        ("FAILED", DomainState.FAILED),
    ):
        changed = inbox.put("/identities/mail.shop.example", json={"status": status})
        assert (changed.status_code, changed.json()) == (200, {"status": status})
        assert domains.state("mail.shop.example") is state
    local_ses.mailbox.create_identity("shop.example")
    assert domains.state("mail.shop.example") is DomainState.VERIFIED
    absent = inbox.put("/identities/other.example", json={"status": "FAILED"})
    wrong = inbox.put("/identities/shop.example", json={"status": "failed"})
    assert (absent.status_code, wrong.status_code) == (404, 422)


def test_the_plan_of_a_new_account_can_be_changed(ses: SESV2Client) -> None:
    assert ses.get_account()["PricingAttributes"] == {"CurrentPlan": "ESSENTIALS"}
    ses.put_account_pricing_attributes(Plan="NONE")
    assert ses.get_account()["PricingAttributes"] == {"CurrentPlan": "NONE"}
    with pytest.raises(ses.exceptions.BadRequestException):
        ses.put_account_pricing_attributes(Plan="GALAXY")  # type: ignore[arg-type]
    assert ses.get_account()["PricingAttributes"] == {"CurrentPlan": "NONE"}


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"Content": {"Raw": {"Data": "%%"}}}'])
def test_a_body_of_another_shape_is_refused(local_ses: LocalSes, body: bytes) -> None:
    url = f"{local_ses.ses_url}/v2/email/outbound-emails"
    answer = httpx.post(url, content=body, timeout=PATIENCE)
    assert answer.status_code == 400
    assert answer.headers["x-amzn-errortype"] == "SerializationException"


def test_unknown_operations_are_named(local_ses: LocalSes) -> None:
    answer = httpx.get(f"{local_ses.ses_url}/v2/email/contact-lists", timeout=PATIENCE)
    assert answer.status_code == 404
    assert "contact-lists" in answer.json()["message"]
    assert local_ses.mailbox.unknown_operations == ["GET /v2/email/contact-lists"]


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example"])
def test_other_hosts_are_refused(local_ses: LocalSes, host: str) -> None:
    """A request with another host name does not reach the API (DNS rebinding)."""
    answer = httpx.get(
        f"{local_ses.ses_url}/v2/email/account", headers={"Host": host}, timeout=PATIENCE
    )
    assert answer.status_code == 400


DETAILS: dict[str, Any] = {
    "MailType": "TRANSACTIONAL",
    "WebsiteURL": "https://shop.example",
    "UseCaseDescription": "Receipts and sign-in codes.",
    "AdditionalContactEmailAddresses": ["owner@shop.example"],
}


def refused(call: Callable[[], object]) -> tuple[str, str]:
    """Return name and message of the error that a call raises."""
    with pytest.raises(ClientError) as caught:
        call()
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]


def access(ses: SESV2Client) -> tuple[bool, str | None, float, float]:
    account = ses.get_account()
    review = account.get("Details", {}).get("ReviewDetails", {})
    quota = account["SendQuota"]
    return (
        account["ProductionAccessEnabled"],
        review.get("Status"),
        quota["Max24HourSend"],
        quota["MaxSendRate"],
    )


def test_the_way_out_of_the_sandbox(ses: SESV2Client, inbox: httpx.Client) -> None:
    inbox.put("/account", json={"review": None})
    assert access(ses) == (False, None, 200, 1)
    ses.put_account_details(**DETAILS, ProductionAccessEnabled=True)
    assert access(ses) == (False, "PENDING", 200, 1)
    assert refused(lambda: ses.put_account_details(**DETAILS))[0] == "ConflictException"
    inbox.put("/account", json={"review": "DENIED", "reason": "No website."})
    assert access(ses) == (False, "DENIED", 200, 1)
    assert inbox.get("/account").json() == {"review": "DENIED", "reason": "No website."}
    details = ses.get_account()["Details"]
    assert (details["WebsiteURL"], details["ReviewDetails"]["CaseId"][:5]) == (
        "https://shop.example",
        "case-",
    )
    assert "No website." not in str(details)
    ses.put_account_details(**DETAILS, ProductionAccessEnabled=True)
    inbox.put("/account", json={"review": "GRANTED"})
    assert access(ses) == (True, "GRANTED", 50_000, 14)


def test_a_new_account_is_in_the_sandbox() -> None:
    account = StoredAccount()
    assert (account.in_sandbox, account.plan) == (True, "ESSENTIALS")
    assert account.suppressed_reasons == ("BOUNCE", "COMPLAINT")


def test_the_sandbox_sends_to_verified_recipients(
    ses: SESV2Client, send: Send, inbox: httpx.Client
) -> None:
    inbox.put("/account", json={"review": None})
    name, message = refused(lambda: send("ada@example.com"))
    assert name == "MessageRejected"
    assert message == (
        "Email address is not verified. The following identities failed the check in region "
        "US-EAST-1: ada@example.com"
    )
    assert send("success@simulator.amazonses.com")
    inbox.put("/account", json={"review": None})  # a second has passed, as its rate wants
    ses.create_email_identity(EmailIdentity="ada@example.com")
    assert send("ada@example.com")


def test_a_paused_account_and_a_paused_set(ses: SESV2Client, send: Send) -> None:
    ses.put_account_sending_attributes(SendingEnabled=False)
    assert ses.get_account()["SendingEnabled"] is False
    assert refused(send) == (
        "SendingPausedException",
        "Email sending is disabled for your account.",
    )
    ses.put_account_sending_attributes(SendingEnabled=True)
    ses.put_configuration_set_sending_options(ConfigurationSetName="mails", SendingEnabled=False)
    options = ses.get_configuration_set(ConfigurationSetName="mails")["SendingOptions"]
    assert options == {"SendingEnabled": False}
    name, message = refused(send)
    assert (name, "<mails>" in message) == ("SendingPausedException", True)


def test_the_quota_of_a_day(send: Send, local_ses: LocalSes) -> None:
    local_ses.mailbox.account.quota = 2
    send("a@example.com")
    assert refused(lambda: send("b@example.com", "c@example.com"))[0] == "LimitExceededException"
    assert send("b@example.com")


def test_details_of_another_form_are_refused(ses: SESV2Client) -> None:
    assert refused(lambda: ses.put_account_details(**DETAILS | {"MailType": "NEWS"}))[0] == (
        "BadRequestException"
    )
    _, message = refused(
        lambda: ses.create_configuration_set(
            ConfigurationSetName="x",
            ArchivingOptions={"ArchiveArn": "arn:aws:ses:us-east-1:000000000000:archive/x"},
        )
    )
    assert message == "This SES stand-in does not imitate ArchivingOptions."
    _, message = refused(
        lambda: ses.create_configuration_set_event_destination(
            ConfigurationSetName="mails",
            EventDestinationName="topic",
            EventDestination={"MatchingEventTypes": ["SEND"], "SnsDestination": {"TopicArn": "t"}},
        )
    )
    assert message == "This SES stand-in does not imitate EventDestination.SnsDestination."
