"""Runs the SES stand-in and its inbox as the local stack does: one event loop, two ports."""

import asyncio
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future

import boto3
import uvicorn
from botocore.config import Config
from mypy_boto3_sesv2 import SESV2Client
from starlette.applications import Starlette

from local.inbox.app import inbox_app
from local.inbox.webhooks import WebhookStore
from local.ses.account import StoredAccount
from local.ses.app import ses_app
from local.ses.store import MailStore
from pillarbox.domain.errors import Json
from tests.stack import PATIENCE

RAW = (
    b"From: Post <post@sender.example>\r\n"
    b"To: ada@example.com\r\n"
    b"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n"
    b"Date: Fri, 20 Nov 2026 10:00:00 +0000\r\n"
    b"Message-ID: <m1@sender.example>\r\n"
    b"\r\n"
    b"Hello\r\n"
)

type Record = dict[str, Json]
#: Sends a small email to addresses, and returns its id.
type Send = Callable[..., str]


class LocalSes:
    """Both applications in a thread, until `close`; without a mailbox outside the sandbox."""

    def __init__(self, mailbox: MailStore | None = None) -> None:
        self.mailbox = mailbox or MailStore(account=StoredAccount(review="GRANTED"))
        self.webhooks = WebhookStore()
        #: The signing secrets of the endpoints at each receiver.
        self.secrets: dict[str, list[str]] = {}
        self.records: list[Record] = []
        self.emit_faults = 0  # the number of emit calls that will still fail
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._servers = [
            _server(ses_app(self.mailbox, self._emit)),
            _server(inbox_app(self.mailbox, self.webhooks, self._secrets_of)),
        ]
        self.ses_url, self.inbox_url = (
            f"http://127.0.0.1:{sock.getsockname()[1]}" for _, sock in self._servers
        )
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        async def serve() -> None:
            async with asyncio.TaskGroup() as group:
                for server, sock in self._servers:
                    group.create_task(server.serve([sock]))

        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(serve())

    async def _secrets_of(self, receiver: str) -> list[str]:
        return self.secrets.get(receiver, [])

    async def _emit(self, record: Record) -> None:
        await asyncio.sleep(0)
        with self._changed:
            if self.emit_faults:
                self.emit_faults -= 1
                raise ConnectionError("the queue is unreachable")
            self.records.append(record)
            self._changed.notify_all()

    def await_records(self, count: int) -> list[Record]:
        """Wait for this number of records, and return all records."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.records) >= count, timeout=PATIENCE), (
                f"only {len(self.records)} of {count} events arrived"
            )
            return list(self.records)

    def on_loop[T](self, call: Callable[[], T]) -> T:
        """Run a call that changes the mailbox on the event loop of the applications."""
        done: Future[T] = Future()
        self._loop.call_soon_threadsafe(lambda: done.set_result(call()))
        return done.result(timeout=PATIENCE)

    def close(self) -> None:
        self.on_loop(self.mailbox.close)
        self.on_loop(self.webhooks.close)
        for server, _ in self._servers:
            server.should_exit = True
        self._thread.join(timeout=PATIENCE)
        assert not self._thread.is_alive(), "the servers did not stop"


def _server(app: Starlette) -> tuple[uvicorn.Server, socket.socket]:
    sock = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="warning", ws="none", http="h11", loop="asyncio")
    return uvicorn.Server(config), sock


def client(local_ses: LocalSes, read_timeout: float = PATIENCE) -> SESV2Client:
    """Return a boto3 client without retries."""
    return boto3.client(
        "sesv2",
        endpoint_url=local_ses.ses_url,
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
        config=Config(retries={"total_max_attempts": 1}, read_timeout=read_timeout),
    )
