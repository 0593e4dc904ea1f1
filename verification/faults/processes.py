"""Processes that can be paused, and the sends of clients."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from greenlet import getcurrent, greenlet

from pillarbox.application.ports import StoredResponse
from pillarbox.domain.accounts.key import EMAILS_SEND, RECEIVED_READ
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.batch import BatchRequest
from pillarbox.domain.messages.mail import Answer, SendRequest
from pillarbox.domain.replies import ReceivedMail
from pillarbox.http.messages.replies import batch_result, send_result
from pillarbox.wiring import services
from tests.fakes.builders import SENDER, api_key
from verification.faults.wire import Killed
from verification.turns import Turns

if TYPE_CHECKING:
    from datetime import datetime


#: A paused process stays for ever: one that nothing refers to would run its handlers to end.
_PAUSED: "Final[set[Process]]" = set()


class Process:
    """Work that runs until it ends or is paused at a call; it is paused at most once."""

    #: Whose turn it is, if the work has threads.
    turns: Turns

    def __init__(self, work: Callable[[], Any]) -> None:
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = self.paused = False
        #: How many seconds its clock is off.
        self.skew = 0.0
        #: When it dies, if it still runs then.
        self.ends_at: datetime | None = None
        self._work = work
        self._first = self._stopped = greenlet(self._run)

    def resume(self) -> None:
        """Run to the end or to the pause.

        Raises:
            BaseException: a signal ended the program while the process ran.
        """
        self._first.parent = getcurrent()
        self._stopped.switch()
        assert self.done or self in _PAUSED

    def pause(self) -> None:
        """Stop the calling thread of the process until `resume`."""
        self.paused = True
        self._stopped = getcurrent()
        _PAUSED.add(self)
        self._first.parent.switch()
        _PAUSED.remove(self)

    def _run(self) -> None:
        try:
            self.result = self._work()
        except (Exception, Killed) as error:  # noqa: BLE001  whoever resumes it reads it
            self.error = error
        self.done = True


@dataclass(eq=False)
class Send:
    """What a client sends in one request, and the answers that it got."""

    #: One email, a batch, or over SMTP one for each session. The subject identifies each.
    mails: tuple[SendRequest, ...]
    digest: str | None
    #: Seconds before each retry of a client that got no answer.
    retry_waits: tuple[float, ...]
    smtp: bool = False
    #: What its one email answers.
    received: ReceivedMail | None = None
    #: The message ids in the answers, by subject.
    answers: dict[str, set[str]] = field(default_factory=dict)
    #: Whether a try ended without an answer, so that its outcome is unknown.
    outcome_unknown: bool = False

    def submit(self, key: str) -> StoredResponse:
        """Submit the request as the accepting process does."""
        if self.received:
            return self._answer(key, self.received)
        if self.smtp:
            return self._relay(key)
        if len(self.mails) == 1:
            return services().single_send.submit(key, self.mails[0], self.digest, send_result)
        batch = BatchRequest(
            body_hash=self.mails[0].body_hash, count=len(self.mails), items=self.mails
        )
        return services().batch_send.submit(key, batch, self.digest, batch_result)

    def _answer(self, key: str, received: ReceivedMail) -> StoredResponse:
        account = services().account_store.get(received.account_id)
        assert account
        scopes = frozenset({EMAILS_SEND, RECEIVED_READ})
        caller = Principal(api_key(key, account.account_id, scopes=scopes), account)
        answer = Answer(text="Hi", html=None, sender=None, idempotency_digest=self.digest)
        return services().answering.submit(
            caller, received.received_id, answer, request_id=None, write_response=send_result
        )

    def _relay(self, key: str) -> StoredResponse:
        """Submit the messages as the relay does with messages that are ready together."""
        submission = services().smtp_submission
        ready = [submission.prepare(key, mail.to, self._octets(mail)) for mail in self.mails]
        if len(ready) == 1:
            return StoredResponse(json.dumps({"messageId": submission.submit(key, ready[0])}))
        outcomes = submission.submit_all(key, ready)
        ids = [None if isinstance(outcome, ServiceError) else outcome for outcome in outcomes]
        return StoredResponse(
            json.dumps({"results": [{"messageId": message_id} for message_id in ids]})
        )

    def _octets(self, mail: SendRequest) -> bytearray:
        """Return the email as a program writes it, with a new Message-ID at each try."""
        fields = [
            f"From: {SENDER}",
            f"Subject: {mail.subject}",
            f"Message-ID: <{uuid4()}@shop.example>",
            "Content-Type: text/html",
        ]
        if self.digest is not None:
            fields.append(f"Idempotency-Key: {self.digest}")
        return bytearray("\r\n".join([*fields, "", mail.html or ""]).encode())

    def record(self, answer: StoredResponse) -> None:
        """Record the ids in an answer."""
        body = json.loads(answer.body)
        for mail, result in zip(self.mails, body.get("results", [body]), strict=True):
            if result["messageId"]:
                self.answers.setdefault(mail.subject or "", set()).add(result["messageId"])
