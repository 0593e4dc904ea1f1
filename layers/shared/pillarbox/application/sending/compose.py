"""Compose the mail of a request: choose its template, sender, values and subject."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.ports import DirectoryResult
from pillarbox.application.sending.recipients import Recipients
from pillarbox.domain.accounts.brand import Brand
from pillarbox.domain.errors import FieldError, Json, ValidationFailed
from pillarbox.domain.messages.header_text import MAX_SUBJECT, is_header_safe
from pillarbox.domain.messages.mail import (
    MAX_DELIVERY_TIME,
    MAX_HTML,
    MAX_TEXT,
    Body,
    HtmlBody,
    Mail,
    SavedBody,
    SendRequest,
    StarterBody,
    TextBody,
)
from pillarbox.domain.templates.template import (
    SavedTemplate,
    StarterTemplate,
    fill_given,
    fill_subject,
    fill_text,
    unknown_template,
)
from pillarbox.rendering.fuel import RequestFuel
from pillarbox.rendering.saved import check_values, surely_renders
from pillarbox.rendering.starters import find_starter, get_starter
from pillarbox.rendering.values import check_logo_url, starter_values

#: Below this size the rendered mail cannot come near the limit, see `_may_be_large`.
_SURELY_SMALL: Final = 512 * 1024
#: Escaping turns one character into at most this many: " becomes &#34;.
_ESCAPED: Final = 5


def find_template(
    request: SendRequest, directory: DirectoryResult
) -> StarterTemplate | SavedTemplate | None:
    """Return the template that a request names; None for HTML or text of the caller.

    Raises:
        ServiceError: `template_not_found`.
    """
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


def compose(  # noqa: PLR0913  a mail depends on each of them
    request: SendRequest,
    template: StarterTemplate | SavedTemplate | None,
    terms: AccountTerms,
    recipients: Recipients,
    now: datetime,
    *,
    fuel: RequestFuel,
) -> Mail:
    """Compose the mail of a request whose recipients were checked.

    Raises:
        ValidationFailed: a required value is missing, a value is not allowed
            where the template uses it, or rendering takes too many steps.
    """
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
    )


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
    """Return the text part of a saved template that has its own."""
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
