"""Clients that send mail under idempotency keys and retry until they get an answer.

`judge` then compares their answers with the inbox and the statuses.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, Final

import httpx

from tests.stack import AGENT

_HEADERS: Final = AGENT | {"Content-Type": "application/json"}
#: Seconds to wait for one answer: longer than the edge waits for its backends.
_ANSWER_TIMEOUT: Final = 70.0
#: Requests at the same time. The engine starts one function for each.
_CONCURRENCY: Final = 6
#: Seconds between two tries.
_WAITS: Final = (0.5, 1.0, 2.0, 5.0)
#: The final status of mail to these addresses of the mailbox simulator; other mail is delivered.
_FINAL: Final = {"bounce": "bounced", "complaint": "complained"}


@dataclass(frozen=True)
class Mail:
    """One mail of a run; some bounce, and some readers complain."""

    run: str
    number: int
    #: Whether it goes through the front, as requests that are too large for Lambda do.
    front: bool

    @property
    def subject(self) -> str:
        return f"{self.run}-{self.number}"

    @property
    def to(self) -> str:
        simulator = {7: "bounce", 9: "complaint"}.get(self.number % 10)
        return (
            f"{simulator}+{self.subject}@simulator.amazonses.com"
            if simulator
            else "customer@example.com"
        )

    @property
    def final(self) -> str:
        """Return the status that the mail must have in the end."""
        return _FINAL.get(self.to.partition("+")[0], "delivered")

    def content(self) -> bytes | Iterator[bytes]:
        body = {"to": self.to, "subject": self.subject, "html": "<p>Once</p>"}
        sent = json.dumps(body).encode()
        # A chunked request has no known size, so the edge sends it to the front.
        return iter([sent]) if self.front else sent


@dataclass(frozen=True)
class ClientResult:
    """The answer that a client got for its mail: the id, or the reason why it has none."""

    mail: Mail
    message_id: str
    tries: int
    #: An answer after which no retry helps; a valid mail must not get one.
    refused: str = ""


def send_all(
    url: str, key: str, mails: list[Mail], *, seconds: float, patience: float, keyed: bool = True
) -> list[ClientResult]:
    """Send mails, spread evenly over some seconds, with one client for each.

    Args:
        url: the service's base URL.
        key: the API key.
        mails: the mails, in the order of sending.
        seconds: the time from the first mail's first try to the last mail's first try.
        patience: the seconds after which a client gives up.
        keyed: whether a client retries under the same idempotency key, as it should.
    """
    started = time.monotonic()
    slots = threading.Semaphore(_CONCURRENCY)

    def send(mail: Mail, number: int) -> ClientResult:
        due = started + seconds * number / len(mails)
        time.sleep(max(0.0, due - time.monotonic()))
        give_up_at = time.monotonic() + patience
        for tries, wait in enumerate(chain(_WAITS, repeat(_WAITS[-1])), start=1):
            suffix = "" if keyed else f"-{tries}"
            with slots:
                answer = _answer(http, f"{url}/api/v1/emails", mail, f"{mail.subject}{suffix}")
            if answer is not None and answer.status_code == 200:
                return ClientResult(mail, answer.json()["messageId"], tries)
            if answer is not None and not _worth_a_retry(answer):
                return ClientResult(mail, "", tries, f"{answer.status_code} {answer.text}")
            if time.monotonic() > give_up_at:
                return ClientResult(mail, "", tries)
            time.sleep(wait)
        raise AssertionError  # the loop has no end

    # One thread for each client: a client that waits for a lease does not delay others.
    with _http(key) as http, ThreadPoolExecutor(len(mails)) as clients:
        return list(clients.map(send, mails, range(len(mails))))


def _http(key: str) -> httpx.Client:
    limits = httpx.Limits(max_connections=None)
    headers = _HEADERS | {"X-API-Key": key}
    return httpx.Client(headers=headers, timeout=_ANSWER_TIMEOUT, limits=limits, trust_env=False)


def _answer(
    http: httpx.Client, url: str, mail: Mail, idempotency_key: str
) -> httpx.Response | None:
    try:
        return http.post(url, content=mail.content(), headers={"Idempotency-Key": idempotency_key})
    except httpx.TransportError:
        return None


def _worth_a_retry(answer: httpx.Response) -> bool:
    if answer.status_code >= 500:
        return True
    return bool(answer.json()["error"]["code"] == "idempotency_in_flight")


class ServiceView:
    """The mail of an account, as the API and the inbox show it."""

    def __init__(self, stack: dict[str, Any], key: str) -> None:
        self._emails = f"{stack['base_url']}/api/v1/emails"
        self._inbox = f"{stack['inbox_url']}/messages"
        self._http = _http(key)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def inbox(self) -> Counter[str]:
        """Return how often the provider accepted each mail, by subject."""
        return Counter(item["subject"] for item in self._get(self._inbox)["items"])

    def statuses(self) -> dict[str, str]:
        """Return the status of each message by its id, from the pages of the list."""
        statuses: dict[str, str] = {}
        while True:
            page = self._get(f"{self._emails}?limit=100&skip={len(statuses)}")
            statuses |= {item["messageId"]: item["status"] for item in page["items"]}
            if not page["items"] or len(statuses) >= page["total"]:
                return statuses

    def status(self, message_id: str) -> str:
        """Return the status of one message."""
        return str(self._get(f"{self._emails}/{message_id}")["status"])

    def send_other_mail(self, key: str) -> None:
        """Send a mail of another account, so that the provider reports events."""
        body = {"to": "customer@example.com", "subject": "Beat", "html": "<p>Beat</p>"}
        self._http.post(self._emails, json=body, headers={"X-API-Key": key}).raise_for_status()

    def _get(self, url: str) -> Any:
        return self._http.get(url).raise_for_status().json()


@dataclass(frozen=True)
class Outcome:
    """The comparison of the answers with what happened; most counts are broken promises."""

    acknowledged: int
    lost: int
    doubled: int
    wrong: int
    refused: int
    #: These two break no promise: mail that clients gave up on, and how much of it was sent.
    sent_after_all: int
    unanswered: int

    def __bool__(self) -> bool:
        """Whether a promise was broken."""
        return bool(self.lost or self.doubled or self.wrong or self.refused)

    def __str__(self) -> str:
        return (
            f"acknowledged {self.acknowledged}, lost {self.lost}, doubled {self.doubled}, "
            f"wrong status {self.wrong}, refused {self.refused}, "
            f"given up {self.unanswered}, of them sent {self.sent_after_all}"
        )


def judge(
    results: list[ClientResult], inbox: Counter[str], status: Callable[[str], str]
) -> Outcome:
    """Compare the answers with the inbox, by subject, and with the statuses, by id."""
    answered = [result for result in results if result.message_id]
    unanswered = [result for result in results if not result.message_id]
    ids = {result.message_id for result in answered}
    return Outcome(
        acknowledged=len(answered),
        lost=sum(not inbox[result.mail.subject] for result in answered),
        doubled=sum(max(inbox[result.mail.subject], 1) - 1 for result in results)
        + len(answered)
        - len(ids),
        wrong=sum(status(result.message_id) != result.mail.final for result in answered),
        refused=sum(bool(result.refused) for result in results),
        sent_after_all=sum(bool(inbox[result.mail.subject]) for result in unanswered),
        unanswered=len(unanswered),
    )
