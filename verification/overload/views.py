"""Where an accepted message must be found: table, list, filters, analytics and inbox."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx

from pillarbox.adapters.dynamodb.records import accepted_message
from pillarbox.domain.messages.message import Message
from pillarbox.wiring import Wiring
from tests.stack import AGENT

_STATUSES: Final = ("pending", "sent", "delivered", "bounced", "complained", "failed")
_PAGE: Final = 100
_TIMEOUT: Final = 150.0
_TRIES: Final = 10
#: Seconds between two looks at the inbox, which keeps only the newest 2,000 emails.
_LOOK_EVERY: Final = 5.0


class Inbox:
    """The emails that the SES stand-in ever showed, by its own ids."""

    def __init__(self, url: str) -> None:
        self.messages: dict[str, str] = {}
        self._url = f"{url}/messages"
        self._over = threading.Event()

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Look again and again within a `with` block, and once more at its end."""
        watching = threading.Thread(target=self._follow)
        watching.start()
        try:
            yield
        finally:
            self._over.set()
            watching.join()

    def _follow(self) -> None:
        with httpx.Client(timeout=_TIMEOUT, trust_env=False) as http:
            while not self._over.wait(_LOOK_EVERY):
                self._look(http)
            self._look(http)

    def _look(self, http: httpx.Client) -> None:
        try:
            items = http.get(self._url).raise_for_status().json()["items"]
        except httpx.HTTPError:  # the stack is busy
            return
        self.messages |= {item["id"]: item["messageId"] for item in items}

    def counts(self) -> Counter[str]:
        """Return how often each message was sent."""
        return Counter(dict(self.messages).values())


class History:
    """The messages of an account, as its clients see them.

    Args:
        url: the base URL of the stack.
        key: the API key.
        since: no message of the account is older.
    """

    def __init__(self, url: str, key: str, since: datetime) -> None:
        #: How many requests were answered with 503, and made again as a client would.
        self.unavailable = 0
        self._since = since
        self._http = httpx.Client(
            base_url=f"{url}/api/v1/emails",
            headers=AGENT | {"X-API-Key": key},
            timeout=_TIMEOUT,
            trust_env=False,
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def listed(self, **query: str) -> list[str]:
        """Return the ids of a list, from all of its pages."""
        ids: list[str] = []
        while True:
            page = self._get("", **query, limit=str(_PAGE), skip=str(len(ids)))
            ids += [item["messageId"] for item in page["items"]]
            if not page["items"]:
                assert page["total"] == len(ids), (query, page["total"], len(ids))
                return ids

    def by_status(self) -> dict[str, str]:
        """Return the status by which each message is found, from the filters by status."""
        return {
            message_id: status
            for status in _STATUSES
            for message_id in self.listed(status=status, sortBy="updated_at")
        }

    def by_time(self, middle: datetime) -> list[str]:
        """Return the ids of two time ranges that meet."""
        return self.listed(to=middle.isoformat()) + self.listed(**{"from": middle.isoformat()})

    def analytics(self) -> Any:
        """Return the figures of all messages by the hour."""
        until = datetime.now(UTC) + timedelta(hours=1)
        return self._get(
            "/analytics",
            **{"from": self._since.isoformat(), "to": until.isoformat(), "bucket": "hour"},
        )

    def _get(self, path: str, **query: str) -> Any:
        for _ in range(_TRIES):
            answer = self._http.get(path, params=query)
            if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                break
            self.unavailable += 1
        return answer.raise_for_status().json()


def recorded(wiring: Wiring, account_id: str) -> dict[str, Message]:
    """Return the message records of an account in the table, by id."""
    partition = {"pk": {"S": f"MSG#{account_id}"}}
    messages = filter(None, map(accepted_message, wiring.table.query(partition)))
    return {str(message.message_id): message for message in messages}


@dataclass(frozen=True)
class Comparison:
    """How many acknowledged messages are missing in each place, and what else is wrong."""

    acknowledged: int
    table: int
    list: int
    filters: int
    analytics: int
    inbox: int
    #: Messages that the provider accepted more than once, or whose status never became final.
    doubled: int
    unfinished: int

    def __bool__(self) -> bool:
        """Whether anything is wrong, or nothing was shown."""
        return not self.acknowledged or any(
            number for name, number in vars(self).items() if name != "acknowledged"
        )

    def __str__(self) -> str:
        return (
            f"acknowledged {self.acknowledged}, missing in table {self.table}, "
            f"list {self.list}, filters {self.filters}, analytics {self.analytics}, "
            f"inbox {self.inbox}; doubled {self.doubled}, unfinished {self.unfinished}"
        )


def compare(
    acknowledged: set[str], records: dict[str, Message], history: History, inbox: Inbox
) -> Comparison:
    """Look for acknowledged messages in every place.

    A message that was accepted without an acknowledgement counts in the analytics too, so those
    are compared with the table.
    """
    listed = Counter(history.listed())
    by_status = history.by_status()
    statuses = {message_id: message.status.value for message_id, message in records.items()}
    times = sorted(message.created_at for message in records.values())
    by_time = Counter(history.by_time(times[len(times) // 2])) if times else Counter[str]()
    figures = history.analytics()
    rows = sum(row["count"] for row in figures["volume"])
    sent = inbox.counts()
    once = dict.fromkeys(acknowledged, 1)
    return Comparison(
        acknowledged=len(acknowledged),
        table=len(acknowledged - records.keys()),
        list=sum(listed[message_id] != n for message_id, n in once.items()),
        filters=sum(
            by_status.get(message_id) != statuses.get(message_id) or by_time[message_id] != n
            for message_id, n in once.items()
        ),
        analytics=max(abs(len(records) - figures["totalMessages"]), abs(len(records) - rows)),
        inbox=sum(not sent[message_id] for message_id in acknowledged),
        doubled=sum(max(n, 1) - 1 for n in sent.values()),
        unfinished=sum(status in {"pending", "sent"} for status in statuses.values()),
    )
