"""The SES stand-in as the real client sees it: what is kept, what is refused, and the rest."""

from collections.abc import Callable

import httpx
import pytest
from botocore.exceptions import ClientError
from mypy_boto3_sesv2 import SESV2Client

from local.ses.errors import SesError
from local.ses.sending import SesSendEmailRequest, accept
from local.ses.store import MailStore
from tests.integration.local.local_ses import RAW, LocalSes

Send = Callable[..., str]


def refusal(caught: pytest.ExceptionInfo[ClientError]) -> tuple[str, int, str]:
    """The name the SDK raised, the status and the message."""
    answer = caught.value.response
    status = answer["ResponseMetadata"]["HTTPStatusCode"]
    return type(caught.value).__name__, status, answer["Error"]["Message"]


def test_raw_mail_is_kept_byte_for_byte(send: Send, local_ses: LocalSes) -> None:
    """Whatever bytes are sent are the bytes kept, odd line ends and all."""
    raw = RAW + bytes(range(256)) + b"\r\n.\r\n\n\r\r"
    mail = local_ses.mailbox.get(send(raw=raw))
    assert mail is not None
    assert mail.raw == raw


def test_the_envelope_is_kept(send: Send, local_ses: LocalSes) -> None:
    """To, Cc and Bcc of the request are the recipients, whatever the headers say."""
    destination = {
        "ToAddresses": ["a@example.com"],
        "CcAddresses": ["C <c@example.com>"],
        "BccAddresses": ["b@example.com"],
    }
    mail = local_ses.mailbox.get(send(Destination=destination))
    assert mail is not None
    assert mail.destination.addresses == ("a@example.com", "c@example.com", "b@example.com")
    assert mail.tags["message"] == "0190f2c1-0000-7000-8000-000000000001"


def test_recipients_come_from_the_headers_without_a_destination(
    send: Send, local_ses: LocalSes
) -> None:
    """A request without Destination goes to those that the headers name."""
    mail = local_ses.mailbox.get(send(Destination={}))
    assert mail is not None
    assert mail.destination.to == ("ada@example.com",)


def test_message_ids_differ_and_look_like_those_of_ses(send: Send) -> None:
    """Two mails get two ids of the form that SES gives."""
    first, second = send(), send()
    assert first != second
    assert first.startswith("0100")
    assert first.endswith("-000000")


def test_an_unverified_sender_is_refused(send: Send) -> None:
    """MessageRejected names the address that is not verified, as SES words it."""
    with pytest.raises(ClientError) as caught:
        send(FromEmailAddress="eve@other.example")
    name, status, message = refusal(caught)
    assert (name, status) == ("MessageRejected", 400)
    assert message.startswith("Email address is not verified.")
    assert message.endswith("in region US-EAST-1: eve@other.example")


def test_an_unverified_from_header_is_refused(send: Send) -> None:
    """The From header is checked too, not the envelope alone."""
    with pytest.raises(ClientError) as caught:
        send(raw=RAW.replace(b"post@sender.example>", b"eve@other.example>", 1))
    assert refusal(caught)[0] == "MessageRejected"


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
def test_who_may_send(  # the domain without case, the local part as it is written
    ses: SESV2Client, send: Send, identity: str, sender: str, *, accepted: bool
) -> None:
    """An address may send when it, its domain or a domain above is verified."""
    ses.create_email_identity(EmailIdentity=identity)
    raw = RAW.replace(b"post@sender.example>", f"{sender}>".encode(), 1)
    if accepted:
        assert send(raw=raw, FromEmailAddress=sender)
    else:
        with pytest.raises(ses.exceptions.MessageRejected):
            send(raw=raw, FromEmailAddress=sender)


