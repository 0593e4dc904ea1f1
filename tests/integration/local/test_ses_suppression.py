"""SES's own suppression lists: how they fill by themselves, and what they stop."""

from typing import Any

import httpx
import pytest
from mypy_boto3_sesv2 import SESV2Client

from pillarbox.adapters.ses.suppressions import SesSuppressions
from tests.integration.local.local_ses import RAW, LocalSes, Send

ADA = "Ada@example.com"
IDENTITY = "arn:aws:ses:us-east-1:000000000000:identity/sender.example"
SET = "arn:aws:ses:us-east-1:000000000000:configuration-set/mails"


@pytest.fixture
def tenant(ses: SESV2Client) -> str:
    ses.create_tenant(
        TenantName="shop",
        SuppressionAttributes={
            "SuppressionScope": "TENANT",
            "SuppressedReasons": ["BOUNCE", "COMPLAINT"],
        },
    )
    for arn in (IDENTITY, SET):
        ses.create_tenant_resource_association(TenantName="shop", ResourceArn=arn)
    return "shop"


def behave(inbox: httpx.Client, mode: str, recipient: str = ADA) -> None:
    body = {"mode": mode, "times": 1}
    assert inbox.put("/behaviour", params={"recipient": recipient}, json=body).is_success


def outcome(local_ses: LocalSes, mail_id: str, recipient: str = ADA) -> str:
    mail = local_ses.mailbox.get(mail_id)
    assert mail
    return mail.outcomes[recipient]


def listed(ses: SESV2Client, **query: Any) -> list[str]:
    found = ses.list_suppressed_destinations(**query)["SuppressedDestinationSummaries"]
    return [each["EmailAddress"] for each in found]


def subtypes(local_ses: LocalSes, count: int) -> list[str | None]:
    """Wait for so many events; return the subtypes of bounces and complaints."""
    records: list[Any] = local_ses.await_records(count)
    return [
        record["bounce"]["bounceSubType"]
        if "bounce" in record
        else record["complaint"]["complaintSubType"]
        for record in records
        if record["eventType"] in {"Bounce", "Complaint"}
    ]


@pytest.mark.parametrize(
    ("mode", "reason", "stopped"),
    [
        ("bounce", "BOUNCE", "suppressed"),
        ("complaint", "COMPLAINT", "suppressed after complaint"),
        ("soft-bounce", None, "delivered"),
        ("delay", None, "delivered"),
    ],
)
def test_the_list_of_the_account_fills_by_itself(
    ses: SESV2Client,
    send: Send,
    inbox: httpx.Client,
    local_ses: LocalSes,
    *,
    mode: str,
    reason: str | None,
    stopped: str,
) -> None:
    """A hard bounce or a complaint lists the address before its event is sent, for all mail."""
    behave(inbox, mode)
    first = send(ADA)
    assert listed(ses) == ([ADA] if reason else [])
    if reason:
        entry = ses.get_suppressed_destination(EmailAddress=ADA)["SuppressedDestination"]
        assert entry["Reason"] == reason
        assert entry["Attributes"]["MessageId"] == first
    assert outcome(local_ses, send(ADA)) == stopped


@pytest.mark.parametrize("name", ["bounce", "complaint"])
def test_the_simulator_is_never_listed(ses: SESV2Client, send: Send, name: str) -> None:
    send(f"{name}+1@simulator.amazonses.com")
    assert listed(ses) == []


def test_a_listed_address_bounces_without_a_try(
    ses: SESV2Client, send: Send, local_ses: LocalSes
) -> None:
    ses.put_suppressed_destination(EmailAddress=ADA, Reason="BOUNCE")
    ses.put_suppressed_destination(EmailAddress="c@example.com", Reason="COMPLAINT")
    send("ada@EXAMPLE.com", "c@example.com")
    assert subtypes(local_ses, 3) == ["OnAccountSuppressionList"] * 2
    ses.delete_suppressed_destination(EmailAddress=ADA)
    assert outcome(local_ses, send(ADA)) == "delivered"


def test_a_tenant_with_a_list_of_its_own_fills_that_one(
    ses: SESV2Client, send: Send, inbox: httpx.Client, local_ses: LocalSes, tenant: str
) -> None:
    behave(inbox, "bounce")
    send(ADA, TenantName=tenant)
    assert (listed(ses), listed(ses, TenantName=tenant)) == ([], [ADA])
    assert outcome(local_ses, send(ADA, TenantName=tenant)) == "suppressed"
    assert outcome(local_ses, send(ADA)) == "delivered"
    assert subtypes(local_ses, 6) == ["General", "OnTenantSuppressionList"]
    entry = ses.get_suppressed_destination(EmailAddress=ADA, TenantName=tenant)
    assert entry["SuppressedDestination"]["TenantName"] == tenant


