"""Emails that are made to grow, to nest or to be slow, each accepted and built as in production.

One process accepts each as the API or the relay does and then does what the worker does with a
suspected job: a copy of the process, which has bounds, reads the payload of the job, builds the
message and makes SES's request. The memory is the peak of these steps (VmHWM of Linux, after a
reset) above what the process had before the first bomb. What a bomb leaves in the heap counts for
the next one too, so the figures are upper bounds.
"""

import base64
import gc
import multiprocessing
import os
import pickle
from base64 import b64decode
from binascii import a2b_qp
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders

from local import template
from pillarbox.adapters.aws import make_client
from pillarbox.adapters.child_process import run_in_child
from pillarbox.adapters.ses.mailer import SesMailer
from pillarbox.adapters.sqs.jobs import read_payload, write_payload
from pillarbox.application.delivery.build_message import build_raw
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.mail import Mail
from pillarbox.domain.messages.message import Message
from pillarbox.http.messages.wire import SendEmailRequest
from pillarbox.http.wire import validate
from pillarbox.rendering.template_check import check_template
from tests.allocations import forget_peak, memory
from tests.fakes import builders
from tests.fakes.stores import FakeJobs
from tests.fakes.world import World
from tests.loops import for_each

MAX_HTML = 2 * 1024 * 1024
MEMORY = 256 * 1024 * 1024
#: SES accepts a raw message of 40 MB.
MAX_MESSAGE = 40_000_000
_TO: Final = "ann@example.com"
#: No request leaves the process.
_CREDENTIALS: Final = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "eu-west-1",
}
#: The memory of this process before its first bomb.
_before: Final[list[int]] = []


@dataclass(frozen=True, kw_only=True)
class Bomb:
    """One email: the body of a request, or a message over SMTP."""

    request: Mapping[str, Any] = field(default_factory=dict)
    #: The HTML of the saved template that the request names.
    template: str | None = None
    smtp: bytes | None = None


