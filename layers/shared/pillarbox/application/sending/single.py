"""Accepting a mail: every check in its order, then the steps that make the promise.

The order of the steps carries the promises (docs/architecture.md, "Accepting"):
job before record, since the record is the commit; claim before everything that
is slow; whatever fails after the claim gives back what it took.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from pillarbox.application.authentication import make_principal, parse_key
from pillarbox.application.ports import (
    Claim,
    Claims,
    Clock,
    Directory,
    DirectoryResult,
    Jobs,
    MailDomains,
    Messages,
    Quotas,
    StoredResponse,
)
from pillarbox.application.sending.compose import AccountTerms, compose, deadline, find_template
from pillarbox.application.sending.recipients import Recipients
from pillarbox.domain.errors import Json, ServiceError
from pillarbox.domain.ids import created_at, derived_id, new_id
from pillarbox.domain.key import EMAILS_SEND, Principal
from pillarbox.domain.mail import MAX_RECIPIENTS, Job, Mail, SendRequest
from pillarbox.domain.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewTerms:
    """What preview keys get: a fixed sender, and where to get more."""

    sender: str
    upgrade_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleSend:
    """Takes one mail into the service (contract 4.1)."""

    directory: Directory
    claims: Claims
    quotas: Quotas
    jobs: Jobs
    messages: Messages
    domains: MailDomains
    clock: Clock
    preview: PreviewTerms

    def submit(
        self, key_text: str, request: SendRequest | ServiceError, idempotency_digest: str | None
    ) -> StoredResponse:
        """Accept a mail, or say why not; an error leaves nothing behind.

        Args:
            key_text: the API key as it was presented.
            request: the request, or what is wrong with its form: authentication
                comes before that is told.
            idempotency_digest: identifies route and Idempotency-Key, in hex.

        Raises:
            ServiceError: any of contract 4.1's.
        """
        key = parse_key(key_text)
        well_formed = request if isinstance(request, SendRequest) else None
        # Beyond the limit the request is refused, and the read takes no more either.
        recipients = Recipients.parse(
            well_formed.recipients[:MAX_RECIPIENTS] if well_formed else ()
        )
        found = self.directory.look_up(
            key.account_id,
            key_digest=key.digest,
            addresses=recipients.mailboxes,
            template_ids=well_formed.template_ids if well_formed else (),
        )
        principal = make_principal(found)
        principal.require(EMAILS_SEND)
        if isinstance(request, ServiceError):
            raise request
        request.check_mode()
        self.check_preview(principal, request)
        request.check_size()
        return self.accept(
            principal,
            request.body_hash,
            idempotency_digest,
            lambda: self.draft(request, found, principal, recipients),
        )

    def accept(
        self,
        principal: Principal,
        body_hash: str,
        idempotency_digest: str | None,
        make_draft: Callable[[], "PreparedMessage"],
    ) -> StoredResponse:
        """Take the steps that make the promise, for a mail in whatever form it came.

        Args:
            principal: who sends it, just authenticated.
            body_hash: tells one request from another under one idempotency key.
            idempotency_digest: identifies route and Idempotency-Key, in hex.
            make_draft: the checks that may be slow; raises what they find.

        Raises:
            ServiceError: what `make_draft` raises, an idempotency or a quota code.
        """
        account_id = principal.account.account_id
        claim = None
        if idempotency_digest is not None:
            taken = self.claims.acquire(account_id, idempotency_digest, body_hash, self.clock())
            if isinstance(taken, StoredResponse):
                return taken
            claim = taken
        try:
            draft = make_draft()
            if claim is not None:
                draft = draft.identified(derived_id(claim.generation, 0))
            self.quotas.reserve(account_id, 1, principal.limits, draft.now)
        except Exception:
            if claim is not None:
                self.claims.release(claim)
            raise
        return self._accept(draft, claim)

    def check_preview(self, principal: Principal, request: SendRequest) -> None:
        """Refuse what preview keys cannot send.

        Raises:
            ServiceError: `upgrade_required`.
        """
        if principal.preview and request.starter_template is None:
            raise ServiceError(
                "upgrade_required",
                "Preview keys send starter templates only.",
                upgrade_url=self.preview.upgrade_url,
            )

    def draft(
        self,
        request: SendRequest,
        found: DirectoryResult,
        principal: Principal,
        recipients: Recipients,
    ) -> "PreparedMessage":
        """Hold one mail against everything that was read, and against the DNS.

        Raises:
            ServiceError: `template_not_found`, `no_verified_sender`,
                `invalid_recipient`, `recipient_suppressed` or `validation_failed`.
        """
        template = find_template(request, found)
        account = principal.account
        sender = self.preview.sender if principal.preview else account.sender(request.sender)
        recipients.check(self.domains)
        recipients.check_suppressed(found.suppressed)
        now = self.clock()
        terms = AccountTerms(sender, attribution=not account.plan.paid)
        mail = compose(request, template, terms, recipients, now)
        return PreparedMessage.of(mail, account.account_id, request.body_hash, now)

    def _accept(self, draft: "PreparedMessage", claim: Claim | None) -> StoredResponse:
        message = draft.message
        answer = StoredResponse(json.dumps(draft.result(), separators=(",", ":")))
        try:
            self.jobs.put(draft.job(), draft.mail)
            self.messages.commit(message, claim, answer)
        except Exception:
            if self._was_committed(message, claim):
                return answer
            self.quotas.refund(message.account_id, 1, draft.now)
            raise
        return answer

    def _was_committed(self, message: Message, claim: Claim | None) -> bool:
        """Settle an acceptance that ended in an error: it may have succeeded unheard."""
        if claim is not None:
            return self.claims.release(claim) is not None
        return self.messages.get(message.account_id, message.message_id) is not None


@dataclass(frozen=True, slots=True)
class PreparedMessage:
    """A mail that passed every check, with the record it will have."""

    message: Message
    mail: Mail
    now: datetime

    @classmethod
    def of(cls, mail: Mail, account_id: str, body_hash: str, now: datetime) -> "PreparedMessage":
        """A mail with the record it will have, under an id of its own."""
        message_id = new_id(now)
        message = Message(
            account_id=account_id,
            message_id=message_id,
            created_at=created_at(message_id),
            body_hash=body_hash,
            subject=mail.subject,
            sender=mail.sender,
            from_name=mail.from_name,
            to=mail.to,
            cc=mail.cc,
            bcc=mail.bcc,
        )
        return cls(message, mail, now)

    def identified(self, message_id: UUID) -> "PreparedMessage":
        """The same with the id that its place under a claim gives it."""
        moment = created_at(message_id)
        message = replace(self.message, message_id=message_id, created_at=moment)
        return replace(self, message=message)

    def result(self) -> dict[str, Json]:
        """The send result (contract 2.3)."""
        message = self.message
        return {
            "messageId": str(message.message_id),
            "status": "queued",
            "from": message.sender,
        }

    def job(self) -> Job:
        """The job that delivers it."""
        return Job(
            account_id=self.message.account_id,
            message_id=self.message.message_id,
            body_hash=self.message.body_hash,
            queued_at=self.now,
            deadline=deadline(self.mail, self.now),
        )