@pytest.mark.parametrize(
    ("overrides", "expected", "words"),
    [
        (
            {"Destination": {"BccAddresses": [f"r{n}@example.com" for n in range(51)]}},
            "BadRequestException",
            "Recipient count exceeds 50",
        ),
        ({"raw": b"Subject: x\r\n\r\nno sender"}, "BadRequestException", "header 'From'"),
        ({"raw": b"no header at all"}, "BadRequestException", "header 'From'"),
        ({"raw": b"From: b@sender.example\r\n" + RAW}, "BadRequestException", "Duplicate header"),
        ({"raw": RAW + b"x" * 1000}, "BadRequestException", "longer than 1000 bytes"),
        ({"Destination": {"ToAddresses": ["nobody"]}}, "BadRequestException", "@domain"),
        ({"Destination": {"ToAddresses": ["ä@example.com"]}}, "BadRequestException", "ASCII"),
        ({"ConfigurationSetName": "absent"}, "NotFoundException", "<absent> does not exist"),
        ({"EmailTags": [{"Name": "a b", "Value": "x"}]}, "BadRequestException", "tag name"),
        ({"EmailTags": [{"Name": "a", "Value": "x@y"}]}, "BadRequestException", "tag value"),
        (
            {"Content": {"Simple": {"Subject": {"Data": "s"}, "Body": {}}}},
            "BadRequestException",
            "Content.Raw",
        ),
    ],
    ids=lambda value: "" if isinstance(value, dict) else str(value),
)
def test_what_ses_refuses(
    send: Send, local_ses: LocalSes, overrides: dict[str, object], expected: str, words: str
) -> None:
    """Each is refused by the error's own name, and nothing is kept."""
    with pytest.raises(ClientError) as caught:
        send(**overrides)
    name, _, message = refusal(caught)
    assert name == expected
    assert words in message
    assert local_ses.mailbox.newest_first() == []


def test_fifty_recipients_are_taken(send: Send) -> None:
    """The limit itself is allowed."""
    assert send(*(f"r{n}@example.com" for n in range(50)))


