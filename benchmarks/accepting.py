"""The cost of sending, delivering and tracking one mail: AWS calls, write units, read units.

    .venv/bin/python -m benchmarks.accepting

The figures do not depend on the speed of the machine. The real handlers run on moto, every AWS
call is counted, and units are computed from the sizes of the items as DynamoDB bills them: 1 KB
for a write unit, 4 KB for a consistent read unit, twice the units in a transaction. The log is
counted as CloudWatch bills it: its bytes, and 26 more for each line.
"""

import importlib.util
import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from math import ceil
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import boto3
from botocore.client import BaseClient
from moto import mock_aws

from tests.fakes import builders

SETTINGS = builders.environment(
    table="pillarbox",
    credentials_table="pillarbox-credentials",
    spool_bucket="pillarbox-spool",
    configuration_set="pillarbox",
) | {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "eu-west-1",
    "POWERTOOLS_SERVICE_NAME": "benchmark",
    "POWERTOOLS_METRICS_NAMESPACE": "Pillarbox",
}
SENDER = "hello@shop.example"
RECIPIENT = "ada@customer.example"
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


def size_of(attribute: Mapping[str, Any]) -> int:
    """Return the size in bytes that DynamoDB counts for an attribute value."""
    ((kind, value),) = attribute.items()
    match kind:
        case "S":
            return len(value.encode())
        case "B":
            return len(value)
        case "N":
            return len(value.lstrip("-0").replace(".", "")) // 2 + 2
        case "BOOL" | "NULL":
            return 1
        case "SS":
            return sum(len(text.encode()) for text in value)
        case "L":
            return 3 + sum(1 + size_of(item) for item in value)
        case "M":
            return 3 + sum(1 + len(name.encode()) + size_of(item) for name, item in value.items())
        case _:
            raise ValueError(kind)


def item_size(item: Mapping[str, Any]) -> int:
    """Return the size of an item in bytes."""
    return sum(len(name.encode()) + size_of(value) for name, value in item.items())


def write_units(item: Mapping[str, Any]) -> int:
    """Return the write units of an item."""
    return max(1, ceil(item_size(item) / 1024))


@contextmanager
def counting() -> Iterator[Count]:
    """Count every AWS call, and the log, within a `with` block."""
    count = Count()
    logged = LOG.tell()
    make_call: Callable[..., Any] = BaseClient._make_api_call  # type: ignore[attr-defined]  # noqa: SLF001  every call passes through it

    def counted(client: Any, operation: str, request: dict[str, Any]) -> Any:  # noqa: ANN401
        count.calls.append(operation)
        answer = make_call(client, operation, request)
        match operation:
            case "PutItem":
                count.writes += write_units(request["Item"])
            case "UpdateItem":
                count.writes += write_units(answer.get("Attributes", {}))
            case "DeleteItem":
                count.writes += 1
            case "TransactWriteItems":
                for action in request["TransactItems"]:
                    ((kind, write),) = action.items()
                    count.writes += 2 * (write_units(write["Item"]) if kind == "Put" else 1)
            case "GetItem":
                units = max(1, ceil(item_size(answer.get("Item", {})) / 4096))
                count.reads += units if request.get("ConsistentRead") else units / 2
            case "BatchGetItem":
                for table, table_request in request["RequestItems"].items():
                    items = answer["Responses"][table]
                    count.reads += sum(max(1, ceil(item_size(item) / 4096)) for item in items)
                    count.reads += len(table_request["Keys"]) - len(items)
        return answer

    with patch.object(BaseClient, "_make_api_call", counted):
        yield count
    lines = LOG.getvalue()[logged:]
    count.log_bytes = len(lines.encode()) + LOG_LINE * lines.count("\n")


def handler(name: str) -> Callable[[dict[str, Any], Any], Any]:
    """Load the handler of a function from its folder."""
    path = Path(__file__).parent.parent / "functions" / name / "app.py"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    entry: Callable[[dict[str, Any], Any], Any] = module.lambda_handler
    return entry


CONTEXT = SimpleNamespace(
    aws_request_id="benchmark",
    function_name="benchmark",
    memory_limit_in_mb=1024,
    invoked_function_arn="arn:aws:lambda:eu-west-1:123456789012:function:benchmark",
    get_remaining_time_in_millis=lambda: 60_000,
)


def post(
    key: str, body: object, headers: Mapping[str, str], path: str = "/v1/emails"
) -> dict[str, Any]:
    """Return the event of a POST request, as API Gateway sends it."""
    sent_headers = {"User-Agent": "shop/1.0", "X-API-Key": key, **headers}
    return {
        "resource": path,
        "path": path,
        "httpMethod": "POST",
        "headers": sent_headers,
        "multiValueHeaders": {name: [value] for name, value in sent_headers.items()},
        "pathParameters": None,
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "requestContext": {"requestId": "benchmark", "stage": "api"},
        "body": json.dumps(body),
        "isBase64Encoded": False,
    }


def queue_event(bodies: list[str]) -> dict[str, Any]:
    """Return an event of an SQS source."""
    return {
        "Records": [
            {
                "messageId": str(position),
                "receiptHandle": "handle",
                "body": body,
                "attributes": {"ApproximateReceiveCount": "1"},
                "messageAttributes": {},
                "eventSource": "aws:sqs",
            }
            for position, body in enumerate(bodies)
        ]
    }


