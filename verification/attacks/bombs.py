# ruff: noqa: T201  a program that is run by hand prints its results
"""Bombs: every email that is accepted can be built, in bounded memory and time.

    .venv/bin/python -m verification.attacks.bombs [--random N]

Each bomb has a fresh process, which accepts it as the API or the relay does and then does what
the worker does: it reads the payload of the job, builds the message, and makes SES's request. The
memory is the peak of these three steps (VmHWM of Linux, after a reset) above what the process had
before the first bomb. It includes the payload and SES's request. Then the message is built once
more in a process of its own, with the bounds that a suspected job has.
"""

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from email import message_from_bytes
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders

from pillarbox.adapters.aws import make_client
from pillarbox.adapters.child_process import run_in_child
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
#: In seconds of real time, for one bomb.
_PATIENCE: Final = 120


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


@dataclass(frozen=True, kw_only=True)
class Counts:
    """The sums over a corpus."""

    tried: int
    accepted: int
    unsendable: int
    over_memory: int
    over_time: int
    peak_memory: int
    #: The peak of a whole process.
    peak_whole: int
    largest: int

    def __str__(self) -> str:
        return (
            f"bombs tried {self.tried}, accepted {self.accepted}, accepted but unsendable"
            f" {self.unsendable}, over 256 MB {self.over_memory}, over 2 s of CPU"
            f" {self.over_time}, peak memory {self.peak_memory >> 20} MB and of a whole process"
            f" {self.peak_whole >> 20} MB, largest message {self.largest / 1e6:.1f} MB"
        )


def count(results: Iterable[Result]) -> Counts:
    """Sum up results."""
    results = list(results)
    return Counts(
        tried=len(results),
        accepted=sum(result.accepted for result in results),
        unsendable=sum(bool(result.unsendable) for result in results),
        over_memory=sum(result.memory > MAX_MEMORY for result in results),
        over_time=sum(result.seconds > MAX_CPU for result in results),
        peak_memory=max(result.memory for result in results),
        peak_whole=max(result.whole for result in results),
        largest=max(result.octets for result in results),
    )


def explode(*names: str) -> list[Result]:
    """Try bombs one after the other in one process of their own.

    What a bomb leaves in the heap counts for the next one too, so several bombs give an upper
    bound of the memory.
    """
    command = [sys.executable, "-m", "verification.attacks.bombs", "--here", *names]
    try:
        ended = subprocess.run(
            command,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
            env=os.environ | _CREDENTIALS,
        )
    except subprocess.TimeoutExpired:
        return [_lost(name, "no end") for name in names]
    results = [Result(**json.loads(line)) for line in ended.stdout.splitlines()]
    reason = f"died {ended.returncode}: {ended.stderr.decode()[-500:]}"
    return results + [_lost(name, reason) for name in names[len(results) :]]


def _lost(name: str, reason: str) -> Result:
    return Result(name=name, accepted=True, unsendable=reason)


def try_here(names: Iterable[str]) -> Iterator[Result]:
    """Accept bombs and build their messages in this process."""
    _deliver(builders.mail(), builders.message())  # the imports and connections of a first mail
    base = _memory("VmRSS")
    for name in names:
        yield _try(name, bomb_named(name), base)


def _try(name: str, bomb: Bomb, base: int) -> Result:
    started = time.process_time()
    try:
        mail, message = _accept(bomb)
    except ServiceError:
        return Result(name=name, seconds=time.process_time() - started)
    payload = write_payload(mail)
    del mail, bomb
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM starts again
    started = time.process_time()
    raw = _deliver(read_payload(payload), message)
    seconds = time.process_time() - started
    whole = _memory("VmHWM")
    unsendable = _fault(raw) or _fault_alone(payload, message, raw)
    return Result(
        name=name,
        accepted=True,
        unsendable=unsendable,
        octets=len(raw),
        memory=whole - base,
        whole=whole,
        seconds=seconds,
    )


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
    mailer.send(message, message.recipients, raw)
    return raw


def _answer(**_: object) -> AWSResponse:
    response = AWSResponse("https://email.invalid", 200, HTTPHeaders(), None)
    response._content = b'{"MessageId": "1"}'  # type: ignore[attr-defined]
    return response


def _fault(raw: bytes) -> str:
    """Return why SES or a reader could not take a message, or nothing."""
    if len(raw) > MAX_MESSAGE:
        return f"{len(raw)} octets"
    parts = {part.get_content_type(): part for part in message_from_bytes(raw).walk()}
    if "multipart/alternative" not in parts:
        return ""  # over SMTP the parts are the sender's
    text, html = (
        len(bytes(parts[kind].get_payload(decode=True)).replace(b"\r\n", b"\n"))
        for kind in ("text/plain", "text/html")
    )
    return f"a text of {text} octets for {html} of HTML" if text > MAX_GROWTH * html else ""


def _fault_alone(payload: bytes, message: Message, raw: bytes) -> str:
    """Return why a worker would set the job aside if it suspected it, or nothing."""
    mail = read_payload(payload)
    try:
        return "" if run_in_child(lambda: build_raw(mail, message)) == raw else "differs alone"
    except BuildDied:
        return "dies alone"


def _memory(field: str) -> int:
    """Return a field of this process's memory in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024


def main() -> None:
    """Try every bomb, print the worst, and sum up in the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--random", type=int, default=100, help="how many random bombs to add")
    parser.add_argument("--here", nargs="+", help="try these in this process; print the results")
    arguments = parser.parse_args()
    if arguments.here:
        for result in try_here(arguments.here):
            print(json.dumps(asdict(result)), flush=True)
        return
    results = []
    for name in corpus(arguments.random):
        (result,) = explode(name)
        results.append(result)
        print(
            f"{name:32} {'accepted' if result.accepted else 'refused':8}"
            f" {result.octets / 1e6:6.1f} MB, memory {result.memory >> 20:4} MB,"
            f" {result.seconds:5.2f} s {result.unsendable}",
            flush=True,
        )
    totals = count(results)
    print(totals)
    sys.exit(bool(totals.unsendable or totals.over_memory or totals.over_time))


if __name__ == "__main__":
    main()
