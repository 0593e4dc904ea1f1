"""From a request to a mail: template, sender, values and subject are settled here."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.ports import DirectoryResult
from pillarbox.application.sending.recipients import Recipients
from pillarbox.domain.errors import FieldFault, Json, ServiceError, ValidationFailed
from pillarbox.domain.header_text import is_header_safe
from pillarbox.domain.mail import (
    MAX_DELIVERY_TIME,
    MAX_SUBJECT,
    Body,
    HtmlBody,
    Mail,
    SavedBody,
    SendRequest,
    StarterBody,
)
from pillarbox.domain.template import SavedTemplate, StarterTemplate, fill_subject
from pillarbox.rendering.saved import missing_values
from pillarbox.rendering.starters import find_starter
from pillarbox.rendering.values import check_logo_url, starter_values

#: Below this the rendered mail cannot come near the limit, see `_may_be_large`.
_SURELY_SMALL: Final = 512 * 1024
#: Escaping makes of one character at most this many: " becomes &#34;.
_ESCAPED: Final = 5


def find_template(
    request: SendRequest, found: DirectoryResult
) -> StarterTemplate | SavedTemplate | None:
    """Find the template that a request names; None for raw HTML.

    Raises:
        ServiceError: `template_not_found`.
    """
    if request.html is not None:
        return None
    template: StarterTemplate | SavedTemplate | None = None
    if request.starter_template is not None:
        template = find_starter(request.starter_template)
    elif request.template_id is not None:
        template = found.templates.get(request.template_id)
    if template is None:
        raise ServiceError("template_not_found", "There is no such template.")
    return template


@dataclass(frozen=True, slots=True)
class AccountTerms:
    """What the account's plan makes of its mail: the sender, and whether there is a footer."""

    sender: str
    attribution: bool


def compose(
    request: SendRequest,
    template: StarterTemplate | SavedTemplate | None,
    terms: AccountTerms,
    recipients: Recipients,
    now: datetime,
) -> Mail:
    """Make the mail that a request asks for, from recipients that were checked.

    Raises:
        ValidationFailed: a value that the mail is useless without is lacking,
            or one cannot stand where it is put.
    """
    subject, body = _subject_and_body(request, template, terms, now)
    return Mail(
        sender=terms.sender,
        from_name=request.from_name,
        to=recipients.spelled(request.to),
        cc=recipients.spelled(request.cc),
        bcc=recipients.spelled(request.bcc),
        reply_to=request.reply_to,
        subject=subject,
        body=body,
        attachments=request.attachments,
    )


def deadline(mail: Mail, now: datetime) -> datetime:
    """When a mail is of no use any more: a code or link that expires, or after a day."""
    if isinstance(mail.body, StarterBody):
        minutes = str(mail.body.values.get("expiry_minutes", ""))
        whole = minutes.isascii() and minutes.isdigit() and len(minutes) <= len("1440")
        if whole and int(minutes) > 0:
            return now + min(timedelta(minutes=int(minutes)), MAX_DELIVERY_TIME)
    return now + MAX_DELIVERY_TIME


def _subject_and_body(
    request: SendRequest,
    template: StarterTemplate | SavedTemplate | None,
    terms: AccountTerms,
    now: datetime,
) -> tuple[str, Body]:
    if template is None:
        return request.subject or "", HtmlBody(html=request.html or "")
    logo_faults = _logo_faults(request.logo_url)
    try:
        body = _filled(request, template, terms, now)
    except ValidationFailed as failed:
        raise ValidationFailed(*logo_faults, *failed.faults) from failed
    if logo_faults:
        raise ValidationFailed(*logo_faults)
    if _may_be_large(body):
        _render_to_know(body)
    subject = request.subject or fill_subject(template.subject, body.values)
    if not is_header_safe(subject) or len(subject) > MAX_SUBJECT:
        raise ValidationFailed(
            FieldFault(
                "variables",
                "the values make a subject that is too long or has control characters",
                "unsafe_subject",
            )
        )
    return subject, body


def _logo_faults(url: str | None) -> tuple[FieldFault, ...]:
    try:
        if url is not None:
            check_logo_url(url)
    except ValidationFailed as failed:
        return failed.faults
    return ()


def _filled(
    request: SendRequest,
    template: StarterTemplate | SavedTemplate,
    terms: AccountTerms,
    now: datetime,
) -> StarterBody | SavedBody:
    if isinstance(template, SavedTemplate):
        return SavedBody(source=template.html, values=_saved_values(template, request))
    values = starter_values(
        template,
        request.variables,
        brand=request.brand_name,
        sender_name=request.from_name,
        contact=request.reply_to or terms.sender,
        now=now,
    )
    return StarterBody(
        slug=template.slug,
        values=values,
        brand_name=request.brand_name,
        logo_url=request.logo_url,
        attribution=terms.attribution,
    )


def _saved_values(template: SavedTemplate, request: SendRequest) -> Mapping[str, Json]:
    values = dict(request.variables)
    if request.brand_name is not None:
        values.setdefault("brandName", request.brand_name)
    if request.logo_url is not None:
        values.setdefault("logoUrl", request.logo_url)
    if lacking := missing_values(template.required, values):
        raise ValidationFailed(
            *(
                FieldFault(f"variables.{name}", "the template needs this value", "missing_variable")
                for name in lacking
            )
        )
    return values


def _may_be_large(body: StarterBody | SavedBody) -> bool:
    """Whether the rendered mail could pass its limit: an upper bound from counts alone.

    Almost every mail is far below it, so accepting one loads no template
    engine; the few others are rendered once to know.
    """
    characters, longest = _extent(dict(body.values))
    source = body.source if isinstance(body, SavedBody) else ""
    references = source.count("{{") or 12
    repeated = longest if "for" in source else 1
    return (len(source) + references * characters * _ESCAPED) * max(repeated, 1) > _SURELY_SMALL


def _extent(value: Json) -> tuple[int, int]:
    """How many characters a value has when written out, and how long its longest list is."""
    if isinstance(value, dict):
        parts = [_extent(item) for item in value.values()]
        return sum(part[0] for part in parts), max((part[1] for part in parts), default=0)
    if isinstance(value, list):
        parts = [_extent(item) for item in value]
        longest = max((part[1] for part in parts), default=0)
        return sum(part[0] for part in parts), max(longest, len(value))
    return len(str(value)), 0


def _render_to_know(body: StarterBody | SavedBody) -> None:
    from pillarbox.application.render import render  # noqa: PLC0415  loads the engine

    render(body)
