"""Accept messages: the only place that makes the promise of a 200 or a 250.

The order of the steps is the promise (docs/architecture.md, "Accepting"). The job is
queued before the record is committed, because the record is the commit: a job without
a record is not accepted mail, but a record without a job would be lost mail. The claim
comes before everything slow. What fails after the claim gives back what it reserved.

| step      | one message                               | many messages                         |
|-----------|-------------------------------------------|---------------------------------------|
| 1 claim   | `claim`: acquire it, or the response      | the same                              |
| 2 prepare | the slow checks, by the caller            | the same (a), for each message        |
| 3 quota   | `reserve` it                              | `reserve_all`, or as many as fit (b)  |
| 4 queue   | `commit`: SendMessage                     | `queue_all`: SendMessageBatch (c)     |
| 5 commit  | `commit`: put the record                  | `commit_all`: put each record;        |
|           |                                           | then `finish` (d)                     |
| a failure | withdraw the id, which tells whether      | the same; release the claim if step 5 |
|           | step 5 took effect; refund; release       | was not reached (e)                   |

The callers take the steps in this order, 2 and 3 (for many, 2 to 4) inside `released_on_error`.
`claiming.py` has step 1, and says why the record alone can be the commit.

Why many differ from one:
(a) One bad message does not stop the others (contract 4.2). Messages that an owner of the claim
    accepted before it died are not prepared again.
(b) A batch is accepted in order. A message that does not fit is refused; a later one with fewer
    recipients may fit.
(c) Ten messages cost one call. SQS may refuse some messages of a call.
(d) The response to one message follows from its record. That to a batch names refusals too.
(e) Some of the messages may be recorded. A retry must find them.

A message with a schedule has its content stored and its job arranged in step 4 (`waiting.py`).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from pillarbox.application.ports import (
    AcceptedMessage,
    Claim,
    StoredResponse,
)
from pillarbox.application.sender_quota import SenderQuota
from pillarbox.application.sending.claiming import Claiming
from pillarbox.application.sending.ports import SendingPorts
from pillarbox.application.sending.prepare import PreparedMessage
from pillarbox.domain.accounts.quota import NOTHING, Amount, QuotaExceeded, add, first_full
from pillarbox.domain.errors import ServiceError, Unavailable, Withdrawn
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import Message

if TYPE_CHECKING:
    from pillarbox.domain.accounts.key_policy import Principal
    from pillarbox.domain.sign_in.session import MemberPrincipal

#: Others may reserve quota between the refusal that says how much is left and the next try.
_QUOTA_TRIES: Final = 5

type Outcome = AcceptedMessage | ServiceError


@dataclass(frozen=True, slots=True)
class MessageGroup:
    """Messages that are accepted in few calls, by position.

    `prepared` has those that may still be accepted, `outcomes` what is known of the others.
    """

    prepared: dict[int, PreparedMessage]
    outcomes: dict[int, Outcome]

    @property
    def in_order(self) -> Sequence[Outcome]:
        """Return the outcome of each message once all are known."""
        return [self.outcomes[position] for position in sorted(self.outcomes)]

    def refuse(self, refusals: Mapping[int, ServiceError]) -> None:
        """Take out messages that cannot be accepted."""
        for position, refusal in refusals.items():
            self.outcomes[position] = refusal
            del self.prepared[position]


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The steps of accepting messages of one sender, who was just authenticated."""

    ports: SendingPorts
    principal: "Principal | MemberPrincipal"

    def claim(
        self,
        idempotency_digest: str | None,
        body_hash: str,
        write_response: Callable[[AcceptedMessage], str] | None = None,
        count: int = 1,
    ) -> Claim | StoredResponse | None:
        """Acquire the claim of a request, or return the response to an earlier one.

        Args:
            idempotency_digest: identifies the route and the Idempotency-Key, in hex; None
                without a key, which needs no claim.
            body_hash: identifies the request under its key.
            write_response: writes the response to one message; a batch has none.
            count: how many messages the request has.

        Raises:
            ServiceError: an idempotency error.
        """
        if idempotency_digest is None:
            return None
        account, now = self.principal.account, self.ports.clock()
        claim = Claim(
            account_id=account.account_id,
            digest=idempotency_digest,
            body_hash=body_hash,
            generation=new_id(now, account.shards_at(now)),
            count=count,
        )
        claiming = Claiming(self.ports.claims, self.ports.messages, write_response)
        return claiming.acquire(claim, now)

    @contextmanager
    def released_on_error(self, claim: Claim | None) -> Iterator[None]:
        """Release a claim if a step before the commit fails, so that a retry is a new attempt."""
        try:
            yield
        except Exception:
            if claim is not None:
                self.ports.claims.release(claim)
            raise

    def reserve(self, prepared: PreparedMessage, claim: Claim | None = None) -> PreparedMessage:
        """Reserve quota for one message, and return it under the id that its claim gives it.

        Raises:
            QuotaExceeded: it does not fit.
        """
        if claim is not None:
            prepared = prepared.with_id(claim.message_ids[0])
        self._quota.reserve(prepared.amount, prepared.now)
        return prepared

    def commit(self, prepared: PreparedMessage, claim: Claim | None, text: str) -> StoredResponse:
        """Queue one message and commit its record with the text of the response.

        An error leaves nothing behind. If the commit took effect in spite of it, none is raised.
        """
        message = prepared.message
        response = StoredResponse(text, message_ids=(message.message_id,), amount=prepared.amount)
        tried = False
        try:
            self._queue(prepared)
            tried = True
            self.ports.messages.commit(message)
        except Exception:
            committed, certain = self._settle(message) if tried else (False, True)
            if committed:
                return response
            self._quota.refund(prepared.amount, prepared.now)
            if claim is not None and certain:
                self.ports.claims.release(claim)
            raise
        return response

    def accepted_before(self, claim: Claim | None) -> dict[int, Outcome]:
        """Return what dead owners of a claim accepted, by position. It stays accepted."""
        if claim is None or not claim.earlier:
            return {}
        positions = {
            message_id: position
            for generation in claim.earlier
            for position, message_id in enumerate(replace(claim, generation=generation).message_ids)
        }
        messages = self.ports.messages.get_all(claim.account_id, [*positions])
        return {
            positions[message_id]: AcceptedMessage.of(message)
            for message_id, message in messages.items()
        }

    def reserve_all(
        self,
        group: MessageGroup,
        claim: Claim | None = None,
        *,
        may_refuse_all: bool,
        all_or_none: bool = False,
    ) -> None:
        """Reserve quota in order, and refuse the messages that do not fit.

        Args:
            group: the messages; they get the ids of the claim.
            claim: the claim of their request, if there is one.
            may_refuse_all: whether no error is raised if not one message fits.
            all_or_none: whether an error is raised if one message does not fit.

        Raises:
            QuotaExceeded: not one message fits, or not all do.
            ServiceError: `service_unavailable`.
        """
        prepared = group.prepared
        if claim is not None:
            ids = claim.message_ids
            for position, message in prepared.items():
                prepared[position] = message.with_id(ids[position])
        for _ in range(_QUOTA_TRIES):
            if not prepared:
                return
            now = self.ports.clock()
            try:
                self._quota.reserve(_amount(prepared.values()), now)
            except QuotaExceeded as exceeded:
                refusals = _refusals(prepared, exceeded, now)
                if (all_or_none or len(refusals) == len(prepared)) and not may_refuse_all:
                    raise next(iter(refusals.values())) from exceeded
                group.refuse(refusals)
            else:
                for position, message in prepared.items():
                    prepared[position] = replace(message, now=now)
                return
        raise Unavailable("quota", "Other requests use the account's quota right now; try again.")

    def queue_all(self, group: MessageGroup, *, all_or_none: bool = False) -> None:
        """Queue the jobs, and refuse the messages that the queue refused: with `all_or_none` all.

        Raises:
            ServiceError: `service_unavailable`, also if the queue refused all messages.
        """
        prepared = group.prepared
        try:
            waiting = [(one.message, one.mail) for one in prepared.values() if one.message.schedule]
            if waiting:
                self.ports.waiting().put_all(waiting)
            refused = self.ports.jobs.put_all(
                [(one.job(), one.mail) for one in prepared.values() if not one.message.schedule]
            )
        except Exception:
            self._refund(prepared.values())
            raise
        lost = {
            position: message
            for position, message in prepared.items()
            if message.message.message_id in refused or (refused and all_or_none)
        }
        self._refund(lost.values())
        error = Unavailable("queue", "The queue did not accept this message.")
        if lost and len(lost) == len(prepared):
            raise error
        group.refuse(dict.fromkeys(lost, error))

    def commit_all(self, group: MessageGroup, claim: Claim | None = None) -> None:
        """Put the records. Some may fail: these are refunded, and the others stay accepted.

        Raises:
            ServiceError: `service_unavailable`, if all failed, or some that have a claim, whose
                next owner finds the others.
        """
        messages = [message.message for message in group.prepared.values()]
        ids = [message.message_id for message in messages]
        error: Exception = Withdrawn()
        try:
            withdrawn: Collection[UUID] = self.ports.messages.commit_all(messages)
        except Exception as failure:  # noqa: BLE001  raised below, or the error of some messages
            error, withdrawn = failure, set(ids) - self._settle_all(ids).keys()
        lost = {
            position: message
            for position, message in group.prepared.items()
            if message.message.message_id in withdrawn
        }
        self._refund(lost.values())
        group.outcomes.update({at: message.accepted for at, message in group.prepared.items()})
        if lost:
            if claim or len(lost) == len(messages) or not isinstance(error, ServiceError):
                raise error
            group.refuse(dict.fromkeys(lost, error))

    def finish(self, group: MessageGroup, claim: Claim | None, text: str) -> StoredResponse:
        """Store the text of the response to many messages in their claim, and return it."""
        response = StoredResponse(
            text,
            message_ids=tuple(
                outcome.message_id if isinstance(outcome, AcceptedMessage) else None
                for outcome in group.in_order
            ),
            amount=_amount(group.prepared.values()),
        )
        if claim is not None:
            # The records are the commit. Without the response, a retry takes the claim over
            # and finds them.
            with suppress(ServiceError):
                self.ports.claims.finish(claim, response)
        return response

    def _queue(self, prepared: PreparedMessage) -> None:
        if prepared.message.schedule is None:
            self.ports.jobs.put(prepared.job(), prepared.mail)
        else:
            self.ports.waiting().put_all([(prepared.message, prepared.mail)])

    @property
    def _quota(self) -> SenderQuota:
        return SenderQuota(self.ports.quotas, self.principal)

    def _settle(self, message: Message) -> tuple[bool, bool]:
        """Return whether a message is accepted after an error, and whether that is certain.

        If it is not, the message may be accepted later, so its key must stay in use. But its
        quota is not lost: a table that takes no writes would use up the quota of its accounts.
        """
        account_id, message_id = message.account_id, message.message_id
        try:
            accepted = self.ports.messages.withdraw(account_id, [message_id], self.ports.clock())
        except ServiceError:
            return self.ports.messages.get(account_id, message_id) is not None, False
        return bool(accepted), True

    def _settle_all(self, message_ids: Sequence[UUID]) -> Mapping[UUID, Message]:
        """Return the messages that are accepted after an error."""
        account_id = self.principal.account.account_id
        try:
            return self.ports.messages.withdraw(account_id, message_ids, self.ports.clock())
        except ServiceError:
            return self.ports.messages.get_all(account_id, message_ids)

    def _refund(self, prepared: Collection[PreparedMessage]) -> None:
        moments = [message.now for message in prepared]
        if moments:
            self._quota.refund(_amount(prepared), moments[0])


def _amount(prepared: Iterable[PreparedMessage]) -> Amount:
    return sum((message.amount for message in prepared), NOTHING)


def _refusals(
    prepared: Mapping[int, PreparedMessage], exceeded: QuotaExceeded, now: datetime
) -> dict[int, QuotaExceeded]:
    """Return the refusals of the messages that do not fit, if each takes its room in order."""
    refusals, used = {}, exceeded.used
    for position, message in prepared.items():
        refusal = first_full(exceeded.limits, used, message.amount, now)
        if refusal is None:
            used = add(used, message.amount)
        else:
            refusals[position] = refusal
    return refusals
