"""The account of the SES stand-in: the sandbox and the way out, pauses, quota."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError
from mypy_boto3_sesv2 import SESV2Client

from local.ses.account import StoredAccount
from tests.integration.local.local_ses import LocalSes

Send = Callable[..., str]
DETAILS: dict[str, Any] = {
    "MailType": "TRANSACTIONAL",
    "WebsiteURL": "https://shop.example",
    "UseCaseDescription": "Receipts and sign-in codes.",
    "AdditionalContactEmailAddresses": ["owner@shop.example"],
}


def refusal(call: Callable[[], object]) -> tuple[str, str]:
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
    assert refusal(lambda: ses.put_account_details(**DETAILS))[0] == "ConflictException"
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
    name, message = refusal(lambda: send("ada@example.com"))
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
    assert refusal(send) == (
        "SendingPausedException",
        "Email sending is disabled for your account.",
    )
    ses.put_account_sending_attributes(SendingEnabled=True)
    ses.put_configuration_set_sending_options(ConfigurationSetName="mails", SendingEnabled=False)
    options = ses.get_configuration_set(ConfigurationSetName="mails")["SendingOptions"]
    assert options == {"SendingEnabled": False}
    name, message = refusal(send)
    assert (name, "<mails>" in message) == ("SendingPausedException", True)


def test_the_quota_of_a_day(send: Send, local_ses: LocalSes) -> None:
    local_ses.mailbox.account.quota = 2
    send("a@example.com")
    assert refusal(lambda: send("b@example.com", "c@example.com"))[0] == "LimitExceededException"
    assert send("b@example.com")


def test_details_of_another_form_are_refused(ses: SESV2Client) -> None:
    assert refusal(lambda: ses.put_account_details(**DETAILS | {"MailType": "NEWS"}))[0] == (
        "BadRequestException"
    )
    _, message = refusal(
        lambda: ses.create_configuration_set(
            ConfigurationSetName="x",
            ArchivingOptions={"ArchiveArn": "arn:aws:ses:us-east-1:000000000000:archive/x"},
        )
    )
    assert message == "This SES stand-in does not imitate ArchivingOptions."
    _, message = refusal(
        lambda: ses.create_configuration_set_event_destination(
            ConfigurationSetName="mails",
            EventDestinationName="topic",
            EventDestination={"MatchingEventTypes": ["SEND"], "SnsDestination": {"TopicArn": "t"}},
        )
    )
    assert message == "This SES stand-in does not imitate EventDestination.SnsDestination."
