"""Conditional writes hold under concurrency, on the engine of the local stack."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import batched
from time import sleep
from typing import Any
from unittest import mock

import httpx
import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.messages.claims import DynamoClaims
from pillarbox.adapters.dynamodb.messages.heartbeat import DynamoHeartbeat, DynamoSeenEvents
from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
from pillarbox.adapters.dynamodb.messages.quotas import Chunk, DynamoQuotas
from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoStrangerMail
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.delivery.feedback import Feedback, FeedbackResult
from pillarbox.application.delivery.ports import EventRecord, ProviderEvent
from pillarbox.application.ports import Claim
from pillarbox.domain.accounts.quota import Amount, Limits, QuotaExceeded, window_name
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import new_token
from pillarbox.domain.messages.message import Event, EventKind
from tests.aws import forget_sessions
from tests.claims import acquire_or_replay
from tests.fakes import builders
from tests.fakes.stores import FakeProviderSuppressions
from tests.stack import AGENT, PATIENCE, operate, send_email

pytestmark = pytest.mark.stack

PARALLEL = 24
#: Each concurrent request is a process here, as it is an execution environment in Lambda.
REQUESTS = 3


@pytest.fixture
def table(stack: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    """Return the table of the running stack, for direct access."""
    for name, value in stack["environment"].items():
        monkeypatch.setenv(name, value)
    forget_sessions()
    table = Table(stack["environment"]["PILLARBOX_TABLE"])
    yield table
    table.client.close()
    forget_sessions()


def test_a_quota_is_never_exceeded(table: Table) -> None:
    """Of 200 parallel sends with 37 left, 37 are accepted (promise 6)."""
    quotas, account, now = DynamoQuotas(table), new_token(12), datetime.now(UTC)
    limits = Limits(per_minute=37, per_day=1_000, per_month=None)

    def send(_: int) -> bool:
        try:
            quotas.reserve(account, Amount(1, 1), limits, now)
        except QuotaExceeded:
            return False
        return True

    with ThreadPoolExecutor(PARALLEL) as pool:
        assert sum(pool.map(send, range(200))) == 37


def test_chunks_never_exceed_a_quota(table: Table) -> None:
    """Of 200 parallel sends of 12 processes that count in chunks, at most 97 are accepted."""
    account, now = new_token(12), datetime.now(UTC)
    processes = [DynamoQuotas(table) for _ in range(12)]
    limits = Limits(per_minute=97, per_day=None, per_month=None)

    def send(number: int) -> bool:
        try:
            processes[number % len(processes)].reserve(account, Amount(1, 1), limits, now)
        except QuotaExceeded:
            return False
        return True

    with (
        mock.patch.object(Chunk, "spare", return_value=Amount(3, 3)),
        ThreadPoolExecutor(PARALLEL) as pool,
    ):
        accepted = sum(pool.map(send, range(200)))
    item = table.get(keys.quota(account))
    assert item is not None
    assert 97 - 3 * len(processes) <= accepted <= item[window_name("minute", now)] <= 97


def test_one_of_many_acquires_a_claim(table: Table) -> None:
    """Of 72 parallel requests under one key one acquires the claim; the others are in flight."""
    claims, messages = DynamoClaims(table), DynamoMessages(table)
    account, now = new_token(12), datetime.now(UTC)

    def acquire(_: int) -> str:
        try:
            claim = acquire_or_replay(claims, messages, "hash", now, account_id=account)
        except ServiceError as error:
            return error.code
        return type(claim).__name__

    with ThreadPoolExecutor(PARALLEL) as pool:
        outcomes = Counter(pool.map(acquire, range(72)))
    assert outcomes == {Claim.__name__: 1, "idempotency_in_flight": 71}


def test_parallel_requests_with_one_key_send_one_mail(stack: dict[str, Any]) -> None:
    """20 parallel sends with one key give one message id; the others replay or 409."""
    key, url = stack["keys"]["live"], f"{stack['base_url']}/api/v1/emails"
    headers = AGENT | {"X-API-Key": key, "Idempotency-Key": new_token(16)}
    body = {"to": "ada@customer.example", "html": "<p>Once</p>", "subject": "Once"}

    def send(_: int) -> httpx.Response:
        return httpx.post(url, json=body, headers=headers, timeout=PATIENCE)

    with ThreadPoolExecutor(REQUESTS) as pool:
        answers = list(pool.map(send, range(20)))
    accepted = [answer for answer in answers if answer.status_code == 200]
    refused = [answer for answer in answers if answer.status_code != 200]
    assert len({answer.text for answer in accepted}) == 1
    assert sum("idempotent-replay" not in answer.headers for answer in accepted) <= 1
    for answer in refused:
        assert (answer.status_code, answer.headers["retry-after"]) == (409, "5")
        assert answer.json()["error"]["code"] == "idempotency_in_flight"


def test_a_revoked_key_sends_nothing(stack: dict[str, Any]) -> None:
    """No request after the revocation is accepted, also in parallel (promise 11)."""
    account = stack["accounts"]["live"]
    made = operate("key", "create", "--account", account, "--name", "gone", "--preset", "send")
    assert send_email(stack, made["key"]).status_code == 200
    operate("key", "revoke", made["id"])
    with ThreadPoolExecutor(REQUESTS) as pool:
        answers = pool.map(lambda _: send_email(stack, made["key"]), range(15))
        assert {answer.status_code for answer in answers} == {401}


def test_the_events_of_fifty_recipients_are_recorded_at_once(table: Table) -> None:
    """Ten workers record the Delivery events of one message to 50 recipients; none gives up."""
    people = tuple(f"person{n}@example.com" for n in range(50))
    message = builders.message(new_token(12), to=people)
    DynamoMessages(table).commit(message)
    events = {
        person: ProviderEvent(
            account_id=message.account_id,
            message_id=message.message_id,
            at=message.created_at,
            events=(Event(kind=EventKind.DELIVERED, at=message.created_at, recipient=person),),
        )
        for person in people
    }

    def record(batch: tuple[str, ...]) -> list[FeedbackResult | Exception]:
        worker = Feedback(
            read=lambda person: events[person],
            find_message=lambda _: None,
            messages=DynamoMessages(table),
            suppressions=DynamoSuppressions(table),
            provider_suppressions=FakeProviderSuppressions(),
            tenant_of=lambda _: None,
            suspend_preview=lambda *_: None,
            strangers=DynamoStrangerMail(table),
            sent_in_a_day=lambda: 0,
            apply_tenant_change=lambda _: False,
            seen_events=DynamoSeenEvents(table),
            heartbeat=DynamoHeartbeat(table),
            clock=lambda: message.created_at,
            pause=sleep,
        )
        return worker.record([EventRecord(person) for person in batch])

    with ThreadPoolExecutor(10) as pool:
        results = [
            result
            for batch in pool.map(record, batched(people, 5, strict=True))
            for result in batch
        ]
    assert [r.outcome for r in results if isinstance(r, FeedbackResult)] == ["changed"] * 50
    stored = DynamoMessages(table).get(message.account_id, message.message_id)
    assert stored is not None
    assert {event.recipient for event in stored.events} == set(people)
    assert stored.revision <= 10
