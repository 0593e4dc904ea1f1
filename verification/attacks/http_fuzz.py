"""Sends random bodies over HTTP, delivers what is accepted, and compares output with input.

    .venv/bin/python -m verification.attacks.http_fuzz --seconds 600

The real handlers and the worker run in this process on emulated AWS. The message that SES would
get must say what the request asked for, octet for octet, and SES must accept it.
"""

import argparse
import base64
import contextlib
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.message import EmailMessage
from pathlib import Path
from random import Random
from typing import Any, Final

from pillarbox.application.validation import normalize_address
from pillarbox.rendering.text import text_from_html
from tests.contract.client import Api
from tests.contract.name_server import running_name_server
from tests.contract.service import SENDER, Service, running_service
from verification.attacks.send_bodies import SendBody, send_body
from verification.attacks.sendable import faults_in

#: How many bodies are sent before the worker runs, and per account.
_BATCH: Final = 25
_PER_ACCOUNT: Final = 500
_SLOW: Final = 2.0  # seconds of CPU


@dataclass(slots=True)
class Counts:
    """What happened to the bodies."""

    valid: int = 0
    broken: int = 0
    accepted: int = 0
    broken_accepted: int = 0
    valid_refused: int = 0
    server_errors: int = 0
    slow: int = 0
    undelivered: int = 0
    different: int = 0
    unsendable: int = 0
    findings: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        """Return the last line."""
        return (
            f"bad inputs tried {self.broken:,}, accepted {self.broken_accepted}; valid inputs tried"
            f" {self.valid:,}, refused {self.valid_refused}; 5xx {self.server_errors}, over 2 s of"
            f" CPU {self.slow}, accepted {self.accepted:,}, not delivered {self.undelivered},"
            f" other than asked {self.different}, accepted but unsendable {self.unsendable}"
        )

    @property
    def failed(self) -> bool:
        """Whether anything happened that must not."""
        return bool(
            self.broken_accepted
            or self.valid_refused
            or self.server_errors
            or self.slow
            or self.undelivered
            or self.different
            or self.unsendable
        )


def fuzz(service: Service, cases: int, seconds: float, seed: int = 1) -> Counts:
    """Send so many bodies, or as many as fit into the time."""
    counts = Counts()
    random = Random(seed)  # noqa: S311  a repeatable test
    deadline = time.monotonic() + seconds
    for start in range(0, cases, _BATCH):
        if time.monotonic() > deadline:
            break
        if start % _PER_ACCOUNT == 0:
            api = service.live()
        sent = {}
        for _ in range(min(_BATCH, cases - start)):
            case = send_body(random)
            if message_id := _send(counts, api, case):
                sent[message_id] = case.body
        service.ses.mails.clear()
        service.deliver()
        _compare(counts, sent, service.ses.mails)
    return counts


def _send(counts: Counts, api: Api, case: SendBody) -> str | None:
    """Return the id of an accepted message."""
    started = time.thread_time()
    response = api.send(case.body)
    counts.slow += time.thread_time() - started > _SLOW
    counts.valid += not case.broken
    counts.broken += case.broken
    if response.status >= 500:
        counts.server_errors += 1
        counts.findings[f"{response.status}: {response.text[:200]}"] += 1
    elif response.status == 200:
        counts.accepted += 1
        if case.broken:
            counts.broken_accepted += 1
            counts.findings[f"broken but accepted: {case.body!a:.300}"] += 1
        return str(response.json["messageId"])
    elif not case.broken:
        counts.valid_refused += 1
        counts.findings[f"valid but refused: {response.text[:300]}"] += 1
    return None


def _compare(
    counts: Counts, sent: Mapping[str, dict[str, Any]], mails: list[dict[str, Any]]
) -> None:
    delivered = {_message_id(mail): mail for mail in mails}
    for message_id, body in sent.items():
        if message_id not in delivered:
            counts.undelivered += 1
            continue
        mail = delivered[message_id]
        if faults := faults_in(mail["raw"]):
            counts.unsendable += 1
            counts.findings[f"unsendable: {faults[0]}"] += 1
        if differences := list(differences_of(body, mail)):
            counts.different += 1
            counts.findings[differences[0]] += 1


