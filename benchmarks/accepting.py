"""The cost of sending, delivering and tracking one mail: AWS calls, write units, read units.

    .venv/bin/python -m benchmarks.accepting

The figures do not depend on the speed of the machine. The real handlers run on moto, every AWS
call but SES's is counted, and units are computed from the sizes of the items as DynamoDB bills
them: 1 KB for a write unit, 4 KB for a consistent read unit. The
log is counted as CloudWatch bills it: its bytes, and 26 more for each line.
"""

import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from re import findall
from typing import Any
from unittest.mock import patch
from uuid import UUID

from botocore.client import BaseClient

from benchmarks.metered import READ_UNIT, WRITE_UNIT, size_of, units
from pillarbox import consumer
from pillarbox.adapters.ses.mailer import SesMailer
from pillarbox.application.receiving_ports import ReceivingDomain
from pillarbox.domain.accounts.key import SCOPES, AgentSettings, Confirmation
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.replies import reply_token
from pillarbox.wiring import services
from tests.aws import shared_client
from tests.contract.client import Api, Invocation, handler
from tests.contract.name_server import running_name_server
from tests.contract.operations import in_an_hour
from tests.contract.service import SENDER, Service, running_service

RECIPIENT = "ada@customer.example"
#: An email from a starter, as most are.
MAIL = {
    "to": RECIPIENT,
    "starterTemplate": "password_reset",
    "variables": {"reset_url": "https://shop.example/reset/7f3c", "expiry_minutes": 30},
}
#: What the functions log.
LOG = io.StringIO()
#: In bytes; what CloudWatch adds to each line when it bills a log.
LOG_LINE = 26


