"""Prepare a message for acceptance: template, sender, recipients, and the record it will have."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from pillarbox.application.ports import AcceptedMessage, DirectoryResult, DomainVerdict
from pillarbox.application.sending.compose import AccountTerms, compose, deadline, find_template
from pillarbox.application.sending.recipients import Recipients
from pillarbox.application.sending.self_service import as_test
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.key_policy import PreviewSettings, Principal
from pillarbox.domain.accounts.quota import Amount
from pillarbox.domain.errors import Json
from pillarbox.domain.ids import created_at, new_id
from pillarbox.domain.messages.attachment import check_attachments
from pillarbox.domain.messages.mail import Job, Mail, SendRequest
from pillarbox.domain.messages.message import Message, MessageOrigin, SendRoute
from pillarbox.domain.messages.tags import Tags
from pillarbox.domain.templates.shape import shape_of
from pillarbox.domain.templates.template import SavedTemplate, StarterTemplate
from pillarbox.rendering.fuel import RequestFuel

if TYPE_CHECKING:
    from pillarbox.domain.messages.upload import UploadedFile


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends, by which route, and the id of the HTTP request if there is one."""

    principal: Principal
    route: SendRoute
    request_id: str | None = None

    def origin(
        self,
        tags: Tags,
        template: StarterTemplate | SavedTemplate | None = None,
        variables: Mapping[str, Json] | None = None,
    ) -> MessageOrigin:
        """Return the origin of a message with a template and its variables, or without one."""
        saved = template if isinstance(template, SavedTemplate) else None
        return MessageOrigin(
            route=self.route,
            key_id=self.principal.key.key_id,
            starter_template=template.slug if isinstance(template, StarterTemplate) else None,
            template_id=saved.template_id if saved else None,
            template_version=saved.version if saved else None,
            shape=shape_of(variables or {}) if saved else None,
            request_id=self.request_id,
            tags=tags,
            for_owner=self.principal.sends_for_owner,
        )


@dataclass(frozen=True, slots=True)
class PreparedMessage:
    """A mail that passed every check, with the record it will have.

    `now` is the moment whose quota windows count it.
    """

    message: Message
    mail: Mail
    now: datetime
    #: The tenant of the account at the provider.
    tenant: str | None = None

    @classmethod
    def of(
        cls, mail: Mail, account: Account, body_hash: str, now: datetime, origin: MessageOrigin
    ) -> "PreparedMessage":
        """Create the record of an email, with a new id."""
        message_id = new_id(now, account.shards_at(now))
        message = Message(
            account_id=account.account_id,
            message_id=message_id,
            created_at=created_at(message_id),
            body_hash=body_hash,
            subject=mail.subject,
            sender=mail.sender,
            from_name=mail.from_name,
            to=mail.to,
            cc=mail.cc,
            bcc=mail.bcc,
            origin=origin,
            hashed_suppressions=account.hashed_suppressions,
            announced=account.has_webhooks,
        )
        return cls(message, mail, now, account.tenant)

    def with_id(self, message_id: UUID) -> "PreparedMessage":
        """Return the same message under the id that its claim gives it."""
        moment = created_at(message_id)
        message = replace(self.message, message_id=message_id, created_at=moment)
        return replace(self, message=message)

    def at(self, scheduled_at: datetime | None, *, hold: bool = False) -> "PreparedMessage":
        """Return the same message for a time, or one that is held.

        Raises:
            ValidationFailed: the time is not ahead, or too far.
        """
        from pillarbox.domain.messages.schedule import (  # noqa: PLC0415  few messages wait
            RELEASE_TIME,
            Schedule,
            check_ahead,
            whole,
        )

        if scheduled_at is not None:
            check_ahead(scheduled_at, self.now)
        due_at = whole(scheduled_at or self.now + RELEASE_TIME)
        life = deadline(self.mail, due_at) - due_at
        asked_for = None if scheduled_at is None else due_at
        message = replace(
            self.message,
            schedule=Schedule(due_at=due_at, life=life, held=hold),
            announced=True,
            origin=replace(self.message.origin, scheduled_at=asked_for, held=hold),
        )
        return replace(self, message=message)

    def keeping(
        self,
        account: Account,
        asked: int | None = None,
        template: SavedTemplate | StarterTemplate | None = None,
    ) -> "PreparedMessage":
        """Return the same message with its days to keep, for an account that keeps some."""
        from pillarbox.domain.messages.kept import days_to_keep  # noqa: PLC0415  few accounts do

        keep = days_to_keep(account, asked, template)
        return replace(self, message=replace(self.message, keep=keep))

    @property
    def accepted(self) -> AcceptedMessage:
        """What to tell the caller once the record is committed."""
        return AcceptedMessage.of(self.message)

    @property
    def amount(self) -> Amount:
        """What it takes from the quota. A mailbox counts once, because it gets one copy."""
        return Amount(1, len(self.message.recipients))

    def job(self) -> Job:
        """Return the job that delivers the message."""
        return Job(
            account_id=self.message.account_id,
            message_id=self.message.message_id,
            body_hash=self.message.body_hash,
            queued_at=self.now,
            deadline=deadline(self.mail, self.now),
            tenant=self.tenant,
        )


