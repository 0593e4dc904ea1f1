"""Handing mail to SES: `ports.Mailer`, over real sockets to a provider of our own making."""

import base64
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from botocore.config import Config

from pillarbox.adapters.ses import mailer as ses
from pillarbox.adapters.ses.mailer import SesMailer
from pillarbox.application.ports import SendRejected, SendThrottled, SendUncertain
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, SENDER
from tests.fakes.stores import FakeMailer

MESSAGE = builders.message(attempt=2)
RAW = b"Subject: x\r\n\r\n\x00\xff"
TO = ("ann@example.com", "bob@example.com")


@dataclass
class Provider:
    """What answers in SES's place, and what it was asked."""

    #: Status, error type and body; None: hang up; "hang": never answer.
    answer: tuple[int, str, bytes] | str | None = (200, "", b'{"MessageId": "0102-x"}')
    requests: list[Any] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    told = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            told.requests.append((self.path, json.loads(self.rfile.read(length))))
            if isinstance(told.answer, tuple):
                status, kind, body = told.answer
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("x-amzn-ErrorType", kind)
                self.end_headers()
                self.wfile.write(body)
            elif told.answer == "hang":
                told.stop.wait(30)
            elif told.answer == "cut":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", f"http://127.0.0.1:{server.server_port}")
    yield told
    told.stop.set()
    server.shutdown()
    server.server_close()
    thread.join(10)


def send() -> str:
    return SesMailer("pillarbox").send(MESSAGE, TO, RAW)


def test_a_mail_is_handed_over_raw_with_its_tags(provider: Provider) -> None:
    """SendEmail gets the octets, the envelope, the configuration set and three tags."""
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


THROTTLED = [
    (429, "TooManyRequestsException"),
    (400, "LimitExceededException"),
    (400, "SendingPausedException"),
    (400, "AccountSuspendedException"),
    (400, "ThrottlingException"),
    (403, "AccessDeniedException"),
    (403, "ExpiredTokenException"),
    (403, "SignatureDoesNotMatch"),
    (403, "UnrecognizedClientException"),
    (403, "InvalidSignatureException"),
    (403, "RequestExpired"),
    (429, "SomethingNew"),
]
UNCERTAIN = [
    (500, "InternalFailure"),
    (500, "InternalServiceErrorException"),
    (502, ""),
    (503, "ServiceUnavailable"),
    (504, "TooManyRequestsException"),
]
REFUSED = [
    ("MessageRejected", "message_rejected"),
    ("MailFromDomainNotVerifiedException", "mail_from_domain_not_verified"),
    ("BadRequestException", "bad_request"),
    ("NotFoundException", "not_found"),
]


def answer(provider: Provider, status: int, kind: str) -> None:
    provider.answer = (status, kind, b'{"message": "said by SES"}')


@pytest.mark.parametrize(("status", "kind"), THROTTLED)
def test_limits_pauses_and_rights_are_for_later(provider: Provider, status: int, kind: str) -> None:
    """What passes by itself or an operator mends was not taken, and is asked once."""
    answer(provider, status, kind)
    with pytest.raises(SendThrottled):
        send()
    assert len(provider.requests) == 1


@pytest.mark.parametrize(("status", "kind"), UNCERTAIN)
def test_server_errors_are_uncertain(provider: Provider, status: int, kind: str) -> None:
    """A 5xx may come after the mail was taken: never asked twice."""
    answer(provider, status, kind)
    with pytest.raises(SendUncertain):
        send()
    assert len(provider.requests) == 1


@pytest.mark.parametrize(("kind", "code"), REFUSED)
def test_refusals_are_for_good(provider: Provider, kind: str, code: str) -> None:
    """SES's other errors are final, with its words."""
    answer(provider, 400, kind)
    with pytest.raises(SendRejected) as refusal:
        send()
    assert (refusal.value.code, refusal.value.reason) == (code, "said by SES")
    assert len(provider.requests) == 1


@pytest.mark.parametrize("broken", [None, "hang", "cut", (200, "", b"no JSON"), (200, "", b"{}")])
def test_no_answer_is_uncertain(
    provider: Provider, monkeypatch: pytest.MonkeyPatch, broken: Any
) -> None:
    """Hung up, silent, cut off or unreadable: the mail may have been taken, and is not resent."""
    monkeypatch.setattr(
        ses, "_WITHOUT_RETRIES", ses._WITHOUT_RETRIES.merge(Config(read_timeout=0.3))
    )
    provider.answer = broken
    with pytest.raises(SendUncertain):
        send()
    assert len(provider.requests) == 1


def test_nobody_there_is_for_later(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """When no connection is made, nothing was taken."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", "http://127.0.0.1:9")
    with pytest.raises(SendThrottled):
        send()
    assert not provider.requests


def test_an_attempt_ends_in_time() -> None:
    """One attempt waits for an answer no longer than the function that makes it may run."""
    assert vars(ses._WITHOUT_RETRIES)["read_timeout"] == 20
    assert vars(ses._WITHOUT_RETRIES)["connect_timeout"] == 3


def test_the_fake_keeps_what_it_took() -> None:
    """The fake gives a new id for each mail, and takes each once."""
    fake = FakeMailer()
    assert [fake.send(MESSAGE, TO, RAW) for _ in range(2)] == ["ses-1", "ses-2"]
    assert fake.taken == [(MESSAGE, TO, RAW)] * 2
