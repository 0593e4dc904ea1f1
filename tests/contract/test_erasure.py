"""Of all texts that AWS has of an email, which are there after a person was erased."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from types import UnionType
from typing import Any, Final, TypeAliasType, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from admin.wiring import OperatorWiring
from pillarbox import wiring
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.adapters.dynamodb.webhooks.deliveries import (
    DynamoWaitingEvents,
    DynamoWebhookDeliveries,
)
from pillarbox.application.history.ports import SearchEntry
from pillarbox.application.ports import Claim, StoredResponse
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.kept import KeptContent
from pillarbox.domain.messages.mail import HandOverResult, Job, Mail
from pillarbox.domain.messages.message import Event, EventKind, Message, MessageOrigin
from pillarbox.domain.messages.schedule import Schedule
from pillarbox.domain.messages.statistics import TagTerm, terms_of
from pillarbox.domain.messages.upload import UploadedFile
from pillarbox.domain.webhooks.endpoint import WebhookDelivery, WebhookEvent
from tests.aws import shared_client
from tests.contract.service import Service
from tests.fakes.builders import message

ANN: Final = "ann@customer.example"
#: What stays of an email to the person, and why.
STAYS: Final = {
    "message.body_hash": "a hash of the whole request",
    "message.provider_message_id": "SES's id",
    "message.sender": "the account's own",
    "message.from_name": "the account's own",
    "message.cc": "another person",
    "message.bcc": "another person",
    "event.code": "a status code",
    "lease.owner": "the id of a worker",
    "origin.key_id": "an id",
    "origin.request_id": "an id",
    "origin.starter_template": "an id",
    "origin.template_id": "an id",
    "origin.shape": "the names of a template's variables",
}
#: What else stays of a copy that went to others: who they are, and what their servers wrote.
STAYS_OF_COPY: Final = {"message.to", "event.recipient", "event.reason"}


@dataclass
class Email:
    """An email with words in all its texts, and where the words stand."""

    name: str
    places: set[str] = field(default_factory=set)

    def fill(self, made: type[Any], **given: object) -> Any:
        """Return an object with a word in each of its texts, also in that of a field to come."""
        hints = get_type_hints(made, localns={"Schedule": Schedule, "UploadedFile": UploadedFile})
        name = made.__name__.removeprefix("Message").lower() or "message"
        words = {f: self._value(h, f"{name}.{f}") for f, h in hints.items() if f not in given}
        return made(**given, **words)

    def _value(self, hint: Any, place: str) -> Any:
        if isinstance(hint, TypeAliasType):
            return self._value(hint.__value__, place)
        parts, origin = get_args(hint), get_origin(hint)
        if origin in {Union, UnionType}:
            return self._value(str if str in parts else parts[0], place)
        if origin is tuple:
            return (self._value(parts[0], place),)
        if origin is Mapping:
            return {self._value(parts[0], place): self._value(parts[1], place)}
        if is_dataclass(hint):
            return self.fill(hint)  # type: ignore[arg-type]
        if issubclass(hint, Enum):
            return next(iter(hint))
        if hint is str:
            self.places.add(place)
            return f"<{self.name} {place}>"
        now = wiring.utc_now()
        plain = {bytes: b"", bool: True, int: 1, datetime: now, timedelta: timedelta(hours=1)}
        return (plain | {UUID: new_id(now)})[hint]

    def found(self) -> set[str]:
        """Return which of the words are in the tables, the bucket and the queues."""
        database, s3, sqs = map(shared_client, ("dynamodb", "s3", "sqs"))
        texts = [database.scan(TableName=one) for one in database.list_tables()["TableNames"]]
        for bucket in s3.list_buckets()["Buckets"]:
            for one in s3.list_objects_v2(Bucket=bucket["Name"]).get("Contents", []):
                stored = s3.get_object(Bucket=bucket["Name"], Key=one["Key"])
                texts.append(stored["Body"].read().decode())
        texts += [
            sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0)
            for url in sqs.list_queues()["QueueUrls"]
        ]
        return {*re.findall(rf"<{self.name} (.*?)>", json.dumps(texts, default=str))}


def store(service: Service, account_id: str, email: Email, **given: Any) -> Message:
    """Store an email in all places from which an erasure removes it."""
    services, of = wiring.services(), {"account_id": account_id}
    stored: Message = email.fill(Message, **of, **given)
    services.table.put(message_item(stored))
    entries = {SearchEntry(stored.message_id, term): True for term in terms_of(stored)}
    services.search_index.change(account_id, entries)
    services.waiting_contents.put_all([(stored, email.fill(Mail))])
    services.kept_contents.put(KeptContent.of(stored), f"<{email.name} kept.content>".encode())
    event = email.fill(
        WebhookEvent, **of, endpoint_id=service.webhook(account_id), address=ANN, token=None
    )
    DynamoWaitingEvents(services.table, wiring.utc_now).put(event)
    DynamoWebhookDeliveries(services.table).put(email.fill(WebhookDelivery, event=event))
    return stored


def store_what_expires(account_id: str, email: Email) -> None:
    """Store a claim, which is there for a day, and jobs, which are there until they are done."""
    services, of = wiring.services(), {"account_id": account_id}
    job = email.fill(Job, **of, mail=None, result=None, spool_key=None)
    services.jobs.put(job, email.fill(Mail))
    services.jobs.put_result(job, email.fill(HandOverResult))
    claim = email.fill(Claim, **of, earlier=())
    services.sending_ports.claims.put(claim, wiring.utc_now())
    response = email.fill(StoredResponse, message_ids=(), quota=None)
    services.sending_ports.claims.finish(claim, response)


def test_only_what_is_listed_stays_of_an_email_and_of_its_copies(
    service: Service, account: str
) -> None:
    email, copy, expiring = Email("first"), Email("copy"), Email("expiring")
    now = wiring.utc_now()
    original = store(service, account, email, message_id=new_id(now), to=(ANN,))
    origin = copy.fill(MessageOrigin, resend_of=original.message_id)
    store(service, account, copy, message_id=new_id(now), origin=origin)
    store_what_expires(account, expiring)
    for one in (email, copy):
        assert one.found() == one.places | {"kept.content"}
    assert expiring.found() == expiring.places
    services = wiring.services()
    erasure = OperatorWiring(services.settings).recipient_erasure
    replace(erasure, free=lambda *_: None, pause=lambda _: None).erase(
        [services.accounts.get(account)], ANN, lambda _: None
    )
    assert email.found() == {*STAYS}
    assert copy.found() == {*STAYS} | STAYS_OF_COPY
    assert expiring.found() == expiring.places


def test_the_same_stays_of_a_copy_whose_original_was_too_old(account: str) -> None:
    """No erasure finds it after the sweep has deleted the original's record."""
    copy, now, services = Email("late"), wiring.utc_now(), wiring.services()
    sent = Event(kind=EventKind.SENT, at=now)
    old = message(account, new_id(now - timedelta(days=100)), to=(ANN,), events=(sent,))
    origin = copy.fill(MessageOrigin, resend_of=old.message_id)
    late = copy.fill(Message, account_id=account, message_id=new_id(now), origin=origin)
    for one in (old, late):
        services.table.put(message_item(one))
    entry = SearchEntry(late.message_id, TagTerm("", str(old.message_id)))
    services.search_index.change(account, {entry: True})
    assert copy.found() == copy.places
    kept = replace(services.accounts.get(account), record_days=90)
    services.sweep.retention.delete_page(kept, now, None)
    assert copy.found() == {*STAYS} | STAYS_OF_COPY