@dataclass(frozen=True, slots=True)
class Draft:
    """A request that passed every check that needs no answer of the DNS."""

    request: SendRequest
    principal: Principal
    recipients: Recipients
    template: StarterTemplate | SavedTemplate | None
    terms: AccountTerms
    origin: MessageOrigin

    @classmethod
    def of(
        cls,
        request: SendRequest,
        recipients: Recipients,
        caller: Caller,
        directory: DirectoryResult,
        preview: PreviewSettings,
    ) -> "Draft":
        """Check one request against the directory: template, sender and recipients.

        Raises:
            ServiceError: `template_not_found`, `no_verified_sender`,
                `invalid_recipient`, `recipient_not_allowed` or `recipient_suppressed`;
                `validation_failed`, for what cannot wait for an owner.
        """
        principal = caller.principal
        if principal.sends_for_owner:
            request = request.for_owner()
        template = find_template(request, directory)
        account = principal.account
        # The service's own sender, for a first email, is no sender of the account when it is due.
        first_to = () if request.waits else recipients.mailboxes
        sender = principal.sender(request.sender, first_to, preview)
        recipients.check_syntax()
        principal.check_recipients(recipients.normalized.values(), preview)
        recipients.check_suppressed(directory.suppressed)
        terms = AccountTerms(sender, not account.plan.paid, account.name, account.brand)
        origin = caller.origin(request.tags, template, request.variables)
        return cls(request, principal, recipients, template, terms, origin)

    def prepare(
        self,
        verdicts: Mapping[str, DomainVerdict],
        files: "Mapping[UUID, UploadedFile]",
        now: datetime,
        fuel: RequestFuel,
    ) -> PreparedMessage:
        """Check the domains of the recipients and the uploaded files, and compose the mail.

        Args:
            verdicts: by domain.
            files: those that were found, by the ids of their uploads.
            now: the moment of acceptance.
            fuel: what rendering the emails of this request may cost in all.

        Raises:
            ServiceError: `invalid_recipient`, `validation_failed`, `attachment_not_found` or a code
                of `check_attachments`.
        """
        self.recipients.check_domains(verdicts)
        uploads = self._uploads(files) if self.request.uploads else ()
        request = self.request
        due_at = request.scheduled_at or now
        mail = compose(request, self.template, self.terms, self.recipients, due_at, fuel=fuel)
        if uploads:
            mail = replace(mail, uploads=uploads)
        if self.principal.policy.tests_only:
            mail = as_test(mail, self.principal.stop_token(mail.to[0]))
        prepared = PreparedMessage.of(
            mail, self.principal.account, request.body_hash, now, self.origin
        )
        account = self.principal.account
        if account.keep and not self.principal.policy.starters_only:
            prepared = prepared.keeping(account, request.keep, self.template)
        return prepared.at(request.scheduled_at, hold=request.hold) if request.waits else prepared

    def _uploads(self, files: "Mapping[UUID, UploadedFile]") -> "tuple[UploadedFile, ...]":
        from pillarbox.domain.messages.upload import files_of  # noqa: PLC0415  few emails have one

        uploads = files_of(self.request.uploads, files)
        check_attachments((*self.request.attachments, *uploads))
        return uploads
