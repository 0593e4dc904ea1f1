"""Clients that send large messages, and try again when they are told to."""

import contextlib
import http.client
import json
import smtplib
import ssl
import subprocess
import time
from base64 import b64encode, encodebytes
from collections import Counter
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from tests.stack import is_open, wait_for

SENDER: Final = "shop@memory.example"
EDGE_SECRET: Final = "a-secret-of-the-edge"
_TO: Final = "ann@example.com"
_FILE: Final = bytes(5 * 2**20)
#: Seconds until a client gives up, and between two tries.
_PATIENCE: Final = 300.0
_PAUSE: Final = 0.5


def relay_message() -> bytes:
    """Return a message with two files of 5 MB, the contract's maximum: 14 MB as sent."""
    head = "Content-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    file = head.encode() + encodebytes(_FILE).replace(b"\n", b"\r\n")
    parts = b"".join(b"--b\r\n" + file for _ in range(2))
    opening = (
        f"From: {SENDER}\r\nTo: {_TO}\r\nSubject: Large\r\nMIME-Version: 1.0\r\n"
        "Content-Type: multipart/mixed; boundary=b\r\n\r\n"
    )
    return opening.encode() + parts + b"--b--\r\n"


def front_body() -> bytes:
    """Return a send with the same files."""
    content = b64encode(_FILE).decode()
    files = [
        {"filename": f"{name}.pdf", "contentType": "application/pdf", "content": content}
        for name in "ab"
    ]
    send = {"to": _TO, "subject": "Large", "html": "<p>Large</p>", "attachments": files}
    return json.dumps(send).encode()


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends to one program until it accepts, the program ends, or time is over."""

    program: str
    port: int
    process: subprocess.Popen[bytes]
    #: What clients were told that had to try again, and how often.
    refusals: Counter[str] = field(default_factory=Counter)

    def wait_until_listening(self) -> None:
        """Wait until the program accepts connections, or has ended."""
        wait_for(lambda: is_open(self.port) or self.process.poll() is not None)

    def send(self, message: bytes, key: str, address: str) -> int:
        """Send a message and return the number of tries, or 0 if it was not accepted."""
        send_once = self._by_smtp if self.program == "relay" else self._by_http
        deadline = time.monotonic() + _PATIENCE
        tries = 0
        while time.monotonic() < deadline and self.process.poll() is None:
            tries += 1
            try:
                send_once(message, key, address)
            except (OSError, http.client.HTTPException) as error:  # SMTPException is an OSError
                self.refusals[str(error)] += 1
                time.sleep(_PAUSE)
            else:
                return tries
        return 0

    def _by_smtp(self, message: bytes, key: str, address: str) -> None:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with smtplib.SMTP(
            "127.0.0.1", self.port, timeout=_PATIENCE, source_address=(address, 0)
        ) as smtp:
            smtp.starttls(context=context)
            smtp.login("apikey", key)
            smtp.sendmail(SENDER, _TO, message)

    def _by_http(self, message: bytes, key: str, address: str) -> None:
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "pillarbox-verification/1.0",
            "X-API-Key": key,
            "X-Pillarbox-Client": address,
            "X-Pillarbox-Edge": EDGE_SECRET,
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        with contextlib.closing(connection):
            connection.request("POST", "/api/v1/emails", message, headers)
            response = connection.getresponse()
            if response.status != HTTPStatus.OK:
                code = json.loads(response.read())["error"]["code"]
                raise ConnectionError(f"{response.status} {code}")