def _filled(unit: str, before: str = "") -> str:
    """Repeat a unit, so that the whole is as large as HTML may be."""
    return before + unit * ((MAX_HTML - len(before.encode())) // len(unit.encode()))


def _levels(before: str, after: str) -> str:
    """Open as many levels as can be closed again within the size."""
    count = MAX_HTML // len((before + after).encode()) - 1
    return before * count + "y" + after * count


def _file(size: int, **changes: object) -> dict[str, object]:
    content = base64.b64encode(b"%PDF" + b"x" * (size - 4)).decode()
    return {"filename": "a.pdf", "contentType": "application/pdf", "content": content} | changes


def _request(**changes: object) -> Bomb:
    return Bomb(request={"to": _TO, "subject": "Hello", "html": "<p>x</p>"} | changes)


def _saved(template: str, **variables: object) -> Bomb:
    return Bomb(request={"to": _TO, "variables": variables}, template=template)


#: Those that need the most memory or time, and those that could not be sent before.
_WORST: Final[Mapping[str, Callable[[], Bomb]]] = {
    "bare lines in wide lists": lambda: _request(
        html=_filled("\na", ("<ol>" + "<li>" * 9_999) * 8 + "<pre>")
    ),
    "links in links": lambda: _request(html=_levels("x<table><td><a href=http:u>", "</a></table>")),
    "numbers with many digits": lambda: _request(html=_filled("&#" + "9" * 5_000 + ";")),
    "lines of two octets": lambda: _request(html=_filled("\nü")),
    "ten full files": lambda: _request(
        html=_filled("<li>a", "<ol>"),
        attachments=[
            _file(1_048_576, filename=f"{n}.pdf", inline=True, contentId=str(n)) for n in range(10)
        ],
    ),
    "long header fields": lambda: _request(
        to=[f"{'a' * 64}@{'b' * 60}.{'c' * 60}.example" for _ in range(50)],
        subject="😀" * 998,
        fromName="ü" * 1_024,
        replyTo=f"{'a' * 64}@example.com",
    ),
    "values that grow in upper case": lambda: _saved(
        "{{ text | upper }}" * 6, text="\u0390" * 20_000
    ),
    "a large message over SMTP": lambda: Bomb(
        smtp=f"From: hello@shop.example\r\nTo: {_TO}\r\nSubject: Hello\r\n"
        "MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n".encode()
        + b"x\r\n" * ((16 * 1024 - 1) * 1024 // 3)
    ),
}
_REFUSED: Final[Mapping[str, Callable[[], Bomb]]] = {
    "one octet too many": lambda: _request(html="x" * (MAX_HTML + 1)),
    "a template over its limit": lambda: _saved(
        "{% for row in rows %}" + "{{ text }}" * 100 + "{% endfor %}",
        rows=[{"a": "a"}] * 1_000,
        text="x" * 10_000,
    ),
    "a list for a text": lambda: _saved("{{ text }}", text=["a"]),
    "an object for a text": lambda: _saved("{{ text }}", text={"a": 1}),
    "a text for a list": lambda: _saved("{% for row in rows %}x{% endfor %}", rows="abc"),
    "a number for a list": lambda: _saved("{% for row in rows %}x{% endfor %}", rows=5),
    "rows of other types": lambda: _saved(
        "{% for row in rows %}{{ row.a }}{% endfor %}", rows=[{"a": 1}, {"a": [1]}]
    ),
}


@dataclass(frozen=True)
class Built:
    """What became of a bomb that was accepted, and its peak of memory in octets."""

    raw: bytes
    memory: int
    #: The peak of the whole process.
    whole: int


def _explode() -> Iterator[tuple[str, Built]]:
    """Try the worst bombs one after the other in a process of their own."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawn, initializer=_prepare) as process:
        for name in _WORST:
            yield name, process.submit(_try, name).result()


def test_every_accepted_message_can_be_built() -> None:
    """Each becomes a message for SES, in at most 256 MB, and fits into the worker."""
    worker = template.load()["Globals"]["Function"]["MemorySize"] * 1024 * 1024
    for name, built in _explode():
        assert not _fault(built.raw), name
        assert built.memory <= MEMORY, name
        assert MEMORY + (built.whole - built.memory) < worker


@for_each("name", [*_REFUSED])
def test_what_could_not_be_sent_is_refused(name: str) -> None:
    """HTML over its limit and values of the wrong type are refused before they are accepted."""
    with pytest.raises(ServiceError):
        _accept(_REFUSED[name]())


def _prepare() -> None:
    """Make the imports and connections of a first mail; remember the memory then."""
    os.environ.update(_CREDENTIALS)
    _deliver(builders.mail(), builders.message())
    _before.append(memory("VmRSS"))


def _try(name: str) -> Built:
    mail, message = _accept(_WORST[name]())
    payload = write_payload(mail)
    del mail
    gc.collect()
    used = memory("VmRSS")
    # The time is of the clock, which runs for other programs too.
    measured = run_in_child(lambda: pickle.dumps(_measure(payload, message)), seconds=120)
    raw, growth = pickle.loads(measured)  # noqa: S301  it is ours
    return Built(raw, used + growth - _before[0], used + growth)


def _measure(payload: bytes, message: Message) -> tuple[bytes, int]:
    """Return the message, and how much more memory this process had for it."""
    forget_peak()
    used = memory("VmRSS")
    raw = _deliver(read_payload(payload), message)
    return raw, memory("VmHWM") - used


def _accept(bomb: Bomb) -> tuple[Mail, Message]:
    world = World()
    if bomb.smtp is not None:
        submission = world.smtp_submission
        read = submission.prepare(world.live, ("ann@example.com",), bytearray(bomb.smtp))
        submission.submit(world.live, read)
    else:
        body: dict[str, Any] = dict(bomb.request)
        if bomb.template is not None:
            template_id = new_id(builders.NOW)
            checked = check_template("Hello", bomb.template)
            world.store.templates[builders.ACCOUNT, UUID(str(template_id))] = builders.template(
                template_id,
                subject="Hello",
                html=bomb.template,
                variables=checked.names,
                required=checked.required,
            )
            body["templateId"] = str(template_id)
        request = validate(SendEmailRequest, body).to_domain(body)
        world.single_send.submit(world.live, request, None, str)
    (job,) = world.store.queue
    return FakeJobs(world.store).load(job), world.message()


def _deliver(mail: Mail, message: Message) -> bytes:
    """Build a message and make the request to SES, which is not sent."""
    raw = build_raw(mail, message)
    mailer = SesMailer("pillarbox")
    client = make_client("sesv2")
    client.meta.events.register("before-send.sesv2.SendEmail", _answer)
    vars(mailer)["_ses"] = client
    mailer.send(message, message.recipients, raw, None)
    return raw


def _answer(**_: object) -> AWSResponse:
    response = AWSResponse("https://email.invalid", 200, HTTPHeaders(), None)
    response._content = b'{"MessageId": "1"}'  # type: ignore[attr-defined]
    return response


def _fault(raw: bytes) -> str:
    """Return why SES or a reader could not take a message, or nothing."""
    if len(raw) > MAX_MESSAGE:
        return f"{len(raw)} octets"
    # No body has "=_", with which the service starts each boundary. A parser would look for
    # boundaries in each line, which takes as long as the bomb.
    sizes = []
    for part in raw.split(b"\r\n--=_")[1:]:
        head, _, body = part.partition(b"\r\n\r\n")
        if b"Content-Type: text/" in head:
            octets = b64decode(body) if b"base64" in head else a2b_qp(body)
            sizes.append(len(octets.replace(b"\r\n", b"\n")))
    if not sizes:
        return ""  # over SMTP the parts are the sender's
    text, html = sizes
    return f"a text of {text} octets for {html} of HTML" if text > 2 * html else ""
