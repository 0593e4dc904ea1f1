"""Accept messages: the only place that makes the promise of a 200 or a 250.

The order of the steps is the promise (docs/architecture.md, "Accepting"). The job is
queued before the record is committed, because the record is the commit: a job without
a record is not accepted mail, but a record without a job would be lost mail. The claim
comes before everything slow. What fails after the claim gives back what it reserved.

| step      | `accept_one`                              | `accept_many`                         |
|-----------|-------------------------------------------|---------------------------------------|
| 1 claim   | acquire it, or replay the response        | the same                              |
| 2 prepare | the slow checks                           | the same (a), for each message        |
| 3 quota   | reserve it                                | reserve all, or as many as fit (b)    |
| 4 queue   | SendMessage                               | SendMessageBatch, by tens (c)         |
| 5 commit  | one transaction: record and response;     | one transaction: the records; then    |
|           | without a claim, one conditional put      | the response (d)                      |
| a failure | refund; release the claim, which tells    | refund; release the claim if it is    |
|           | whether step 5 took effect                | new and step 5 was not reached (e)    |

Why many differ from one:
(a) One bad message does not stop the others (contract 4.2). Messages that an owner of the claim
    accepted before it died are not prepared again.
(b) A batch is accepted in order. A message that does not fit is refused; a later one with fewer
    recipients may fit.
(c) Ten messages cost one call. SQS may refuse some messages of a call.
(d) A transaction holds at most 100 writes, so the claim's response does not fit.
(e) Some of the messages may be recorded. A retry must find them under the same ids.

`accept_group` takes steps 3 to 5 as `accept_many` does, without a claim. Its caller answers each
message separately, so an error of a step is the outcome of each message that it stops.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from pillarbox.application.authentication import RecentKeys, SenderAuthentication
from pillarbox.application.ports import (
    AcceptedMessage,
    Claim,
    Claims,
    Clock,
    Directory,
    Jobs,
    MailDomains,
    Messages,
    Quotas,
    Refusals,
    StoredResponse,
)
from pillarbox.application.sending.prepare import PreparedMessage, PreviewTerms
from pillarbox.application.sending.sender_quota import SenderQuota
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.key import EMAILS_SEND, Principal
from pillarbox.domain.accounts.quota import NOTHING, Amount, QuotaExceeded, add, first_full
from pillarbox.domain.errors import ServiceError, Unavailable
from pillarbox.domain.ids import derived_id
from pillarbox.domain.messages.message import Message

if TYPE_CHECKING:
    from pillarbox.domain.sign_in.session import MemberPrincipal

#: Others may reserve quota between the refusal that says how much is left and the next try.
_QUOTA_TRIES: Final = 5

type Outcome = AcceptedMessage | ServiceError
#: The messages that passed the checks and the errors of the others, by position.
type Preparation = tuple[dict[int, PreparedMessage], dict[int, ServiceError]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SendingPorts:
    """Everything outside the application that sending needs."""

    directory: Directory
    claims: Claims
    quotas: Quotas
    refusals: Refusals
    jobs: Jobs
    messages: Messages
    domains: MailDomains
    clock: Clock
    preview: PreviewTerms
    valid_keys: RecentKeys = field(default_factory=RecentKeys)
    #: The keys whose last request over HTTP read much and accepted nothing.
    costly_keys: RecentKeys = field(default_factory=RecentKeys)

    @property
    def authentication(self) -> SenderAuthentication:
        """Authenticate callers that may send over HTTP."""
        return SenderAuthentication(
            self.directory,
            self.valid_keys,
            lambda principal: principal.require(EMAILS_SEND),
            self.clock,
        )


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Accept messages of one account."""

    ports: SendingPorts

    def accept_one(
        self,
        principal: "Principal | MemberPrincipal",
        *,
        body_hash: str,
        idempotency_digest: str | None,
        prepare: Callable[[], PreparedMessage],
        write_response: Callable[[AcceptedMessage], str],
    ) -> StoredResponse:
        """Accept one message, or leave nothing behind.

        Args:
            principal: the sender, just authenticated.
            body_hash: identifies the request under its idempotency key.
            idempotency_digest: identifies the route and the Idempotency-Key, in hex.
            prepare: runs the slow checks and raises their errors.
            write_response: writes the response, which replays repeat byte for byte.

        Raises:
            ServiceError: an error of `prepare`, an idempotency or a quota error,
                or `service_unavailable`.
        """
        quota = SenderQuota(self.ports.quotas, principal)
        claim = self._claim(principal.account, idempotency_digest, body_hash)
        if isinstance(claim, StoredResponse):
            ids = (derived_id(claim.generation, 0),) if claim.generation else ()
            return replace(claim, message_ids=ids)
        try:
            prepared = prepare()
            if claim is not None:
                prepared = prepared.with_id(derived_id(claim.generation, 0))
            quota.reserve(prepared.amount, prepared.now)
        except Exception:
            if claim is not None:
                self.ports.claims.release(claim)
            raise
        message = prepared.message
        response = StoredResponse(
            write_response(prepared.accepted),
            message_ids=(message.message_id,),
            amount=prepared.amount,
        )
        try:
            self.ports.jobs.put(prepared.job(), prepared.mail)
            self.ports.messages.commit(message, claim, response)
        except Exception:
            if self._was_committed(message, claim):
                return response
            quota.refund(prepared.amount, prepared.now)
            raise
        return response

    def accept_many(  # noqa: PLR0913  the same as `accept_one`, and their number
        self,
        principal: Principal,
        count: int,
        *,
        body_hash: str,
        idempotency_digest: str | None,
        prepare: Callable[[Collection[int]], Preparation],
        write_response: Callable[[Sequence[Outcome]], str],
    ) -> StoredResponse:
        """Accept the messages that can be accepted, in few calls.

        Args:
            principal: the sender, just authenticated.
            count: how many messages there are; positions count from zero.
            body_hash: identifies the request under its idempotency key.
            idempotency_digest: identifies the route and the Idempotency-Key, in hex.
            prepare: runs the slow checks, except for positions that were accepted before.
            write_response: writes the response from the outcome of each position.

        Raises:
            ServiceError: an idempotency error; a quota error, if not one message fits and
                none was accepted before; `service_unavailable`.
        """
        account_id, quota = principal.account.account_id, SenderQuota(self.ports.quotas, principal)
        claim = self._claim(principal.account, idempotency_digest, body_hash)
        if isinstance(claim, StoredResponse):
            return claim
        outcomes: dict[int, Outcome] = {}
        try:
            ids = [derived_id(claim.generation, at) for at in range(count)] if claim else []
            if claim is not None and claim.resumed:
                outcomes |= self._accepted_before(account_id, ids)
            accepted_before = bool(outcomes)
            prepared, errors = prepare(outcomes.keys())
            if claim is not None:
                prepared = {at: message.with_id(ids[at]) for at, message in prepared.items()}
            outcomes |= errors
            self._reserve(quota, prepared, outcomes, may_refuse_all=accepted_before)
            self._queue(quota, prepared, outcomes)
        except Exception:
            # An earlier owner may have accepted a part, or may be about to. Its successor must
            # find the same ids, so a claim that was taken over expires instead.
            if claim is not None and not claim.resumed:
                self.ports.claims.release(claim)
            raise
        # An error from here on leaves the claim pending: the next owner finds the records.
        self._commit(account_id, quota, prepared)
        outcomes |= {at: message.accepted for at, message in prepared.items()}
        in_order = [outcomes[position] for position in range(count)]
        response = StoredResponse(
            write_response(in_order),
            message_ids=tuple(
                outcome.message_id if isinstance(outcome, AcceptedMessage) else None
                for outcome in in_order
            ),
            amount=_amount(prepared.values()),
        )
        if claim is not None:
            # The records are the commit. Without the response, a retry takes the claim over
            # and finds them.
            with suppress(ServiceError):
                self.ports.claims.finish(claim, response)
        return response

    def accept_group(
        self, principal: Principal, prepared: Mapping[int, PreparedMessage]
    ) -> dict[int, Outcome]:
        """Accept messages that have no claim, in few calls; return the outcome of each.

        A ServiceError is the outcome of the messages that it stops; it is not raised.
        """
        account_id, quota = principal.account.account_id, SenderQuota(self.ports.quotas, principal)
        remaining = dict(prepared)
        outcomes: dict[int, Outcome] = {}
        try:
            self._reserve(quota, remaining, outcomes, may_refuse_all=True)
            self._queue(quota, remaining, outcomes)
            self._commit(account_id, quota, remaining)
        except ServiceError as error:
            return outcomes | dict.fromkeys(remaining, error)
        return outcomes | {at: message.accepted for at, message in remaining.items()}

    def _claim(
        self, account: Account, idempotency_digest: str | None, body_hash: str
    ) -> Claim | StoredResponse | None:
        if idempotency_digest is None:
            return None
        now = self.ports.clock()
        return self.ports.claims.acquire(
            account.account_id, idempotency_digest, body_hash, now, account.shards_at(now)
        )

    def _was_committed(self, message: Message, claim: Claim | None) -> bool:
        """Find out whether a commit that raised an error took effect."""
        if claim is not None:
            return self.ports.claims.release(claim) is not None
        return self.ports.messages.get(message.account_id, message.message_id) is not None

    def _accepted_before(self, account_id: str, ids: Sequence[UUID]) -> dict[int, AcceptedMessage]:
        """Return what an owner of the claim accepted before it died; it stays accepted."""
        messages = self.ports.messages.get_all(account_id, ids)
        return {
            position: AcceptedMessage(message_id, messages[message_id].sender)
            for position, message_id in enumerate(ids)
            if message_id in messages
        }

    def _reserve(
        self,
        quota: SenderQuota,
        prepared: dict[int, PreparedMessage],
        outcomes: dict[int, Outcome],
        *,
        may_refuse_all: bool,
    ) -> None:
        """Reserve quota in order; take out the messages that do not fit, and add their errors."""
        for _ in range(_QUOTA_TRIES):
            if not prepared:
                return
            now = self.ports.clock()
            try:
                quota.reserve(_amount(prepared.values()), now)
            except QuotaExceeded as exceeded:
                refusals = _refusals(prepared, exceeded, now)
                if len(refusals) == len(prepared) and not may_refuse_all:
                    raise next(iter(refusals.values())) from exceeded
                for position, refusal in refusals.items():
                    outcomes[position] = refusal
                    del prepared[position]
            else:
                for position, message in prepared.items():
                    prepared[position] = replace(message, now=now)
                return
        raise Unavailable("quota", "Other requests use the account's quota right now; try again.")

    def _queue(
        self,
        quota: SenderQuota,
        prepared: dict[int, PreparedMessage],
        outcomes: dict[int, Outcome],
    ) -> None:
        """Queue the jobs; take out the messages that the queue refused, and add their errors."""
        try:
            refused = self.ports.jobs.put_all(
                [(message.job(), message.mail) for message in prepared.values()]
            )
        except Exception:
            _refund(quota, prepared.values())
            raise
        lost = {
            position: message
            for position, message in prepared.items()
            if message.message.message_id in refused
        }
        _refund(quota, lost.values())
        error = Unavailable("queue", "The queue did not accept this message.")
        if lost and len(lost) == len(prepared):
            raise error
        for position in lost:
            outcomes[position] = error
            del prepared[position]

    def _commit(
        self, account_id: str, quota: SenderQuota, prepared: Mapping[int, PreparedMessage]
    ) -> None:
        """Put the records, all or none."""
        messages = [message.message for message in prepared.values()]
        try:
            self.ports.messages.commit_all(messages)
        except Exception:
            ids = [message.message_id for message in messages]
            recorded = self.ports.messages.get_all(account_id, ids)
            lost = [
                message
                for message in prepared.values()
                if message.message.message_id not in recorded
            ]
            if lost:
                _refund(quota, lost)
                raise


def _refund(quota: SenderQuota, prepared: Collection[PreparedMessage]) -> None:
    moments = [message.now for message in prepared]
    if moments:
        quota.refund(_amount(prepared), moments[0])


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