def test_a_tenant_without_a_list_falls_under_the_account(
    ses: SESV2Client, send: Send, inbox: httpx.Client, local_ses: LocalSes, tenant: str
) -> None:
    ses.put_suppressed_destination(EmailAddress="b@example.com", Reason="BOUNCE", TenantName=tenant)
    ses.put_tenant_suppression_attributes(TenantName=tenant)
    assert "SuppressionAttributes" not in ses.get_tenant(TenantName=tenant)["Tenant"]
    assert outcome(local_ses, send("b@example.com", TenantName=tenant), "b@example.com") == (
        "delivered"
    )
    behave(inbox, "bounce")
    send(ADA, TenantName=tenant)
    assert listed(ses) == [ADA]
    ses.put_tenant_suppression_attributes(
        TenantName=tenant, SuppressionScope="TENANT", SuppressedReasons=["BOUNCE"]
    )
    assert listed(ses, TenantName=tenant) == ["b@example.com"]


@pytest.mark.parametrize(
    ("reasons", "stopped", "lists"),
    [
        (["BOUNCE", "COMPLAINT"], True, True),
        (["COMPLAINT"], False, False),
        ([], False, False),
        (None, True, True),
    ],
)
def test_a_configuration_set_overrides_the_account(
    ses: SESV2Client,
    send: Send,
    inbox: httpx.Client,
    local_ses: LocalSes,
    reasons: list[Any] | None,
    *,
    stopped: bool,
    lists: bool,
) -> None:
    ses.put_suppressed_destination(EmailAddress=ADA, Reason="BOUNCE")
    ses.put_configuration_set_suppression_options(
        ConfigurationSetName="mails", SuppressedReasons=[]
    )
    options: Any = {} if reasons is None else {"SuppressedReasons": reasons}
    ses.put_configuration_set_suppression_options(ConfigurationSetName="mails", **options)
    shown = ses.get_configuration_set(ConfigurationSetName="mails").get("SuppressionOptions")
    assert shown == (options or None)
    assert outcome(local_ses, send(ADA)) == ("suppressed" if stopped else "delivered")
    behave(inbox, "bounce", "new@example.com")
    send("new@example.com")
    assert ("new@example.com" in listed(ses)) is lists


def test_the_account_can_switch_its_list_off(
    ses: SESV2Client, send: Send, local_ses: LocalSes
) -> None:
    ses.put_suppressed_destination(EmailAddress=ADA, Reason="BOUNCE")
    ses.put_account_suppression_attributes(SuppressedReasons=[])
    assert ses.get_account()["SuppressionAttributes"] == {"SuppressedReasons": []}
    assert outcome(local_ses, send(ADA)) == "delivered"
    assert listed(ses) == [ADA]


@pytest.mark.parametrize(
    ("reasons", "stops"), [(None, False), (["BOUNCE"], False), (["COMPLAINT"], True), ([], True)]
)
def test_the_global_list_applies_where_the_own_does_not(
    ses: SESV2Client,
    send: Send,
    inbox: httpx.Client,
    local_ses: LocalSes,
    reasons: list[Any] | None,
    *,
    stops: bool,
) -> None:
    """On command it always stops the email; later only for a condition that no own list covers."""
    behave(inbox, "global-list")
    assert outcome(local_ses, send(ADA)) == "globally suppressed"
    assert listed(ses) == []
    if reasons is not None:
        ses.put_configuration_set_suppression_options(
            ConfigurationSetName="mails", SuppressedReasons=reasons
        )
    assert outcome(local_ses, send(ADA)) == ("globally suppressed" if stops else "delivered")
    assert subtypes(local_ses, 4) == ["Suppressed"] * (1 + stops)


def test_operations_want_the_exact_case(ses: SESV2Client) -> None:
    """A list keeps an address as it was written (guide, …-tenant-level-manage)."""
    ses.put_suppressed_destination(EmailAddress="Gone/Away@example.com", Reason="BOUNCE")
    with pytest.raises(ses.exceptions.NotFoundException):
        ses.get_suppressed_destination(EmailAddress="gone/away@example.com")
    with pytest.raises(ses.exceptions.NotFoundException):
        ses.delete_suppressed_destination(EmailAddress="gone/away@example.com")
    found = ses.get_suppressed_destination(EmailAddress="Gone/Away@example.com")
    assert found["SuppressedDestination"]["LastUpdateTime"].tzinfo is not None
    ses.delete_suppressed_destination(EmailAddress="Gone/Away@example.com")
    assert listed(ses) == []


