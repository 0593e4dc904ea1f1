"""Sends random bodies over HTTP, delivers what is accepted, and compares output with input.

The real handlers and the worker run in this process on emulated AWS. The message that SES would
get must say what the request asked for, octet for octet, and SES must accept it.
"""

import base64
import time
from collections.abc import Iterator, Mapping
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.message import EmailMessage
from random import Random
from typing import Any, Final

from pillarbox.application.sending.smtp import read_message
from pillarbox.application.validation import normalize_address
from pillarbox.domain.errors import ServiceError
from pillarbox.rendering.text import text_from_html
from tests.contract.client import Api
from tests.contract.service import SENDER, Service
from verification.attacks.send_bodies import send_body
from verification.attacks.sendable import faults_in
from verification.attacks.tally import Options, Tally, service_alone

#: How many bodies are sent before the worker runs, and per account.
_BATCH: Final = 25
_PER_ACCOUNT: Final = 500
_SLOW: Final = 2.0  # seconds of CPU


def fuzz(service: Service, cases: int, seconds: float, seed: int = 1) -> Tally:
    """Send so many bodies, or as many as fit into the time."""
    tally = Tally(
        *("5xx", "refused", "over 2 s of CPU", "not delivered"),
        *("other than asked", "accepted but unsendable"),
    )
    random = Random(seed)  # noqa: S311  a repeatable test
    deadline = time.monotonic() + seconds
    for start in range(0, cases, _BATCH):
        if time.monotonic() > deadline:
            break
        if start % _PER_ACCOUNT == 0:
            api = service.live()
        # If this program stood still for a quarter of an hour, the codes of a batch would expire.
        with service.at(service.clock()):
            sent = {}
            for _ in range(min(_BATCH, cases - start)):
                body = send_body(random)
                if message_id := _send(tally, api, body):
                    sent[message_id] = body
            service.ses.mails.clear()
            service.deliver()
            _compare(tally, api, sent, service.ses.mails)
    return tally


def _send(tally: Tally, api: Api, body: dict[str, Any]) -> str | None:
    """Return the id of an accepted message."""
    started = time.thread_time()
    response = api.send(body)
    tally["over 2 s of CPU"] += time.thread_time() - started > _SLOW
    tally["valid inputs tried"] += 1
    if response.status != 200:
        tally.find("5xx" if response.status >= 500 else "refused", response.text)
        return None
    return str(response.json["messageId"])


def _compare(
    tally: Tally, api: Api, sent: Mapping[str, dict[str, Any]], mails: list[dict[str, Any]]
) -> None:
    delivered = {_message_id(mail): mail for mail in mails}
    for message_id, body in sent.items():
        if message_id not in delivered:
            record = api.raw("GET", f"/emails/{message_id}").json
            tally.find("not delivered", f"{record['status']}, {record['errorMessage']}: {body}")
            continue
        mail = delivered[message_id]
        for fault in (*faults_in(mail["raw"]), *_refusals(mail["raw"])):
            tally.find("accepted but unsendable", fault)
        for difference in differences_of(body, mail):
            tally.find("other than asked", difference)


def _refusals(raw: bytes) -> Iterator[str]:
    """Yield what a strict parser and our own relay have against a message."""
    for header in message_from_bytes(raw, policy=policy.strict).values():
        yield from map(repr, header.defects)
    try:
        read_message(("ann@example.com",), bytearray(raw))
    except ServiceError as error:
        yield f"the relay: {error}"


def _message_id(mail: dict[str, Any]) -> str:
    return str(next(tag["Value"] for tag in mail["EmailTags"] if tag["Name"] == "message"))


def differences_of(body: dict[str, Any], mail: dict[str, Any]) -> Iterator[str]:
    """Yield how a delivered mail differs from the request for it."""
    message = message_from_bytes(mail["raw"], EmailMessage, policy=policy.default)
    fields = message_from_bytes(mail["raw"])  # decodes encoded-words without changing spaces
    to, cc, bcc = (_addresses(body.get(name)) for name in ("to", "cc", "bcc"))
    (author,) = message["from"].addresses
    # Without a name a starter has that of the brand, or of the account.
    brand = (body.get("brandName") or "Test") if "starterTemplate" in body else ""
    expected: dict[str, tuple[object, object]] = {
        "from": (SENDER, author.addr_spec),
        "fromName": (body.get("fromName") or brand, _name(fields["from"])),
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


def run(options: Options) -> Tally:
    """Send as many bodies as fit into the time."""
    with service_alone() as service:
        return fuzz(service, 10**9, options.seconds, options.seed)