def _message_id(mail: dict[str, Any]) -> str:
    return str(next(tag["Value"] for tag in mail["EmailTags"] if tag["Name"] == "message"))


def differences_of(body: dict[str, Any], mail: dict[str, Any]) -> Iterator[str]:
    """Yield how a delivered mail differs from the request for it."""
    message = message_from_bytes(mail["raw"], EmailMessage, policy=policy.default)
    fields = message_from_bytes(mail["raw"])  # decodes encoded-words without changing spaces
    to, cc, bcc = (_addresses(body.get(name)) for name in ("to", "cc", "bcc"))
    (author,) = message["from"].addresses
    expected: dict[str, tuple[object, object]] = {
        "from": (SENDER, author.addr_spec),
        "fromName": (body.get("fromName") or "", _name(fields["from"])),
        "to": (to, _listed(message, "to")),
        "cc": (cc, _listed(message, "cc")),
        "replyTo": (_addresses(body.get("replyTo")), _listed(message, "reply-to")),
        "recipients": (sorted(to + cc + bcc), sorted(mail["Destination"]["ToAddresses"])),
        "attachments": (sorted(map(_asked_file, body.get("attachments", ()))), _files(message)),
    }
    if "subject" in body:
        expected["subject"] = (body["subject"], _decoded(fields["subject"]))
    html, text = (_content(message, kind) for kind in ("html", "plain"))
    if "html" in body:
        expected["html"] = (_lines(body["html"]), html)
        expected["text"] = (_lines(text_from_html(body["html"])).strip(), text.strip())
    else:
        code = body["variables"]["otp_code"]
        expected["code"] = ((True, True), (code in html, code in text))
    for name, (asked, got) in expected.items():
        if asked != got:
            yield f"{name}: {asked!a:.300} became {got!a:.300}"


def _addresses(value: str | list[str] | None) -> list[str]:
    return [
        normalize_address(text) for text in ([value] if isinstance(value, str) else value or ())
    ]


def _listed(message: EmailMessage, name: str) -> list[str]:
    return [address.addr_spec for address in message[name].addresses] if message[name] else []


def _decoded(value: str) -> str:
    """Unfold and decode an unstructured field."""
    return str(make_header(decode_header(value.replace("\r\n", "").replace("\n", ""))))


def _name(value: str) -> str:
    """Return the display name in front of the address."""
    phrase = value.replace("\r\n", "").replace("\n", "").rpartition("<")[0].rstrip(" ")
    if phrase.startswith('"'):
        return phrase[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return _decoded(phrase)


def _content(message: EmailMessage, subtype: str) -> str:
    part = message.get_body((subtype,))
    assert isinstance(part, EmailMessage)
    payload = part.get_payload(decode=True)
    assert isinstance(payload, bytes)
    return _lines(payload.decode())


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _asked_file(file: dict[str, Any]) -> tuple[str, str, bytes, str]:
    content_id = f"<{file['contentId']}>" if file.get("contentId") else ""
    octets = base64.b64decode(file["content"])
    return file["filename"], file["contentType"], octets, content_id


def _files(message: EmailMessage) -> list[tuple[str, str, bytes, str]]:
    return sorted(
        (
            str(part.get_filename()),
            part.get_content_type(),
            bytes(part.get_payload(decode=True) or b""),
            str(part["content-id"] or ""),
        )
        for part in message.walk()
        if part.get_content_disposition()
    )


def main() -> None:
    """Fuzz, and print what was found and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--cases", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with (
        Path(os.devnull).open("w") as log,
        contextlib.redirect_stdout(log),
        running_name_server() as name_server,
        running_service(name_server) as service,
    ):
        counts = fuzz(service, arguments.cases, arguments.seconds, arguments.seed)
    for finding, count in counts.findings.most_common(50):
        sys.stdout.write(f"{count:6} {finding}\n")
    sys.stdout.write(f"{counts}\n")
    sys.exit(counts.failed)


if __name__ == "__main__":
    main()