def test_a_list_is_read_by_reason_and_over_pages(ses: SESV2Client) -> None:
    for number in range(5):
        reason: Any = "COMPLAINT" if number == 4 else "BOUNCE"
        ses.put_suppressed_destination(EmailAddress=f"a{number}@example.com", Reason=reason)
    assert listed(ses, Reasons=["COMPLAINT"]) == ["a4@example.com"]
    page = ses.list_suppressed_destinations(PageSize=3)
    assert len(page["SuppressedDestinationSummaries"]) == 3
    assert listed(ses, NextToken=page["NextToken"]) == ["a3@example.com", "a4@example.com"]


@pytest.mark.parametrize(
    "query", ["PageSize=x", "PageSize=0", "PageSize=1001", "StartDate=soon", "EndDate=2026-13-01"]
)
def test_a_wrong_query_is_a_bad_request(local_ses: LocalSes, query: str) -> None:
    """As the operation's model says; a time without a zone is in UTC."""
    url = f"{local_ses.ses_url}/v2/email/suppression/addresses"
    answer = httpx.get(f"{url}?{query}")
    assert answer.status_code == 400
    assert answer.headers["x-amzn-errortype"] == "BadRequestException"
    assert httpx.get(f"{url}?PageSize=1000&StartDate=2026-01-01T00:00:00").status_code == 200


def test_an_erasure_goes_on_without_the_tenant(ses: SESV2Client) -> None:
    """SES does not have the account's tenant; the list of the AWS account loses the address."""
    lists = SesSuppressions()
    vars(lists)["_ses"] = ses
    ses.put_suppressed_destination(EmailAddress="ADA@example.com", Reason="BOUNCE")
    assert lists.remove_spellings("ada@example.com", "gone")
    assert listed(ses) == []
    assert [*lists.all("gone")] == []


SENDER = "post@sender.example"


def feedback(inbox: httpx.Client) -> list[dict[str, Any]]:
    """Return what SES sent to the sender."""
    items: list[dict[str, Any]] = inbox.get("/messages", params={"to": SENDER}).json()["items"]
    return items


@pytest.mark.parametrize(
    ("recipient", "subject"),
    [
        ("bounce@simulator.amazonses.com", "Delivery Status Notification (Failure)"),
        ("suppressionlist@simulator.amazonses.com", "Delivery Status Notification (Failure)"),
        ("complaint@simulator.amazonses.com", "Complaint Notification"),
        ("success@simulator.amazonses.com", None),
    ],
)
def test_a_sender_gets_feedback_by_mail(
    ses: SESV2Client, send: Send, inbox: httpx.Client, recipient: str, subject: str | None
) -> None:
    assert ses.get_email_identity(EmailIdentity="sender.example")["FeedbackForwardingStatus"]
    send(recipient)
    expected = [("MAILER-DAEMON@amazonses.com", subject)] if subject else []
    assert [(mail["from"], mail["subject"]) for mail in feedback(inbox)] == expected
    ses.put_email_identity_feedback_attributes(
        EmailIdentity="sender.example", EmailForwardingEnabled=False
    )
    assert not ses.get_email_identity(EmailIdentity="sender.example")["FeedbackForwardingStatus"]
    send(recipient)
    assert len(feedback(inbox)) == len(expected)


def test_an_address_has_a_setting_of_its_own(
    ses: SESV2Client, send: Send, inbox: httpx.Client
) -> None:
    ses.put_email_identity_feedback_attributes(
        EmailIdentity="sender.example", EmailForwardingEnabled=False
    )
    ses.create_email_identity(EmailIdentity=SENDER)
    send("bounce@simulator.amazonses.com")
    assert len(feedback(inbox)) == 1


def test_who_is_told_in_no_other_way_gets_the_mail(
    ses: SESV2Client, send: Send, inbox: httpx.Client
) -> None:
    ses.put_email_identity_feedback_attributes(
        EmailIdentity="sender.example", EmailForwardingEnabled=False
    )
    ses.create_configuration_set(ConfigurationSetName="silent")
    send("bounce@simulator.amazonses.com", ConfigurationSetName="silent")
    assert len(feedback(inbox)) == 1


def test_feedback_is_no_email_of_the_account(
    ses: SESV2Client, send: Send, inbox: httpx.Client
) -> None:
    send("bounce@simulator.amazonses.com")
    assert ses.get_account()["SendQuota"]["SentLast24Hours"] == 1
    raw = inbox.get(f"/messages/{feedback(inbox)[0]['id']}/raw").content
    assert b"text/rfc822-headers" in raw
    assert RAW.rpartition(b"\r\n\r\n")[2] not in raw
