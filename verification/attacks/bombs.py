# ruff: noqa: T201  a program that is run by hand prints its results
"""Bombs: every email that is accepted can be built, in bounded memory and time.

Each bomb has a fresh process, which accepts it as the API or the relay does and then does what
the worker does with a suspected job: a copy of the process, which has bounds, reads the payload of
the job and builds the message, and here it makes SES's request, too. The memory is the peak of
these three steps (VmHWM of Linux, after a reset) above what the process had before the first bomb.
It includes the payload and SES's request.
"""

import gc
import multiprocessing
import os
import pickle
import resource
import time
from base64 import b64decode
from binascii import a2b_qp
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders

from pillarbox.adapters.aws import make_client
from pillarbox.adapters.child_process import TIME, run_in_child
from pillarbox.adapters.ses.mailer import SesMailer
from pillarbox.adapters.sqs.job_format import read_payload, write_payload
from pillarbox.application.delivery.build_message import build_raw
from pillarbox.application.ports import BuildDied
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.mail import Mail
from pillarbox.domain.messages.message import Message
from pillarbox.http.messages.wire import SendEmailRequest
from pillarbox.http.validation import validate
from pillarbox.rendering.template_check import check_template
from pillarbox.rendering.text import MAX_GROWTH
from tests.fakes import builders
from tests.fakes.stores import FakeJobs
from tests.fakes.world import World
from verification.attacks.bomb_corpus import Bomb, bomb_named, corpus
from verification.attacks.tally import Options, Tally

#: SES accepts a raw message of 40 MB.
MAX_MESSAGE: Final = 40_000_000
MAX_MEMORY: Final = 256 * 1024 * 1024
MAX_CPU: Final = 2.0
#: No request leaves the process.
_CREDENTIALS: Final = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "eu-west-1",
}
#: In seconds of CPU, for the bombs of one process.
_PATIENCE: Final = 120
_RANDOM_BOMBS: Final = 100
#: The memory of this process before its first bomb.
_before: Final[list[int]] = []
_SPAWN: Final = multiprocessing.get_context("spawn")


@dataclass(frozen=True, kw_only=True)
class Result:
    """What became of one bomb."""

    name: str
    accepted: bool = False
    #: Why an accepted bomb cannot be sent.
    unsendable: str = ""
    octets: int = 0
    memory: int = 0
    #: The peak of the whole process.
    whole: int = 0
    seconds: float = 0.0


def count(results: Iterator[Result]) -> Tally:
    """Print results as they come, and sum them up."""
    tally = Tally("accepted but unsendable", "over 256 MB", "over 2 s of CPU")
    for result in results:
        tally["bombs tried"] += 1
        tally["accepted"] += result.accepted
        tally["over 256 MB"] += result.memory > MAX_MEMORY
        tally["over 2 s of CPU"] += result.seconds > MAX_CPU
        tally.raise_to("most bytes for one", result.memory)
        tally.raise_to("most bytes of a process", result.whole)
        tally.raise_to("largest message", result.octets)
        if result.unsendable:
            tally.find("accepted but unsendable", f"{result.name}: {result.unsendable}")
        print(
            f"{result.name:32} {'accepted' if result.accepted else 'refused':8}"
            f" {result.octets / 1e6:6.1f} MB, memory {result.memory >> 20:4} MB,"
            f" {result.seconds:5.2f} s {result.unsendable}",
            flush=True,
        )
    return tally


def explode(*names: str) -> Iterator[Result]:
    """Try bombs one after the other in one process of their own.

    What a bomb leaves in the heap counts for the next one too, so several bombs give an upper
    bound of the memory.
    """
    with ProcessPoolExecutor(1, _SPAWN, initializer=_prepare) as process:
        for name in names:
            try:
                yield process.submit(_try, name).result()
            except BrokenProcessPool as death:
                yield Result(name=name, accepted=True, unsendable=str(death))


def _prepare() -> None:
    """Make the imports and connections of a first mail; remember the memory then."""
    resource.setrlimit(resource.RLIMIT_CPU, (_PATIENCE, _PATIENCE))
    os.environ.update(_CREDENTIALS)
    _deliver(builders.mail(), builders.message())
    _before.append(_memory("VmRSS"))


def _try(name: str) -> Result:
    bomb = bomb_named(name)
    started = time.process_time()
    try:
        mail, message = _accept(bomb)
    except ServiceError:
        return Result(name=name, seconds=time.process_time() - started)
    payload = write_payload(mail)
    del mail, bomb
    gc.collect()
    used = _memory("VmRSS")
    try:  # `TIME` is of the clock, which runs for other programs too
        measured = run_in_child(lambda: pickle.dumps(_measure(payload, message)), seconds=_PATIENCE)
    except BuildDied:
        return Result(name=name, accepted=True, unsendable="dies alone")
    raw, growth, seconds = pickle.loads(measured)  # noqa: S301  it is ours
    return Result(
        name=name,
        accepted=True,
        unsendable="is too slow alone" if seconds > TIME else _fault(raw),
        octets=len(raw),
        memory=used + growth - _before[0],
        whole=used + growth,
        seconds=seconds,
    )


def _measure(payload: bytes, message: Message) -> tuple[bytes, int, float]:
    """Return the message, how much more memory this process had for it, and the seconds."""
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM starts again
    used, started = _memory("VmRSS"), time.process_time()
    raw = _deliver(read_payload(payload), message)
    return raw, _memory("VmHWM") - used, time.process_time() - started


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
    return f"a text of {text} octets for {html} of HTML" if text > MAX_GROWTH * html else ""


def _memory(field: str) -> int:
    """Return a field of this process's memory in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024


def run(_: Options) -> Tally:
    """Try every bomb in a process of its own."""
    return count(result for name in corpus(_RANDOM_BOMBS) for result in explode(name))