def test_a_mail_over_40_mb_is_refused() -> None:
    """SES's limit for raw mail is allowed, one byte more is a BadRequestException."""
    mailbox = MailStore()
    mailbox.create_identity("sender.example")
    limit = 40 * 1024 * 1024
    raw = (RAW + b"\r\n" * (limit // 2))[:limit]
    for data, taken in ((raw, True), (raw + b"y", False)):
        request = SesSendEmailRequest.model_validate({"Content": {"Raw": {"Data": data}}})
        if taken:
            assert len(accept(mailbox, request).raw) == limit
        else:
            with pytest.raises(SesError, match="more than 41943040 bytes") as caught:
                accept(mailbox, request)
            assert caught.value.error == "BadRequestException"


def test_identities_have_a_life(ses: SESV2Client) -> None:
    """Created, verified at once, listed, refused a second time, deleted, absent."""
    created = ses.create_email_identity(EmailIdentity="new@domain.example")
    assert created["IdentityType"] == "EMAIL_ADDRESS"
    assert created["VerifiedForSendingStatus"] is True
    assert ses.get_email_identity(EmailIdentity="new@domain.example")["VerificationStatus"] == (
        "SUCCESS"
    )
    listed = ses.list_email_identities()["EmailIdentities"]
    assert [each["IdentityName"] for each in listed] == ["new@domain.example", "sender.example"]
    with pytest.raises(ses.exceptions.AlreadyExistsException):
        ses.create_email_identity(EmailIdentity="new@domain.example")
    ses.delete_email_identity(EmailIdentity="new@domain.example")
    with pytest.raises(ses.exceptions.NotFoundException):
        ses.get_email_identity(EmailIdentity="new@domain.example")
    with pytest.raises(ses.exceptions.NotFoundException):
        ses.delete_email_identity(EmailIdentity="new@domain.example")


def test_unverified_example_stays_pending(ses: SESV2Client) -> None:
    """What ends in unverified.example waits for ever, as for someone to click."""
    created = ses.create_email_identity(EmailIdentity="x@sub.unverified.example")
    assert created["VerifiedForSendingStatus"] is False
    found = ses.get_email_identity(EmailIdentity="x@sub.unverified.example")
    assert found["VerificationStatus"] == "PENDING"


def test_configuration_sets_have_event_destinations(ses: SESV2Client) -> None:
    """What is created is what is read back; absent and doubled ones are refused."""
    ses.create_configuration_set(ConfigurationSetName="own")
    bus = "arn:aws:events:us-east-1:000000000000:event-bus/default"
    ses.create_configuration_set_event_destination(
        ConfigurationSetName="own",
        EventDestinationName="bus",
        EventDestination={
            "Enabled": True,
            "MatchingEventTypes": ["SEND"],
            "EventBridgeDestination": {"EventBusArn": bus},
        },
    )
    assert ses.get_configuration_set(ConfigurationSetName="own")["ConfigurationSetName"] == "own"
    (found,) = ses.get_configuration_set_event_destinations(ConfigurationSetName="own")[
        "EventDestinations"
    ]
    assert found["Name"] == "bus"
    assert found["EventBridgeDestination"] == {"EventBusArn": bus}
    with pytest.raises(ses.exceptions.AlreadyExistsException):
        ses.create_configuration_set(ConfigurationSetName="own")
    with pytest.raises(ses.exceptions.NotFoundException):
        ses.get_configuration_set(ConfigurationSetName="absent")


def test_suppressions_have_a_life(ses: SESV2Client) -> None:
    """Put, found in any case, listed by reason, deleted, absent."""
    ses.put_suppressed_destination(EmailAddress="gone/away@example.com", Reason="BOUNCE")
    found = ses.get_suppressed_destination(EmailAddress="Gone/Away@example.com")
    assert found["SuppressedDestination"]["Reason"] == "BOUNCE"
    assert found["SuppressedDestination"]["LastUpdateTime"].tzinfo is not None
    assert (
        ses.list_suppressed_destinations(Reasons=["COMPLAINT"])["SuppressedDestinationSummaries"]
        == []
    )
    (listed,) = ses.list_suppressed_destinations()["SuppressedDestinationSummaries"]
    assert listed["EmailAddress"] == "gone/away@example.com"
    ses.delete_suppressed_destination(EmailAddress="gone/away@example.com")
    with pytest.raises(ses.exceptions.NotFoundException):
        ses.get_suppressed_destination(EmailAddress="gone/away@example.com")


def test_the_account_counts_what_it_sent(ses: SESV2Client, send: Send) -> None:
    """GetAccount counts recipients, and says that sending is on."""
    send("a@example.com", "b@example.com")
    account = ses.get_account()
    assert account["SendQuota"]["SentLast24Hours"] == 2
    assert account["ProductionAccessEnabled"] is True
    assert account["SendingEnabled"] is True


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"Content": {"Raw": {"Data": "%%"}}}'])
def test_a_body_of_another_shape_is_refused(local_ses: LocalSes, body: bytes) -> None:
    """What no SDK sends is a 400 with an error's name, never a 500."""
    answer = httpx.post(f"{local_ses.ses_url}/v2/email/outbound-emails", content=body)
    assert answer.status_code == 400
    assert answer.headers["x-amzn-errortype"] == "SerializationException"


def test_unknown_operations_are_named(local_ses: LocalSes) -> None:
    """An operation that is not stood in for says so."""
    answer = httpx.get(f"{local_ses.ses_url}/v2/email/contact-lists")
    assert answer.status_code == 404
    assert "contact-lists" in answer.json()["message"]


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example"])
def test_other_hosts_are_refused(local_ses: LocalSes, host: str) -> None:
    """A name that a page pointed at this machine does not reach the API (DNS rebinding)."""
    answer = httpx.get(f"{local_ses.ses_url}/v2/email/account", headers={"Host": host})
    assert answer.status_code == 400
