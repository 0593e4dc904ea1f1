"""Clients that send as fast as they get answers, over HTTP and SMTP, and keep every id."""

import json
import smtplib
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from email import policy
from email.message import EmailMessage
from typing import Any, Final, Literal
from uuid import uuid4

import httpx

from tests.stack import AGENT

type Way = Literal["single", "batch", "SMTP"]

#: Messages of one batch.
BATCH: Final = 50
#: The clients that send at the same time, and their share of the messages.
CLIENTS: Final[Mapping[Way, int]] = {"single": 12, "batch": 4, "SMTP": 16}
SHARES: Final[Mapping[Way, float]] = {"single": 0.15, "batch": 0.7, "SMTP": 0.15}
#: Seconds to wait for one answer: longer than the edge waits for its backends.
_ANSWER_TIMEOUT: Final = 150.0
#: Seconds that a client waits after an error, so that it does not fill the log with errors.
_PAUSE: Final = 1.0
#: One message in so many bounces.
_BOUNCED: Final = 20
_PATHS: Final[Mapping[Way, str]] = {"single": "/emails", "batch": "/emails/batch"}


@dataclass
class Answers:
    """What the clients were told."""

    #: The way in which each acknowledged message was sent, by its id.
    acknowledged: dict[str, Way] = field(default_factory=dict)
    #: Ids that were acknowledged twice.
    repeated: int = 0
    #: What ended without an id, by way and answer.
    errors: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, way: Way, ids: Sequence[str]) -> None:
        with self._lock:
            for message_id in ids:
                self.repeated += message_id in self.acknowledged
                self.acknowledged[message_id] = way

    def add_error(self, way: Way, error: str) -> None:
        with self._lock:
            self.errors[f"{way}: {error}"] += 1


class Sending:
    """The sending of a number of messages.

    Args:
        stack: the content of stack.json.
        key: the API key.
        sender: the address that the account may send from.
        count: how many messages must be acknowledged.
        seconds: after this time no client sends any more.
    """

    def __init__(
        self, stack: dict[str, Any], key: str, sender: str, count: int, seconds: float
    ) -> None:
        self.answers = Answers()
        self._stack, self._key, self._sender = stack, key, sender
        self._end = time.monotonic() + seconds
        self._left = {way: round(count * share) for way, share in SHARES.items()}
        self._lock = threading.Lock()

    def run(self) -> Answers:
        """Send until every message is acknowledged or the time is over."""
        work: dict[Way, Callable[[], None]] = {
            "single": self._send_singles,
            "batch": self._send_batches,
            "SMTP": self._send_over_smtp,
        }
        with ThreadPoolExecutor(sum(CLIENTS.values())) as threads:
            running = [threads.submit(work[way]) for way, n in CLIENTS.items() for _ in range(n)]
        for client in running:
            client.result()
        return self.answers

    def _reserve(self, way: Way, at_most: int) -> Iterator[int]:
        """Yield how many messages to send next, until none is left or the time is over."""
        while time.monotonic() < self._end:
            with self._lock:
                count = min(at_most, self._left[way])
                self._left[way] -= count
            if not count:
                return
            yield count

    def _give_back(self, way: Way, count: int, error: str) -> None:
        self.answers.add_error(way, error)
        with self._lock:
            self._left[way] += count
        time.sleep(_PAUSE)

    def _send_singles(self) -> None:
        with self._http() as http:
            for number, _ in enumerate(self._reserve("single", 1)):
                # Every other request has a key, so it has a claim.
                headers = {"Idempotency-Key": str(uuid4())} if number % 2 else {}
                answer = self._post(http, "single", self._mail(number), headers, 1)
                if answer is not None:
                    self.answers.add("single", [answer["messageId"]])

    def _send_batches(self) -> None:
        with self._http() as http:
            for number, count in enumerate(self._reserve("batch", BATCH)):
                body = {"messages": [self._mail(n) for n in range(count)]}
                headers = {"Idempotency-Key": str(uuid4())} if number % 2 else {}
                answer = self._post(http, "batch", body, headers, count)
                if answer is not None:
                    ids = [item["messageId"] for item in answer["results"]]
                    self.answers.add("batch", [message_id for message_id in ids if message_id])
                    if None in ids:
                        self._give_back("batch", ids.count(None), "a message was refused")

    def _send_over_smtp(self) -> None:
        smtp: smtplib.SMTP | None = None
        for number, _ in enumerate(self._reserve("SMTP", 1)):
            try:
                smtp = smtp or self._connect()
                smtp.mail(self._sender)
                smtp.rcpt(self._address(number))
                code, text = smtp.data(self._octets())
                if code != 250:
                    raise smtplib.SMTPDataError(code, text)
                self.answers.add("SMTP", [text.decode().rpartition(" ")[2]])
            except (OSError, smtplib.SMTPException) as error:
                if smtp is not None:
                    smtp.close()
                smtp = None
                self._give_back("SMTP", 1, f"{type(error).__name__} {error}"[:80])
        if smtp is not None:
            with suppress(OSError, smtplib.SMTPException):
                smtp.quit()

    def _connect(self) -> smtplib.SMTP:
        smtp = self._stack["smtp"]
        client = smtplib.SMTP(smtp["host"], smtp["port"], timeout=_ANSWER_TIMEOUT)
        try:
            client.starttls(context=ssl.create_default_context(cafile=smtp["certificate"]))
            client.login("apikey", self._key)
        except (OSError, smtplib.SMTPException):
            client.close()
            raise
        return client

    def _http(self) -> httpx.Client:
        return httpx.Client(
            base_url=f"{self._stack['base_url']}/api/v1",
            headers=AGENT | {"X-API-Key": self._key},
            timeout=_ANSWER_TIMEOUT,
            trust_env=False,
        )

    def _post(
        self, http: httpx.Client, way: Way, body: object, headers: dict[str, str], count: int
    ) -> Any:
        """Return the body of a 200; after anything else give the messages back to be sent."""
        try:
            answer = http.post(_PATHS[way], json=body, headers=headers)
        except httpx.TransportError as error:
            self._give_back(way, count, type(error).__name__)
            return None
        if answer.status_code != 200:
            self._give_back(way, count, f"{answer.status_code} {_code(answer)}")
            return None
        return answer.json()

    def _address(self, number: int) -> str:
        """Return a recipient: one of twenty bounces, and each has an address of its own."""
        if number % _BOUNCED == 0:
            return f"bounce+{uuid4().hex}@simulator.amazonses.com"
        return f"{uuid4().hex}@example.com"

    def _mail(self, number: int) -> dict[str, str]:
        return {
            "to": self._address(number),
            "from": self._sender,
            "subject": "Overload",
            "html": "<p>Once</p>",
        }

    def _octets(self) -> bytes:
        message = EmailMessage(policy.SMTP)
        message["From"], message["Subject"] = self._sender, "Overload"
        message.set_content("Once")
        return message.as_bytes()


def _code(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["error"]["code"])
    except (json.JSONDecodeError, KeyError, TypeError):
        return answer.text[:60]
