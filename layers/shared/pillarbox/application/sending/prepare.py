"""Prepare a message for acceptance: compose its mail, and make the record that it will have."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from pillarbox.application.ports import AcceptedMessage, DirectoryResult, DomainVerdict
from pillarbox.application.sending.recipients import Recipients, as_test
from pillarbox.domain.accounts.account import Account, Brand
from pillarbox.domain.accounts.key_policy import PreviewSettings, Principal
from pillarbox.domain.accounts.quota import Amount
from pillarbox.domain.errors import FieldError, Json, ValidationFailed
from pillarbox.domain.ids import created_at, new_id
from pillarbox.domain.messages.attachment import check_attachments
from pillarbox.domain.messages.header_text import MAX_SUBJECT, is_header_safe
from pillarbox.domain.messages.mail import (
    MAX_DELIVERY_TIME,
    MAX_HTML,
    MAX_TEXT,
    Body,
    HtmlBody,
    Job,
    Mail,
    SavedBody,
    SendRequest,
    StarterBody,
    TextBody,
)
from pillarbox.domain.messages.message import Labels, Message, MessageOrigin, SendRoute
from pillarbox.domain.templates.shape import shape_of
from pillarbox.domain.templates.template import (
    SavedTemplate,
    StarterTemplate,
    fill_given,
    fill_subject,
    fill_text,
    unknown_template,
)
from pillarbox.rendering.saved import RequestFuel, check_values, surely_renders
from pillarbox.rendering.starters import find_starter, get_starter
from pillarbox.rendering.values import check_logo_url, starter_values

if TYPE_CHECKING:
    from pillarbox.domain.messages.upload import UploadedFile

#: Below this size the rendered mail cannot come near the limit, see `_may_be_large`.
_SURELY_SMALL: Final = 512 * 1024
#: Escaping turns one character into at most this many: " becomes &#34;.
_ESCAPED: Final = 5


def find_template(
    request: SendRequest, directory: DirectoryResult
) -> StarterTemplate | SavedTemplate | None:
    """Return the template that a request names; None for HTML or text of the caller."""
    if request.starter_template is None and request.template_id is None:
        return None
    if request.starter_template is not None:
        return get_starter(request.starter_template)
    template = directory.templates.get(request.template_id) if request.template_id else None
    if template is None:
        raise unknown_template()
    return template.in_locale(request.locale)


@dataclass(frozen=True, slots=True)
class AccountTerms:
    """What the account decides: the sender, whether mail has the footer, its name and its brand."""

    sender: str
    attribution: bool
    account_name: str
    brand: Brand
    reply_domain: str | None


def compose(  # noqa: PLR0913  a mail depends on each of them
    request: SendRequest,
    template: StarterTemplate | SavedTemplate | None,
    terms: AccountTerms,
    recipients: Recipients,
    now: datetime,
    *,
    fuel: RequestFuel,
) -> Mail:
    """Compose the mail of a request whose recipients were checked."""
    if template is None and request.variables:
        request = _filled(request)
    brand = terms.brand.override(
        name=request.brand_name, logo_url=request.logo_url, from_name=request.from_name
    )
    terms = replace(terms, brand=brand)
    subject, body = _subject_and_body(request, template, terms, now, fuel)
    return Mail(
        sender=terms.sender,
        from_name=brand.from_name or (body.brand_name if isinstance(body, StarterBody) else None),
        to=recipients.normalize(request.to),
        cc=recipients.normalize(request.cc),
        bcc=recipients.normalize(request.bcc),
        reply_to=request.reply_to,
        subject=subject,
        body=body,
        names=request.names,
        text=request.text or _own_text(template, body),
        headers=request.headers,
        attachments=request.attachments,
        reply_domain=terms.reply_domain,
    )


def reply_domain(account: Account, asked: bool | None) -> str | None:  # noqa: FBT001  a field
    """Return the domain to which answers come back; None: none do."""
    if asked and account.reply_domain is None:
        message = "needs a domain of the account that receives: PATCH /api/v1/domains/{domain}"
        raise ValidationFailed(FieldError("replies", message, "not_allowed"))
    wanted = account.replies if asked is None else asked
    return account.reply_domain if wanted else None


def _filled(request: SendRequest) -> SendRequest:
    """Return a request of the caller's own HTML or text with the values of its variables."""
    values = request.variables
    subject = request.subject and fill_given(request.subject, values, MAX_HTML)
    text = request.text and fill_given(request.text, values, MAX_TEXT)
    html = request.html and fill_given(request.html, values, MAX_HTML, escape=True)
    too_large = (request.text and text is None) or (request.html and html is None)
    if too_large:
        message = "the values make the email larger than 2 MB, or its text than 1 MB"
        raise ValidationFailed(FieldError("variables", message, "too_large"))
    if subject and subject != request.subject:
        subject = " ".join(subject.split())  # one line, as that of a template
    if not is_header_safe(subject or "") or len(subject or "") > MAX_SUBJECT:
        raise _unsafe_subject()
    return replace(request, subject=subject, text=text, html=html)


def _own_text(template: StarterTemplate | SavedTemplate | None, body: Body) -> str | None:
    if not (isinstance(template, SavedTemplate) and template.text and isinstance(body, SavedBody)):
        return None
    text = fill_text(template.text, body.values, MAX_TEXT)
    if text is None:
        message = "the values make the text part larger than 1 MB"
        raise ValidationFailed(FieldError("variables", message, "too_large"))
    return text