def set_up() -> str:
    """Create tables, bucket and queue, and an account with a key; return the key's text."""
    for table in ("PILLARBOX_TABLE", "PILLARBOX_CREDENTIALS_TABLE"):
        boto3.client("dynamodb").create_table(
            TableName=SETTINGS[table],
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "S"},
            ],
            BillingMode="PAY_PER_REQUEST",
        )
    boto3.client("s3").create_bucket(
        Bucket=SETTINGS["PILLARBOX_SPOOL_BUCKET"],
        CreateBucketConfiguration={"LocationConstraint": "eu-west-1"},
    )
    queue = boto3.client("sqs").create_queue(QueueName="jobs")
    for name in ("PILLARBOX_JOBS_QUEUE_URL", "PILLARBOX_URGENT_JOBS_QUEUE_URL"):
        os.environ[name] = queue["QueueUrl"]

    from admin.wiring import OperatorWiring  # noqa: PLC0415
    from pillarbox.domain.accounts.account import Plan  # noqa: PLC0415
    from pillarbox.domain.accounts.key import Preset  # noqa: PLC0415
    from pillarbox.settings import Settings  # noqa: PLC0415

    wiring = OperatorWiring(Settings(os.environ))
    account = wiring.accounts.create("Shop", Plan.STANDARD)
    wiring.senders.add(account.account_id, SENDER, verified=True, default=True)
    return wiring.api_keys.issue_live(account.account_id, "web", Preset.SEND).text


def events_of(job: Mapping[str, Any]) -> list[str]:
    """Return the Send and Delivery events of a mail, as SES writes them."""
    now = datetime.now(UTC)
    mail = {
        "timestamp": now.isoformat(),  # the time at SES, after the start of the hand-over
        "messageId": "0100",
        "tags": {"account": [job["account"]], "message": [job["id"]]},
    }
    delivery = {"timestamp": (now + timedelta(seconds=1)).isoformat(), "recipients": [RECIPIENT]}
    return [
        json.dumps({"eventType": "Send", "mail": mail, "send": {}}),
        json.dumps({"eventType": "Delivery", "mail": mail, "delivery": delivery}),
    ]


def accepted_by_ses(*_: object) -> str:
    """Return a provider message id; the figures do not include SES."""
    return "0100"


def measure() -> dict[str, Count]:
    """Measure a mail without a key, the whole life of one with a key, and a batch."""
    from pillarbox.adapters.dns import DnsMailDomains  # noqa: PLC0415
    from pillarbox.adapters.ses.mailer import SesMailer  # noqa: PLC0415
    from pillarbox.adapters.ses.rate import SesAccountRate  # noqa: PLC0415
    from pillarbox.application.ports import DomainVerdict  # noqa: PLC0415

    key = set_up()
    send, deliver, track = map(handler, ("send_email", "deliver_message", "record_feedback"))
    body = {
        "to": RECIPIENT,
        "starterTemplate": "password_reset",
        "variables": {"reset_url": "https://shop.example/reset/7f3c", "expiry_minutes": 30},
    }
    sqs, queue = boto3.client("sqs"), os.environ["PILLARBOX_JOBS_QUEUE_URL"]

    def accept(headers: Mapping[str, str]) -> Count:
        with counting() as count:
            answer = send(post(key, body, headers), CONTEXT)
        if answer["statusCode"] != HTTPStatus.OK:
            raise RuntimeError(answer["body"])
        return count

    def jobs() -> list[str]:
        return [
            message["Body"]
            for message in sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)["Messages"]
        ]

    counts = {}
    with (
        patch.object(DnsMailDomains, "look_up", lambda _, domains: all_accept(domains)),
        patch.object(SesMailer, "send", accepted_by_ses),
        patch.object(SesAccountRate, "read", lambda _: 14.0),
    ):

        def all_accept(domains: Iterable[str]) -> dict[str, DomainVerdict]:
            return dict.fromkeys(domains, DomainVerdict.ACCEPTS)

        # The first mail creates the counters of the month, the day and the minute, and the
        # heartbeat of the minute.
        accept({})
        (first,) = jobs()
        deliver(queue_event([first]), CONTEXT)
        track(queue_event(events_of(json.loads(first))), CONTEXT)
        counts["accept, without a key"] = accept({})
        jobs()
        counts["accept, with a key"] = accept({"Idempotency-Key": "order-1"})
        (job,) = jobs()
        with counting() as count:
            deliver(queue_event([job]), CONTEXT)
        counts["deliver"] = count
        with counting() as count:
            track(queue_event(events_of(json.loads(job))), CONTEXT)
        counts["track, Send and Delivery"] = count
        batch = {"messages": [body | {"to": f"a{n}@customer.example"} for n in range(100)]}
        send_batch = handler("send_batch")
        with counting() as count:
            answer = send_batch(
                post(key, batch, {"Idempotency-Key": "batch-1"}, "/v1/emails/batch"), CONTEXT
            )
        if answer["body"].count('"queued"') != len(batch["messages"]):
            raise RuntimeError(answer["body"])
        counts["a batch of 100, with a key"] = count
    return counts


def main() -> None:
    """Print the figures as a table."""
    os.environ.update(SETTINGS)
    with mock_aws(), redirect_stdout(LOG):
        counts = measure()
    parts = ("accept, with a key", "deliver", "track, Send and Delivery")
    counts["whole life, with a key"] = Count(
        calls=[call for part in parts for call in counts[part].calls],
        writes=sum(counts[part].writes for part in parts),
        reads=sum(counts[part].reads for part in parts),
        log_bytes=sum(counts[part].log_bytes for part in parts),
    )
    print("| what | AWS calls | write units | read units | bytes of log | which |")
    print("|---|---|---|---|---|---|")
    for name, count in counts.items():
        which = ", ".join(f"{number} {call}" for call, number in Counter(count.calls).items())
        figures = f"{len(count.calls)} | {count.writes} | {count.reads:g} | {count.log_bytes}"
        print(f"| {name} | {figures} | {which} |")


if __name__ == "__main__":
    main()
