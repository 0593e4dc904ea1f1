"""The path of webhooks on emulated AWS: stream, queue, worker, timer."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from unittest import mock

import boto3
import pytest

from pillarbox import wiring
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.adapters.dynamodb.table import to_item, to_text
from pillarbox.adapters.dynamodb.webhooks.endpoints import (
    DynamoEndpointHealths,
    DynamoWebhookEndpoints,
)
from pillarbox.adapters.sqs.jobs import SqsJobs
from pillarbox.application.webhooks.ports import PostResult
from pillarbox.domain.accounts.alert import AlertSettings
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import Event, EventKind, Labels, MessageOrigin
from pillarbox.domain.webhooks.endpoint import (
    EndpointDrain,
    EndpointHealth,
    WebhookEndpoint,
    WebhookFormat,
    new_secret,
)
from pillarbox.domain.webhooks.events import webhook_test
from tests.contract.client import Invocation, handler
from tests.contract.service import Service, queue_record
from tests.fakes.builders import message
from tests.fakes.webhooks import endpoint

CONTACT = "owner@shop.example"
#: In the AWS account that the emulator has.
ROLE = "arn:aws:iam::123456789012:role/pillarbox-events"
BUS = "arn:aws:events:eu-west-1:123456789012:event-bus/mail"

type Handlers = Callable[[str], Callable[[dict[str, Any], object], dict[str, Any]]]


@dataclass
class WebhookPath:
    """An account with an endpoint, and the functions of the path.

    Attributes:
        answer: what the endpoint answers.
        posted: the bodies that it received.
        shape: the format of the endpoint.
        headers: those of the posts.
    """

    service: Service
    handlers: Handlers = handler
    url: str = "https://shop.example/hooks"
    answer: PostResult = field(default_factory=lambda: PostResult(status_code=200))
    posted: list[bytes] = field(default_factory=list)
    shape: WebhookFormat = WebhookFormat.PILLARBOX
    headers: list[Mapping[str, str]] = field(default_factory=list)
    role_arn: str | None = None

    def __post_init__(self) -> None:
        self.account = self.service.account(contact=CONTACT)
        self.endpoint: WebhookEndpoint = endpoint(
            self.account,
            url=self.url,
            secrets=(new_secret(wiring.utc_now()),),
            format=self.shape,
            role_arn=self.role_arn,
        )
        DynamoWebhookEndpoints(wiring.services().credentials, wiring.services().table).add(
            self.endpoint, 10
        )
        self.healths = DynamoEndpointHealths(wiring.services().table)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Let the endpoint answer posts, in place of the network."""

        def post(_url: str, headers: Mapping[str, str], body: bytes) -> PostResult:
            self.posted.append(body)
            self.headers.append(headers)
            return self.answer

        with mock.patch.object(wiring.services().webhook_poster, "post", post):
            yield

    def announce(self, recipient: str, subject: str = "Hello") -> None:
        """Announce a bounce, the suppression that it caused, and that the account is paused."""
        now, table = wiring.utc_now(), wiring.services().table
        origin = MessageOrigin(starter_template="otp", labels=Labels(tags={"order": "10442"}))
        people = {"to": (recipient,), "bcc": ("bcc@example.com",)}
        old = message(self.account, new_id(now), subject=subject, origin=origin, **people)
        bounced = Event(kind=EventKind.BOUNCED, at=now, recipient=recipient, reason=subject)
        new = old.with_events([bounced], "0102-1")
        table.put(message_item(new))
        self.service.suppress(self.account, recipient)
        suppression = {"pk": f"SUP#{self.account}", "sk": recipient, "reason": "bounced"}
        stored = table.get(to_item({"pk": f"ACCT#{self.account}", "sk": "-"})) or {}
        images: list[dict[str, Any]] = [
            {"OldImage": message_item(old), "NewImage": message_item(new)},
            {"NewImage": to_item(suppression | {"at": to_text(now)})},
            {"NewImage": to_item(stored | {"suspended": to_text(now)})},
        ]
        for image in images:
            image["Keys"] = {name: image["NewImage"][name] for name in ("pk", "sk")}
        records = [{"eventName": "MODIFY", "dynamodb": image} for image in images]
        self.handlers("announce_events")({"Records": records}, Invocation())

    def post_a_test(self) -> None:
        """Post a test event."""
        event = webhook_test(self.account, wiring.utc_now())
        services = wiring.services()
        services.webhooks_queue.put_all([event.for_endpoint(self.endpoint.endpoint_id)])
        self.work()

    def work(self, *more: str) -> list[str]:
        """Run the worker on all tasks that are visible; return those that stay in the queue."""
        queue_url = os.environ["PILLARBOX_WEBHOOKS_QUEUE_URL"]
        sqs, bodies = boto3.client("sqs"), [*more]
        while found := sqs.receive_message(QueueUrl=queue_url, MaxNumberOfMessages=10):
            received = found.get("Messages", [])
            if not received:
                break
            for each in received:
                bodies.append(each["Body"])
                sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=each["ReceiptHandle"])
        rows = [queue_record(body, str(n), queue="webhooks") for n, body in enumerate(bodies)]
        with self.answering():
            response = self.handlers("post_webhooks")({"Records": rows}, Invocation())
        return [failure["itemIdentifier"] for failure in response["batchItemFailures"]]

    def notify_owner(self, now: datetime) -> None:
        """Run the timers: the queue of jobs refuses the email at first, and then takes it."""
        with self.service.at(now):
            self.handlers("enqueue_due")({}, Invocation())
        now += timedelta(minutes=2)
        refusal = mock.patch.object(SqsJobs, "put", side_effect=Unavailable("queue"))
        with self.service.at(now), refusal, pytest.raises(Unavailable):
            self.handlers("enqueue_due")({}, Invocation())
        for _ in range(2):
            now += timedelta(minutes=7)
            with self.service.at(now):
                self.handlers("enqueue_due")({}, Invocation())

    def run_everything(self, recipient: str, subject: str) -> None:
        """Let events fail, wait for the timer, be drained and be delivered.

        An earlier run moved the timers ahead of the real time, so they are set back.
        """
        for timer in ("DUE", "TELL"):
            wiring.services().table.put(keys.timer_note(timer))
        self.announce(recipient, subject)
        now = wiring.utc_now()
        chat = AlertSettings(chat_url=f"{self.url}/chat")
        wiring.services().alert_store.set_settings(self.account, chat)
        self.answer = PostResult(status_code=503, body=subject, retry_after=timedelta(hours=1))
        self.work()
        for minutes in range(50, 64):
            with self.service.at(now + timedelta(minutes=minutes)):
                self.handlers("enqueue_due")({}, Invocation())
        self.answer = PostResult(status_code=410, body=subject)
        with self.service.at(now + timedelta(minutes=65)):
            self.work()
        self.notify_owner(now + timedelta(minutes=68))
        key = (self.account, self.endpoint.endpoint_id)
        self.healths.replace(*key, self.healths.get(*key), EndpointHealth())
        self.answer = PostResult(status_code=200)
        wiring.services().webhooks_queue.put_all([EndpointDrain(*key)])
        with self.service.at(now + timedelta(minutes=83)):
            self.work()