def deadline(mail: Mail, now: datetime) -> datetime:
    """Return when to stop trying: when its code or link expires, else after a day."""
    if isinstance(mail.body, StarterBody):
        starter = find_starter(mail.body.slug)
        usual = starter.expiry_minutes if starter else None
        minutes = str(mail.body.values.get("expiry_minutes", usual))
        is_number = minutes.isascii() and minutes.isdigit() and len(minutes) <= len("1440")
        if is_number and int(minutes) > 0:
            return now + min(timedelta(minutes=int(minutes)), MAX_DELIVERY_TIME)
    return now + MAX_DELIVERY_TIME


def _subject_and_body(
    request: SendRequest,
    template: StarterTemplate | SavedTemplate | None,
    terms: AccountTerms,
    now: datetime,
    fuel: RequestFuel,
) -> tuple[str, Body]:
    if template is None:
        html = request.html
        return request.subject or "", TextBody() if html is None else HtmlBody(html=html)
    logo_errors = _logo_errors(request.logo_url)
    try:
        body = _fill(request, template, terms, now)
    except ValidationFailed as failed:
        raise ValidationFailed(*logo_errors, *failed.errors) from failed
    if logo_errors:
        raise ValidationFailed(*logo_errors)
    if _may_fail(body):
        _try_to_render(body, fuel)
    values = body.subject_values() if isinstance(body, StarterBody) else body.values
    subject = request.subject or fill_subject(template.subject, values)
    if not is_header_safe(subject) or len(subject) > MAX_SUBJECT:
        raise _unsafe_subject()
    return subject, body


def _unsafe_subject() -> ValidationFailed:
    message = "the values make a subject that is too long or has control characters"
    return ValidationFailed(FieldError("variables", message, "unsafe_subject"))


def _logo_errors(url: str | None) -> tuple[FieldError, ...]:
    try:
        if url is not None:
            check_logo_url(url)
    except ValidationFailed as failed:
        return failed.errors
    return ()


def _fill(
    request: SendRequest,
    template: StarterTemplate | SavedTemplate,
    terms: AccountTerms,
    now: datetime,
) -> StarterBody | SavedBody:
    if isinstance(template, SavedTemplate):
        return SavedBody(source=template.html, values=_saved_values(template, request, terms.brand))
    brand = replace(terms.brand, name=terms.brand.name_or(terms.account_name))
    values = starter_values(
        template,
        request.variables,
        brand=brand,
        contact=next(iter(request.reply_to), terms.sender),
        now=now,
    )
    return StarterBody(
        slug=template.slug,
        values=values,
        brand_name=brand.name,
        logo_url=brand.logo_url,
        attribution=terms.attribution,
        accent=brand.accent,
    )


def _saved_values(
    template: SavedTemplate, request: SendRequest, brand: Brand
) -> Mapping[str, Json]:
    values = dict(request.variables)
    for name, value in brand.variables().items():
        values.setdefault(name, value)
    check_values(template.required, values, "variables.")
    return values


def _may_fail(body: StarterBody | SavedBody) -> bool:
    """Whether only rendering shows that the mail can be sent.

    Most mail has a few texts and numbers as its values, so that accepting it loads no
    template engine. The others are rendered once.
    """
    if _may_be_large(body):
        return True
    return isinstance(body, SavedBody) and not surely_renders(body.source, body.values)


def _may_be_large(body: StarterBody | SavedBody) -> bool:
    """Whether the rendered mail could exceed its limit, by an upper bound from counts."""
    characters, longest = _extent(dict(body.values))
    source = body.source if isinstance(body, SavedBody) else ""
    references = source.count("{{") or 12
    repeated = longest if "for" in source else 1
    return (len(source) + references * characters * _ESCAPED) * max(repeated, 1) > _SURELY_SMALL


def _extent(value: Json) -> tuple[int, int]:
    """Return how many characters a value has as text, and the length of its longest list."""
    if isinstance(value, dict):
        parts = [_extent(item) for item in value.values()]
        return sum(part[0] for part in parts), max((part[1] for part in parts), default=0)
    if isinstance(value, list):
        parts = [_extent(item) for item in value]
        longest = max((part[1] for part in parts), default=0)
        return sum(part[0] for part in parts), max(longest, len(value))
    return len(str(value)), 0


def _try_to_render(body: StarterBody | SavedBody, fuel: RequestFuel) -> None:
    from pillarbox.application.render import render  # noqa: PLC0415  loads the engine

    render(body, fuel)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends, by which route, and the id of the HTTP request if there is one."""

    principal: Principal
    route: SendRoute
    request_id: str | None = None

    def origin(
        self,
        labels: Labels,
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
            labels=labels,
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
        """Return the same message for a time, or one that is held."""
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
        """Check one request against the directory: template, sender and recipients."""
        principal = caller.principal
        if principal.sends_for_owner:
            request = request.for_owner()
        template = find_template(request, directory)
        account = principal.account
        # The service's own sender, for a first email, is no sender of the account when it is due.
        first_to = () if request.waits else recipients.mailboxes
        sender = principal.sender(request.sender, first_to, preview)
        recipients.check_syntax()
        principal.check_recipients(recipients.normalized.values())
        recipients.check_suppressed(directory.suppressed)
        answers = reply_domain(account, request.replies)
        terms = AccountTerms(sender, not account.plan.paid, account.name, account.brand, answers)
        origin = caller.origin(request.labels, template, request.variables)
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
            fuel: what rendering the emails of this request may cost in all.
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
