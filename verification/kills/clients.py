"""Clients that send mail under idempotency keys and retry until they get an answer.

`judge` then compares what they were told with the inbox and the statuses.
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

_AGENT: Final = {"User-Agent": "pillarbox-tests/1.0", "Content-Type": "application/json"}
#: Seconds, for one answer: longer than the edge waits for whoever is behind it.
_ANSWERS_WITHIN: Final = 70.0
#: Requests under way at once: each beginning one has a function of its own started.
_AT_ONCE: Final = 6
#: Seconds between two tries.
_WAITS: Final = (0.5, 1.0, 2.0, 5.0)
#: What becomes of mail to these addresses of the mailbox simulator; of all other it is delivered.
_FINAL: Final = {"bounce": "bounced", "complaint": "complained"}


@dataclass(frozen=True)
class Mail:
    """One of the mails of a run; some bounce, some make their reader complain."""

    run: str
    number: int
    #: Whether it goes through the front, as what is too large for Lambda does.
    front: bool

    @property
    def subject(self) -> str:
        return f"{self.run}-{self.number}"

    @property
    def to(self) -> str:
        who = {7: "bounce", 9: "complaint"}.get(self.number % 10)
        return f"{who}+{self.subject}@simulator.amazonses.com" if who else "customer@example.com"

    @property
    def final(self) -> str:
        """The status that it must come to."""
        return _FINAL.get(self.to.partition("+")[0], "delivered")

    def content(self) -> bytes | Iterator[bytes]:
        body = {"to": self.to, "subject": self.subject, "html": "<p>Once</p>"}
        sent = json.dumps(body).encode()
        # In chunks its size is not known before, so that the edge asks the front.
        return iter([sent]) if self.front else sent


@dataclass(frozen=True)
class ClientResult:
    """What a client was told about its mail: the id, or the reason why there is none."""

    mail: Mail
    message_id: str
    tries: int
    #: An answer that no retry mends, which a good mail must not get.
    refused: str = ""


def send_all(
    url: str, key: str, mails: list[Mail], *, seconds: float, patience: float, keyed: bool = True
) -> list[ClientResult]:
    """Send mails, evenly over some seconds, by as many clients as it takes.

    Args:
        url: of the service.
        key: for the API.
        mails: what is sent, in this order.
        seconds: from the first one's first try to the last one's.
        patience: seconds, after which a client gives up.
        keyed: whether a client tries again under its key; else it is one that does it wrong.
    """
    began = time.monotonic()
    turn = threading.Semaphore(_AT_ONCE)

    def send(mail: Mail, number: int) -> ClientResult:
        due = began + seconds * number / len(mails)
        time.sleep(max(0.0, due - time.monotonic()))
        late = time.monotonic() + patience
        for tries, wait in enumerate(chain(_WAITS, repeat(_WAITS[-1])), start=1):
            again = "" if keyed else f"-{tries}"
            with turn:
                answer = _answer(http, f"{url}/api/v1/emails", mail, f"{mail.subject}{again}")
            if answer is not None and answer.status_code == 200:
                return ClientResult(mail, answer.json()["messageId"], tries)
            if answer is not None and not _worth_a_retry(answer):
                return ClientResult(mail, "", tries, f"{answer.status_code} {answer.text}")
            if time.monotonic() > late:
                return ClientResult(mail, "", tries)
            time.sleep(wait)
        raise AssertionError  # it tries for ever

    # One for each: who waits for the lease of one that died holds up no other.
    with _http(key) as http, ThreadPoolExecutor(len(mails)) as clients:
        return list(clients.map(send, mails, range(len(mails))))


def _http(key: str) -> httpx.Client:
    limits = httpx.Limits(max_connections=None)
    headers = _AGENT | {"X-API-Key": key}
    return httpx.Client(headers=headers, timeout=_ANSWERS_WITHIN, limits=limits, trust_env=False)


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
    """What the API and the inbox show of an account's mail."""

    def __init__(self, stack: dict[str, Any], key: str) -> None:
        self._emails = f"{stack['base_url']}/api/v1/emails"
        self._inbox = f"{stack['inbox_url']}/messages"
        self._http = _http(key)

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def inbox(self) -> Counter[str]:
        """How often the provider took each mail, by subject."""
        return Counter(item["subject"] for item in self._get(self._inbox)["items"])

    def statuses(self) -> dict[str, str]:
        """The status of each message by its id, as the pages of the listing have it."""
        found: dict[str, str] = {}
        while True:
            page = self._get(f"{self._emails}?limit=100&skip={len(found)}")
            found |= {item["messageId"]: item["status"] for item in page["items"]}
            if not page["items"] or len(found) >= page["total"]:
                return found

    def status(self, message_id: str) -> str:
        """What the API says of one message."""
        return str(self._get(f"{self._emails}/{message_id}")["status"])

    def beat(self, key: str) -> None:
        """Send a mail of another account, so that the provider has something to report."""
        body = {"to": "customer@example.com", "subject": "Beat", "html": "<p>Beat</p>"}
        self._http.post(self._emails, json=body, headers={"X-API-Key": key}).raise_for_status()

    def _get(self, url: str) -> Any:
        return self._http.get(url).raise_for_status().json()


@dataclass(frozen=True)
class Outcome:
    """How what clients were told compares with what happened; each count is a broken promise."""

    acknowledged: int
    lost: int
    doubled: int
    wrong: int
    refused: int
    #: No broken promise: clients gave up on mail that was sent, or that was not.
    strays: int
    unanswered: int

    def __bool__(self) -> bool:
        """Whether a promise was broken."""
        return bool(self.lost or self.doubled or self.wrong or self.refused)

    def __str__(self) -> str:
        return (
            f"acknowledged {self.acknowledged}, lost {self.lost}, doubled {self.doubled}, "
            f"wrong status {self.wrong}, refused {self.refused}, "
            f"given up {self.unanswered}, of them sent {self.strays}"
        )


def judge(heard: list[ClientResult], inbox: Counter[str], status: Callable[[str], str]) -> Outcome:
    """Compare what clients were told with the inbox, by subject, and the statuses, by id."""
    told = [one for one in heard if one.message_id]
    silent = [one for one in heard if not one.message_id]
    ids = {one.message_id for one in told}
    return Outcome(
        acknowledged=len(told),
        lost=sum(not inbox[one.mail.subject] for one in told),
        doubled=sum(max(inbox[one.mail.subject], 1) - 1 for one in heard) + len(told) - len(ids),
        wrong=sum(status(one.message_id) != one.mail.final for one in told),
        refused=sum(bool(one.refused) for one in heard),
        strays=sum(bool(inbox[one.mail.subject]) for one in silent),
        unanswered=len(silent),
    )