@dataclass
class Count:
    """The AWS calls and units of some work."""

    calls: list[str] = field(default_factory=list)
    writes: int = 0
    reads: float = 0
    log_bytes: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(
            self.calls + other.calls,
            self.writes + other.writes,
            self.reads + other.reads,
            self.log_bytes + other.log_bytes,
        )

    def add(self, operation: str, request: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Count one call, and what it reads."""
        self.calls.append(operation)
        match operation:
            case "GetItem" | "Query":
                items = answer["Items"] if operation == "Query" else [answer.get("Item", {})]
                read = units(sum(map(size_of, items)), READ_UNIT)
                self.reads += read if request.get("ConsistentRead") else read / 2
            case "BatchGetItem":
                for table, asked in request["RequestItems"].items():
                    items = answer["Responses"][table]
                    self.reads += sum(units(size_of(item), READ_UNIT) for item in items)
                    self.reads += len(asked["Keys"]) - len(items)


def _written(operation: str, request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the table and key of each item that a call writes, twice if in a transaction."""
    match operation:
        case "PutItem" | "UpdateItem" | "DeleteItem":
            found = [(request["TableName"], request)]
        case "TransactWriteItems":
            each = [one for action in request["TransactItems"] for one in action.values()]
            found = [(one["TableName"], one) for one in each * 2]
        case "BatchWriteItem":
            found = [
                (table, action)
                for table, requests in request["RequestItems"].items()
                for one in requests
                for action in one.values()
            ]
        case "BatchExecuteStatement":
            found = []
            for each in request["Statements"]:
                (table,) = findall(r'INTO "(.+?)"', each["Statement"])
                names = findall(r"'(\w+)': \?", each["Statement"])
                item = dict(zip(names, each["Parameters"], strict=True))
                found.append((table, {"Item": item}))
        case _:
            found = []
    items = [(table, one.get("Item") or one["Key"]) for table, one in found]
    return [{"TableName": t, "Key": {name: i[name] for name in ("pk", "sk")}} for t, i in items]


@contextmanager
def counting() -> Iterator[Count]:
    """Count every AWS call but SES's, and the log, within a `with` block."""
    count = Count()
    logged = LOG.tell()
    make_call: Callable[..., Any] = BaseClient._make_api_call  # type: ignore[attr-defined]  # noqa: SLF001  every call passes through it

    def counted(client: Any, operation: str, request: dict[str, Any]) -> Any:  # noqa: ANN401
        written = _written(operation, request)

        def sizes() -> list[int]:
            read = (
                make_call(client, "GetItem", each | {"ConsistentRead": True}) for each in written
            )
            return [size_of(answer.get("Item", {})) for answer in read]

        before = sizes()
        try:
            answer = make_call(client, operation, request)
        except client.exceptions.ClientError:  # a failed condition costs what the write would
            count.add(operation, request, {})
            raise
        finally:
            larger = map(max, before, sizes())
            count.writes += sum(units(size, WRITE_UNIT) for size in larger)
        if client.meta.service_model.service_name != "sesv2":
            count.add(operation, request, answer)
        return answer

    with patch.object(BaseClient, "_make_api_call", counted):
        yield count
    lines = LOG.getvalue()[logged:]
    count.log_bytes = len(lines.encode()) + LOG_LINE * lines.count("\n")


def events_of(job: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the Send and Delivery events of a mail, as SES writes them."""
    now = datetime.now(UTC)
    mail = {
        "timestamp": now.isoformat(),  # the time at SES, after the start of the hand-over
        "messageId": "0100",
        "tags": {"account": [job["account"]], "message": [job["id"]]},
    }
    delivery = {"timestamp": (now + timedelta(seconds=1)).isoformat(), "recipients": [RECIPIENT]}
    return [
        {"eventType": "Send", "mail": mail, "send": {}},
        {"eventType": "Delivery", "mail": mail, "delivery": delivery},
    ]


def newest(api: Api) -> str:
    """Return the id of the last email."""
    return str(api.raw("GET", "/emails").json["items"][0]["messageId"])


def measure(service: Service) -> dict[str, Count]:
    """Measure a mail without a key, the whole life of one with a key, and a batch."""
    live = Api(service.key(service.account(), scopes=SCOPES))

    def accept(body: object, path: str = "/emails", key: str = "", api: Api = live) -> Count:
        with counting() as count:
            headers = {"Idempotency-Key": key} if key else {}
            answer = api.raw("POST", path, json.dumps(body), headers)
        if answer.status != HTTPStatus.OK or '"failed"' in answer.text:
            raise RuntimeError(answer.text)
        return count

    def deliver(rows: list[dict[str, Any]]) -> Count:
        with counting() as count:
            handler("deliver_message")({"Records": rows}, Invocation())
        return count

    def track(rows: list[dict[str, Any]]) -> Count:
        with counting() as count:
            service.report(*events_of(json.loads(rows[0]["body"])))
        return count

    # The first mail creates the counters of the month, the day and the minute, and the heartbeat.
    accept(MAIL)
    first = service.jobs()
    deliver(first)
    track(first)
    counts = {"accept, without a key": accept(MAIL)}
    service.jobs()
    counts["accept, with a key"] = accepted = accept(MAIL, key="order-1")
    counts["replay"] = accept(MAIL, key="order-1")
    job = service.jobs()
    counts["deliver"] = delivered = deliver(job)
    counts["track, Send and Delivery, received together"] = tracked = track(job)
    counts["whole life, with a key"] = accepted + delivered + tracked

    counts |= measure_kinds(service, live, accept, deliver, track)
    for number in range(10):
        accept(MAIL | {"to": f"b{number}@customer.example"})
    with patch.object(consumer, "_together", _in_turn), patch.object(consumer, "PATIENCE", 0):
        counts["deliver, ten together"] = deliver(service.jobs())
    settings = AgentSettings(recipients=("*",), confirmation=Confirmation.OFF)
    agent = Api(service.key(service.account(), agent=settings))
    accept(MAIL, api=agent)
    counts["accept, an agent's key, with a key"] = accept(MAIL, key="order-1", api=agent)
    batch = {"messages": [MAIL | {"to": f"a{n}@customer.example"} for n in range(100)]}
    counts["a batch of 100, with a key"] = accept(batch, "/emails/batch", key="batch-1")
    counts |= measure_answer(service, live, accept, deliver)
    return counts | measure_smtp(live.key or "")


def measure_kinds(
    service: Service,
    live: Api,
    accept: Callable[..., Count],
    deliver: Callable[[list[dict[str, Any]]], Count],
    track: Callable[[list[dict[str, Any]]], Count],
) -> dict[str, Count]:
    """Measure the whole lives of other kinds of mail, each with a key."""
    counts: dict[str, Count] = {}

    def call(path: str, name: str) -> Count:
        with counting() as counts[name]:
            answer = live.raw("POST", path)
        if answer.status != HTTPStatus.OK:
            raise RuntimeError(answer.text)
        return counts[name]

    def end(name: str, whole: Count) -> None:
        job = service.jobs()
        counts[f"deliver, {name}"] = delivered = deliver(job)
        counts[f"whole life, {name}"] = whole + delivered + track(job)

    three = MAIL | {"to": [f"c{n}@customer.example" for n in range(3)]}
    end("to three recipients", accept(three, key="order-3"))
    counts["accept, scheduled, with a key"] = whole = accept(
        MAIL | {"scheduledAt": in_an_hour()}, key="order-4"
    )
    for minute in (57, 61):  # the first one queues nothing yet
        with (
            service.at(datetime.now(UTC) + timedelta(minutes=minute)),
            counting() as counts["the timer of four minutes, which queues one"],
        ):
            handler("enqueue_due")({}, Invocation())
    with service.at(datetime.now(UTC) + timedelta(minutes=61)):
        end("scheduled", whole + counts["the timer of four minutes, which queues one"])
    whole = accept(MAIL | {"hold": True}, key="order-5")
    held = newest(live)
    end("held", whole + call(f"/emails/{held}/release", "release a held email"))
    live.raw("PATCH", "/account", '{"keepDays": 7}')
    news = {
        "to": RECIPIENT,
        "subject": "News",
        "html": "<p>Hello</p>",
    }  # one with a link stays unsent
    end("whose content is kept", accept(news, key="order-6"))
    call(f"/emails/{newest(live)}/resend", "send again, without a key")
    service.jobs()
    live.raw("PATCH", "/account", '{"keepDays": 0}')
    return counts


def measure_answer(
    service: Service,
    live: Api,
    accept: Callable[..., Count],
    deliver: Callable[[list[dict[str, Any]]], Count],
) -> dict[str, Count]:
    """Measure an email to which answers come back, and an answer to it, each the second one."""
    counts: dict[str, Count] = {}
    it, account_id = services(), live.raw("GET", "/me").json["accountId"]
    domain = "in.shop.example"
    it.receiving_domains.put(ReceivingDomain(domain, account_id))
    it.account_store.set_reply_domain(account_id, domain)
    service.jobs()
    for number in range(2):
        accepted = accept(MAIL | {"replies": True}, key=f"answered-{number}")
        counts["accept, with a key and with replies"] = accepted
        counts["deliver, with replies"] = deliver(service.jobs())
        token = reply_token(account_id, UUID(newest(live)), it.reply_keys.for_new_tokens())
        key = f"received/{domain}/{number}"
        shared_client("s3").put_object(
            Bucket=it.settings.spool_bucket,
            Key=key,
            Body=f"From: {RECIPIENT}\r\nTo: r.{token}@{domain}\r\n\r\nYes\r\n".encode(),
        )
        event = {"eventName": "ObjectCreated:Put", "s3": {"object": {"key": key}}}
        with counting() as counts["receive an answer"]:
            service.consume("receive_email", json.dumps({"Records": [event]}))
    return counts


def measure_smtp(key: str) -> dict[str, Count]:
    """Measure one message over SMTP, without a key, and a group that is ready together."""
    submission = services().smtp_submission

    def accept(size: int) -> Count:
        octets = f"From: {SENDER}\r\nSubject: x\r\n\r\nHello\r\n".encode()
        ready = [submission.prepare(key, (RECIPIENT,), bytearray(octets)) for _ in range(size)]
        with counting() as count:
            if size == 1:
                submission.submit(key, *ready)
            elif any(isinstance(one, ServiceError) for one in submission.submit_all(key, ready)):
                raise RuntimeError("refused")
        return count

    accept(1)  # the process sees the key for the first time
    return {"one message over SMTP": accept(1), "a group of 20 over SMTP": accept(20)}


def _in_turn[R](call: Callable[[int], R], numbers: Sequence[int]) -> dict[int, R]:
    """Handle the messages of a batch one after the other: moto takes calls of one thread."""
    return {number: call(number) for number in numbers}


def main() -> None:
    """Print the figures as a table."""
    with (
        redirect_stdout(LOG),
        patch.object(SesMailer, "read_rate", lambda _: 14.0),
        running_name_server() as dns,
        running_service(dns) as service,
    ):
        counts = measure(service)
    print("| what | AWS calls | write units | read units | bytes of log | which |")
    print("|---|---|---|---|---|---|")
    for name, count in counts.items():
        which = ", ".join(f"{number} {call}" for call, number in Counter(count.calls).items())
        figures = f"{len(count.calls)} | {count.writes} | {count.reads:g} | {count.log_bytes}"
        print(f"| {name} | {figures} | {which} |")


if __name__ == "__main__":
    main()
