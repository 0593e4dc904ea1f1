"""Handing emails to SES: `delivery.ports.Mailer`, over real sockets to a stand-in for SES."""

import base64
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.config import Config

from local.ses.account import StoredAccount
from local.ses.checks import check_message
from local.ses.errors import SesError
from local.ses.events import records
from local.ses.sending import accept, parse
from local.ses.store import MailStore
from pillarbox.adapters.ses import mailer as ses
from pillarbox.adapters.ses.events import read_provider_event
from pillarbox.adapters.ses.mailer import SIMULATOR, SesMailer
from pillarbox.application.delivery.ports import (
    ProviderEvent,
    SendRejected,
    SendThrottled,
    SendUncertain,
)
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, SENDER
from tests.servers import Handler, serving

MESSAGE = builders.message(attempt=2)
RAW = b"Subject: x\r\n\r\n\x00\xff"
TO = ("ann@example.com", "bob@example.com")


@dataclass
class Provider:
    """A stand-in for SES: its response, and the requests that it received."""

    #: Status, error type and body. None: close the connection; "hang": never respond; "cut":
    #: stop in the middle.
    response: tuple[int, str, bytes] | str | None = (200, "", b'{"MessageId": "0102-x"}')
    requests: list[Any] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    stand_in = Provider()

    class Ses(Handler):
        def do_POST(self) -> None:
            stand_in.requests.append((self.path, json.loads(self.read())))
            if isinstance(stand_in.response, tuple):
                status, kind, body = stand_in.response
                self.write(status, body, x_amzn_ErrorType=kind)
            elif stand_in.response == "hang":
                stand_in.stop.wait(30)
            elif stand_in.response == "cut":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{")

    with serving(Ses) as url:
        let_call(monkeypatch, url)
        yield stand_in
        stand_in.stop.set()


def let_call(patch: pytest.MonkeyPatch, url: str) -> None:
    """Let the client of SES call a server."""
    patch.setenv("AWS_ACCESS_KEY_ID", "testing")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    patch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    patch.setenv("AWS_ENDPOINT_URL_SESV2", url)


def send(tenant: str | None = None) -> str:
    return SesMailer("pillarbox").send(MESSAGE, TO, RAW, tenant)


def test_an_email_is_handed_over_raw_with_its_tags(provider: Provider) -> None:
    assert send() == "0102-x"
    ((path, body),) = provider.requests
    assert path == "/v2/email/outbound-emails"
    assert body == {
        "FromEmailAddress": SENDER,
        "Destination": {"ToAddresses": list(TO)},
        "Content": {"Raw": {"Data": base64.b64encode(RAW).decode()}},
        "ConfigurationSetName": "pillarbox",
        "EmailTags": [
            {"Name": "account", "Value": ACCOUNT},
            {"Name": "message", "Value": str(MESSAGE.message_id)},
            {"Name": "attempt", "Value": "2"},
        ],
    }


@pytest.mark.parametrize("response", [(200, "", b'{"MessageId": "1"}'), (429, "", b"{}"), None])
def test_a_probe_goes_to_the_mailbox_simulator(provider: Provider, response: Any) -> None:
    """SES accepts it as any email of the sender, its events can be read, and no error matters."""
    provider.response = response
    SesMailer("pillarbox").send_probe(MESSAGE)
    ((_, body),) = provider.requests
    mailbox = MailStore(account=StoredAccount(review="GRANTED"))
    mailbox.create_configuration_set("pillarbox")
    mailbox.create_identity(SENDER)
    mail = accept(mailbox, parse(json.dumps(body).encode()))
    assert mail.destination.addresses == (SIMULATOR,)
    read = [read_provider_event(json.dumps(record)) for record in records(mail, mailbox)]
    events = [event for event in read if isinstance(event, ProviderEvent)]
    assert len(events) == len(read)
    assert {event.account_id for event in events} == {ACCOUNT}
    assert MESSAGE.message_id not in {event.message_id for event in events}


#: Status and type of an error of SES, and what the worker is told.
NOT_FINAL = [
    (429, "TooManyRequestsException", SendThrottled),
    (400, "LimitExceededException", SendThrottled),
    (400, "SendingPausedException", SendThrottled),
    (400, "AccountSuspendedException", SendThrottled),
    (400, "RequestExpired", SendThrottled),
    (404, "NotFoundException", SendThrottled),
    (408, "RequestTimeoutException", SendThrottled),
    (400, "ThrottlingException", SendThrottled),
    (403, "AccessDeniedException", SendThrottled),
    (403, "ExpiredTokenException", SendThrottled),
    (403, "SignatureDoesNotMatch", SendThrottled),
    (403, "UnrecognizedClientException", SendThrottled),
    (403, "InvalidSignatureException", SendThrottled),
    (403, "RequestExpired", SendThrottled),
    (429, "SomethingNew", SendThrottled),
    (500, "InternalFailure", SendUncertain),
    (500, "InternalServiceErrorException", SendUncertain),
    (502, "", SendUncertain),
    (503, "ServiceUnavailable", SendUncertain),
    (504, "TooManyRequestsException", SendUncertain),
]
REJECTED = [
    ("MessageRejected", "message_rejected"),
    ("MailFromDomainNotVerifiedException", "mail_from_domain_not_verified"),
    ("BadRequestException", "bad_request"),
]


@pytest.mark.parametrize(("status", "kind", "told"), NOT_FINAL)
def test_other_errors_are_retryable_or_uncertain(
    provider: Provider, status: int, kind: str, told: type[Exception]
) -> None:
    """What passes or an operator repairs is retryable; after a 5xx SES may have the email."""
    provider.response = (status, kind, b'{"message": "said by SES"}')
    with pytest.raises(told):
        send()
    assert len(provider.requests) == 1


@pytest.mark.parametrize(("kind", "code"), REJECTED)
def test_rejections_are_final(provider: Provider, kind: str, code: str) -> None:
    provider.response = (400, kind, b'{"message": "said by SES"}')
    with pytest.raises(SendRejected) as rejection:
        send()
    assert (rejection.value.code, rejection.value.reason) == (code, "said by SES")
    assert len(provider.requests) == 1


def test_a_tenant_is_named(provider: Provider) -> None:
    send("pillarbox-shop")
    send()
    named = [body.get("TenantName") for _, body in provider.requests]
    assert named == ["pillarbox-shop", None]


@pytest.mark.parametrize(
    ("status", "kind", "message"),
    [
        (403, "AccessDeniedException", "Tenant not associated with resources [arn:x]"),
        (404, "NotFoundException", "said by SES"),
        (400, "BadRequestException", "said by SES"),
        (400, "BadRequestException", "Tenant <t> has no identity: Illegal filename 'x.exe'."),
        (400, "MessageRejected", "Email address is not verified."),
        (400, "MailFromDomainNotVerifiedException", "said by SES"),
        (400, "SomethingNewException", ""),
        (400, "SendingPausedException", "said by SES"),
    ],
)
def test_an_unknown_error_of_a_tenant_is_retryable(
    provider: Provider, status: int, kind: str, message: str
) -> None:
    """It may be about the tenant, whatever its words, and the log gets its code."""
    provider.response = (status, kind, json.dumps({"message": message}).encode())
    with pytest.raises(SendThrottled) as throttled:
        send("pillarbox-shop")
    assert (throttled.value.code, throttled.value.too_fast) == (kind, False)


#: Emails that SES never takes. The stand-in has its words for them.
ABOUT_THE_MAIL = {
    "too large": b"From: a@b.example\r\n\r\n" + b"x\r\n" * (14 * 1024 * 1024),
    "no author": b"Subject: x\r\n\r\n",
    "two subjects": b"From: a@b.example\r\nSubject: x\r\nSubject: y\r\n\r\n",
    "no header": b"From: a@b.example\r\nno header\r\n\r\n",
    "no domain": b"From: a@b.example\r\nTo: ann\r\n\r\n",
    "dots": b"From: a@b.example\r\nTo: a..b@c.example\r\n\r\n",
    "blocked": b"From: a@b.example\r\nContent-Type: x/y; name=run.exe\r\n\r\n",
}


@pytest.mark.parametrize("raw", ABOUT_THE_MAIL.values(), ids=ABOUT_THE_MAIL)
def test_an_error_about_the_mail_is_final_with_a_tenant(provider: Provider, raw: bytes) -> None:
    with pytest.raises(SesError) as refusal:
        check_message(raw)
    said = refusal.value.message
    provider.response = (400, "BadRequestException", json.dumps({"message": said}).encode())
    with pytest.raises(SendRejected) as rejection:
        send("pillarbox-shop")
    assert (rejection.value.code, rejection.value.reason) == ("bad_request", said)


@pytest.mark.parametrize("broken", [None, "hang", "cut", (200, "", b"no JSON"), (200, "", b"{}")])
def test_no_response_is_uncertain(
    provider: Provider, monkeypatch: pytest.MonkeyPatch, broken: Any
) -> None:
    """After no, an incomplete or an unreadable response SES may have taken the email."""
    monkeypatch.setattr(
        ses, "_WITHOUT_RETRIES", ses._WITHOUT_RETRIES.merge(Config(read_timeout=0.3))
    )
    provider.response = broken
    with pytest.raises(SendUncertain) as lost:
        send()
    assert lost.value.error in {"ConnectionClosedError", "ReadTimeoutError", "UnreadableResponse"}
    assert len(provider.requests) == 1


#: How many emails are sent at the same time, and the seconds until the next ones.
BURSTS = ((3, 2), (1, 2), (1, 2), (3, 1), (3, 60), (1, 0), (2, 2), (2, 2), (1, 2), (3, 0))


def test_no_email_is_lost_on_an_idle_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """If SES drops connections that were idle for 5 seconds, unheard, each email has its answer.

    A frozen function does not hear that a connection is closed. Busy connections are used again.
    """
    now, connections = [1000.0], []

    class Ses(Handler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            connections.append(self)
            self.used = now[0]

        def do_POST(self) -> None:
            self.read()
            together.wait()
            if now[0] - self.used > 5:
                self.close_connection = True
                return
            self.used = now[0]
            self.write(200, b'{"MessageId": "1"}')

    with serving(Ses) as url, ThreadPoolExecutor(3) as pool:
        let_call(monkeypatch, url)
        mailer = SesMailer("pillarbox", clock=lambda: now[0])
        for count, wait in BURSTS:
            together = threading.Barrier(count, timeout=30)
            sends = [pool.submit(mailer.send, MESSAGE, TO, RAW, None) for _ in range(count)]
            assert [send.result() for send in sends] == ["1"] * count
            now[0] += wait
        mailer._ses.close()
    assert 3 < len(connections) < sum(count for count, _ in BURSTS)


def test_no_connection_is_retryable(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", "http://127.0.0.1:9")
    with pytest.raises(SendThrottled):
        send()
    assert not provider.requests


def test_a_request_has_time_outs() -> None:
    """A request ends well within the time that its function may run."""
    assert vars(ses._WITHOUT_RETRIES)["read_timeout"] == 20
    assert vars(ses._WITHOUT_RETRIES)["connect_timeout"] == 3
