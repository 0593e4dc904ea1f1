"""The local engine with the resources of template.yaml that the system needs."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final
from unittest import mock

import boto3

from local.dns import DnsServer
from local.engine import Engine
from pillarbox import consumer, wiring
from pillarbox.adapters import child_process
from pillarbox.adapters.dynamodb import table
from pillarbox.adapters.dynamodb.messages import sending_rate
from pillarbox.adapters.sqs import event_queue
from pillarbox.adapters.sqs.event_queue import Metric, reports
from pillarbox.settings import Settings
from tests.aws import create_table, forget_sessions, forget_wiring
from tests.fakes import builders
from tests.stack import free_port
from verification.faults.stream import TableStream
from verification.faults.system import (
    BUCKET,
    CREDENTIALS,
    EVENTS_DEAD_LETTERS_URL,
    EVENTS_QUEUE_URL,
    SES,
    TABLE,
    ProcessLock,
    System,
)
from verification.turns import Event, Pool, Turns

_run_in_child: Final = child_process.run_in_child


def _in_child_without_threads(work: Callable[[], bytes]) -> bytes:
    """Run work in a process of its own, unless threads simulate the processes."""
    return work() if threading.active_count() > 1 else _run_in_child(work)


def _reports_of(system: System) -> Callable[..., dict[datetime, float]]:
    """Ask CloudWatch, which may fail, and answer by the simulated clock."""

    def simulated(
        client: Any, url: str, metric: Metric, since: datetime, until: datetime
    ) -> dict[datetime, float]:
        reports(client, url, metric, since, until)
        return system.reports(metric, since, until)

    return simulated


def _of_process[T](system: System, simulated: Callable[[Turns], T], *_: object) -> T:
    assert system.process
    return simulated(system.process.turns)


@contextmanager
def running(state: Path, client: str = Settings({}).aws_client) -> Iterator[System]:
    """Start an engine with the service's resources and connect this process to it.

    Args:
        state: where the engine keeps its files.
        client: which one calls DynamoDB, Lambda and SQS.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def wait_for[T](coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(60)

    engine = Engine(state, free_port(), {})
    settings = engine.aws_environment | builders.environment(
        table=TABLE,
        credentials_table=CREDENTIALS,
        spool_bucket=BUCKET,
        configuration_set="pillarbox",
        events_queue_url=EVENTS_QUEUE_URL,
        events_dead_letters_url=EVENTS_DEAD_LETTERS_URL,
    )
    settings |= {
        Settings.aws_client.variable: client,
        "AWS_ENDPOINT_URL_SESV2": SES,
        "POWERTOOLS_LOG_LEVEL": "CRITICAL",
        "POWERTOOLS_METRICS_NAMESPACE": "Pillarbox",
        "POWERTOOLS_SERVICE_NAME": "pillarbox",
    }
    try:
        with ExitStack() as parts:
            parts.callback(forget_sessions)
            parts.enter_context(mock.patch.dict(os.environ, settings))
            forget_sessions()
            parts.callback(lambda: wait_for(engine.stop()))
            wait_for(engine.start())
            queue_url = boto3.client("sqs").create_queue(QueueName="jobs")["QueueUrl"]
            webhooks_url = boto3.client("sqs").create_queue(QueueName="webhooks")["QueueUrl"]
            dead_url = boto3.client("sqs").create_queue(QueueName="dead")["QueueUrl"]
            boto3.client("s3").create_bucket(Bucket=BUCKET)
            create_table(TABLE)
            create_table(CREDENTIALS)
            stream = TableStream(TABLE)
            dns = DnsServer()
            host, dns_port = wait_for(dns.start())
            parts.callback(lambda: wait_for(dns.stop()))
            endpoints = {
                "PILLARBOX_JOBS_QUEUE_URL": queue_url,
                "PILLARBOX_URGENT_JOBS_QUEUE_URL": queue_url,  # one queue is enough here
                "PILLARBOX_JOBS_DEAD_LETTERS_URL": dead_url,
                "PILLARBOX_WEBHOOKS_QUEUE_URL": webhooks_url,
                "PILLARBOX_DNS_SERVERS": f"{host}:{dns_port}",
            }
            parts.enter_context(mock.patch.dict(os.environ, endpoints))
            forget_wiring()
            parts.callback(forget_wiring)
            parts.enter_context(
                mock.patch.object(child_process, "run_in_child", _in_child_without_threads)
            )
            system = System(queue_url, dead_url, stream)
            # Its processes share one worker, and one that pauses would keep the lock.
            lock = partial(ProcessLock, system)
            parts.enter_context(mock.patch.object(sending_rate, "Lock", lock))
            for module in (wiring.delivery, table):
                parts.enter_context(mock.patch.object(module, "sleep", system.sleep))
            for name, simulated in (("ThreadPoolExecutor", Pool), ("Event", Event)):
                make = partial(_of_process, system, simulated)
                parts.enter_context(mock.patch.object(consumer, name, make))
            parts.enter_context(mock.patch.object(wiring.stores, "read_clock", system.clock))
            parts.enter_context(
                mock.patch.object(wiring.stores, "read_monotonic", system.monotonic)
            )
            parts.enter_context(mock.patch.object(event_queue, "reports", _reports_of(system)))
            parts.enter_context(system.wire.patched())
            yield system
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
