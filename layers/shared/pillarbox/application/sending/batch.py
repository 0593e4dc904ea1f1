"""Accepting up to 100 mails at once: each on its own merits, in few round trips.

Ids derive from the claim's generation and the position, so the same batch sent
again after its owner died skips what is there already. The steps and their
order are those of one mail (`acceptance.py`); only the claim's answer comes
after the records, since a transaction holds no more than 100 writes.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from pillarbox.application.authentication import make_principal, parse_key
from pillarbox.application.ports import Claim, DirectoryResult, DomainVerdict, StoredResponse
from pillarbox.application.sending.acceptance import Acceptance
from pillarbox.application.sending.recipients import Recipients
from pillarbox.application.sending.single import PreparedMessage, SingleSend
from pillarbox.domain.address import domain_of
from pillarbox.domain.errors import Json, ServiceError
from pillarbox.domain.ids import derived_id, new_id
from pillarbox.domain.key import EMAILS_SEND, Principal
from pillarbox.domain.mail import SendRequest

#: Contract 4.2 and 8.2.
MAX_MESSAGES: Final = 100
MAX_BATCH_RECIPIENTS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRequest:
    """A batch of the right shape; an item may be what is wrong with it.

    `count` is how many messages were sent; beyond the limit none is looked at.
    """

    body_hash: str
    count: int
    items: tuple[SendRequest | ServiceError, ...]

    @property
    def mails(self) -> Mapping[int, SendRequest]:
        """The well-formed messages by position."""
        return {
            position: item
            for position, item in enumerate(self.items)
            if isinstance(item, SendRequest)
        }

    def check_size(self) -> None:
        """Hold the counts against contract 4.2.

        Raises:
            ServiceError: `batch_limit_exceeded`.
        """
        if self.count > MAX_MESSAGES:
            raise _too_many("messages", self.count, MAX_MESSAGES)
        recipients = sum(len(mail.recipients) for mail in self.mails.values())
        if recipients > MAX_BATCH_RECIPIENTS:
            raise _too_many("recipients", recipients, MAX_BATCH_RECIPIENTS)


@dataclass(frozen=True, slots=True)
class BatchSend:
    """Takes a batch into the service (contract 4.2)."""

    one: SingleSend

    def submit(
        self, key_text: str, batch: BatchRequest | ServiceError, idempotency_digest: str | None
    ) -> StoredResponse:
        """Accept what can be accepted; the answer has a result for each message.

        Args:
            key_text: the API key as it was presented.
            batch: the batch, or what is wrong with the form of the whole.
            idempotency_digest: identifies route and Idempotency-Key, in hex.

        Raises:
            ServiceError: the request-level errors of contract 4.2; a 429 when
                not one message fits the quota.
        """
        key = parse_key(key_text)
        mails = {} if isinstance(batch, ServiceError) or batch.count > MAX_MESSAGES else batch.mails
        recipients = {
            position: Recipients.parse(mail.recipients) for position, mail in mails.items()
        }
        found = self.one.directory.look_up(
            key.account_id,
            key_digest=key.digest,
            addresses={box for one in recipients.values() for box in one.mailboxes},
            template_ids=[one for mail in mails.values() for one in mail.template_ids],
        )
        principal = make_principal(found)
        principal.require(EMAILS_SEND)
        if isinstance(batch, ServiceError):
            raise batch
        if principal.preview:
            raise ServiceError(
                "upgrade_required",
                "Preview keys send one mail at a time.",
                upgrade_url=self.one.preview.upgrade_url,
            )
        batch.check_size()
        if idempotency_digest is None:
            return self._accept(batch, found, principal, recipients, None)
        taken = self.one.claims.acquire(
            key.account_id, idempotency_digest, batch.body_hash, self.one.clock()
        )
        if isinstance(taken, StoredResponse):
            return taken
        return self._accept(batch, found, principal, recipients, taken)

    def _accept(
        self,
        batch: BatchRequest,
        found: DirectoryResult,
        principal: Principal,
        recipients: Mapping[int, Recipients],
        claim: Claim | None,
    ) -> StoredResponse:
        acceptance = Acceptance(self.one, principal)
        try:
            ids = self._ids(batch.count, claim)
            done = self._accepted_before(principal, ids, claim)
            drafts, errors = self._drafts(batch, found, principal, recipients, set(done))
            drafts = {at: draft.identified(ids[at]) for at, draft in drafts.items()}
            errors |= acceptance.reserve(drafts, anything_else=bool(done))
            errors |= acceptance.queue(drafts)
        except Exception:
            # An owner before us may have accepted a part, or be about to: whoever comes next
            # must have the same ids, so a claim that was taken over runs out instead.
            if claim is not None and not claim.resumed:
                self.one.claims.release(claim)
            raise
        # An error leaves the claim pending: what did get through is found by
        # whoever takes it over, and nothing goes out twice.
        acceptance.commit(drafts)
        results: dict[int, Json] = dict(done)
        results |= {
            at: {"idx": at, **draft.result(), "error": None} for at, draft in drafts.items()
        }
        results |= {at: _failed(at, error) for at, error in errors.items()}
        answer = StoredResponse(
            json.dumps(
                {"results": [results[at] for at in range(batch.count)]}, separators=(",", ":")
            )
        )
        if claim is not None:
            # The records are the commit: without the claim's answer a retry
            # takes the claim over and finds them.
            with suppress(ServiceError):
                self.one.claims.finish(claim, answer)
        return answer

    def _ids(self, count: int, claim: Claim | None) -> list[UUID]:
        generation = claim.generation if claim else new_id(self.one.clock())
        return [derived_id(generation, position) for position in range(count)]

    def _accepted_before(
        self, principal: Principal, ids: list[UUID], claim: Claim | None
    ) -> dict[int, Json]:
        """What an earlier owner of the claim accepted before it died; it stays accepted."""
        if claim is None or not claim.resumed:
            return {}
        messages = self.one.messages.get_all(principal.account.account_id, ids)
        return {
            position: {
                "idx": position,
                "messageId": str(message_id),
                "status": "queued",
                "from": messages[message_id].sender,
                "error": None,
            }
            for position, message_id in enumerate(ids)
            if message_id in messages
        }

    def _drafts(
        self,
        batch: BatchRequest,
        found: DirectoryResult,
        principal: Principal,
        recipients: Mapping[int, Recipients],
        done: set[int],
    ) -> tuple[dict[int, PreparedMessage], dict[int, ServiceError]]:
        domains = {domain_of(a) for one in recipients.values() for a in one.spelling.values()}
        checked = replace(self.one, domains=_Known(self.one.domains.look_up(domains)))
        drafts: dict[int, PreparedMessage] = {}
        errors: dict[int, ServiceError] = {}
        for position, item in enumerate(batch.items):
            if position in done:
                continue
            try:
                if isinstance(item, ServiceError):
                    raise item
                item.check_mode()
                item.check_size()
                drafts[position] = checked.draft(item, found, principal, recipients[position])
            except ServiceError as error:
                errors[position] = error
        return drafts, errors


@dataclass(frozen=True, slots=True)
class _Known:
    """The domains of a batch, asked for once (`ports.MailDomains`)."""

    verdicts: Mapping[str, DomainVerdict]

    def look_up(self, domains: Iterable[str]) -> Mapping[str, DomainVerdict]:
        return {domain: self.verdicts[domain] for domain in domains}


def _failed(position: int, error: ServiceError) -> Json:
    return {
        "idx": position,
        "messageId": None,
        "status": None,
        "from": None,
        "error": error.envelope(),
    }


def _too_many(what: str, count: int, limit: int) -> ServiceError:
    return ServiceError(
        "batch_limit_exceeded",
        f"A batch has at most {limit} {what}; this one has {count}.",
        details={"scope": what, "count": count, "limit": limit},
    )
