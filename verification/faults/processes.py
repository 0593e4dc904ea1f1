"""What runs: processes that can be paused, and what clients send."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from pillarbox.application.ports import StoredResponse
from pillarbox.application.sending.batch import BatchRequest
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.mail import SendRequest
from pillarbox.http.replies import batch_result, send_result
from pillarbox.wiring import services
from tests.fakes.builders import SENDER


class Process:
    """Something that runs until it ends, or until it is paused at a call, which it is once."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = self.paused = False
        self._work = work
        self._go, self._stopped = threading.Semaphore(0), threading.Semaphore(0)

    def go_on(self) -> None:
        """Run to the end or to the next pause."""
        if self.paused:
            self._go.release()
        else:
            threading.Thread(target=self._run, daemon=True).start()
        self._stopped.acquire()

    def pause(self) -> None:
        """Stop here, in a thread of the process, until it is to go on."""
        self.paused = True
        self._stopped.release()
        self._go.acquire()

    def _run(self) -> None:
        try:
            self.result = self._work()
        except BaseException as error:  # noqa: BLE001  a killed process ends here
            self.error = error
        self.done = True
        self._stopped.release()


@dataclass(eq=False)
class Send:
    """What a client wants to send at once, and what came of it."""

    #: One mail, a batch, or over SMTP one for each session; each is known by its subject.
    mails: tuple[SendRequest, ...]
    digest: str | None
    #: Seconds until each further try of a client that was not answered.
    patience: tuple[float, ...]
    smtp: bool = False
    #: The message ids that were answered, by subject.
    answers: dict[str, set[str]] = field(default_factory=dict)
    #: A try ended without an answer, so nobody can say what became of it.
    unheard: bool = False

    def submit(self, key: str) -> StoredResponse:
        """What the accepting process does with the request."""
        if self.smtp:
            return self._relay(key)
        if len(self.mails) == 1:
            return services().single_send.submit(key, self.mails[0], self.digest, send_result)
        batch = BatchRequest(
            body_hash=self.mails[0].body_hash, count=len(self.mails), items=self.mails
        )
        return services().batch_send.submit(key, batch, self.digest, batch_result)

    def _relay(self, key: str) -> StoredResponse:
        """What the relay does with messages that are ready together."""
        relaying = services().smtp_submission
        ready = [relaying.prepare(mail.to, self._octets(mail)) for mail in self.mails]
        if len(ready) == 1:
            return StoredResponse(json.dumps({"messageId": relaying.submit(key, ready[0])}))
        outcomes = relaying.submit_all(key, ready)
        ids = [None if isinstance(outcome, ServiceError) else outcome for outcome in outcomes]
        return StoredResponse(
            json.dumps({"results": [{"messageId": message_id} for message_id in ids]})
        )

    def _octets(self, mail: SendRequest) -> bytearray:
        """The mail as a program writes it; at each try with a Message-ID of its own."""
        fields = [
            f"From: {SENDER}",
            f"Subject: {mail.subject}",
            f"Message-ID: <{uuid4()}@shop.example>",
            "Content-Type: text/html",
        ]
        if self.digest is not None:
            fields.append(f"Idempotency-Key: {self.digest}")
        return bytearray("\r\n".join([*fields, "", mail.html or ""]).encode())

    def hear(self, answer: StoredResponse) -> None:
        """Note the ids that were answered."""
        told = json.loads(answer.body)
        for mail, result in zip(self.mails, told.get("results", [told]), strict=True):
            if result["messageId"]:
                self.answers.setdefault(mail.subject or "", set()).add(result["messageId"])
