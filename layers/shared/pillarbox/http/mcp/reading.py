"""The tools that only read."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from itertools import islice
from typing import Final
from uuid import UUID

from pillarbox.application.templates.starters import list_starters
from pillarbox.domain.address import domain_of, mailbox_key
from pillarbox.domain.errors import FieldError, Json, ServiceError, Unavailable, ValidationFailed
from pillarbox.domain.replies import ReceivedMail
from pillarbox.http.accept import parse_render_values
from pillarbox.http.accounts.replies import CheckedRecord, SuppressionItem
from pillarbox.http.mcp.tools import Lines, ToolCall, tool_result
from pillarbox.http.messages.history_query import AnalyticsQuery, MessagesQuery
from pillarbox.http.messages.views import (
    MessageItem,
    StarterItem,
    TemplateItem,
    analytics_result,
    message_detail,
)
from pillarbox.http.messages.wire import VARIABLES
from pillarbox.http.query import ReceivedQuery, TemplatesQuery
from pillarbox.http.received import ReceivedItem
from pillarbox.http.requests import read_uuid
from pillarbox.http.wire import (
    WireModel,
    optional,
    optional_or,
    required,
    text,
    validate,
    whole_number,
)

#: The lines of a rendered template in a result.
_PREVIEW_LINES: Final = 60
#: The lines of what somebody answered, and the characters of each: a paragraph is one line.
_REPLY_LINES: Final = 60
_REPLY_LINE: Final = 2_000
#: The emails in a list without a limit: fewer than over HTTP, because a model reads them.
_EMAILS: Final = 10
#: The time range of figures without one.
_FIGURES: Final = timedelta(hours=24)


class MessageArguments(WireModel):
    """Name a message."""

    message_id = required(text())


class TemplateArguments(WireModel):
    """Name a saved template."""

    template_id = required(text())


class RenderArguments(WireModel):
    """Name a saved template, with values. Without values, the preview shows their names."""

    template_id = required(text())
    variables = optional(VARIABLES)


class ReceivedArguments(WireModel):
    """Name a received mail."""

    received_id = required(text())


class DomainArguments(WireModel):
    """Name a domain."""

    domain = required(text(most=255))


class SuppressionArguments(WireModel):
    """List suppressions, or ask for that of one address."""

    address = optional(text(least=1, most=320))
    limit = optional_or(whole_number(least=1, most=100), 50)


def _list_starters(call: ToolCall) -> dict[str, Json]:
    _no_arguments(call)
    return tool_result({"items": [StarterItem.of(starter) for starter in list_starters()]})


def _render_starter(call: ToolCall) -> dict[str, Json]:
    from pillarbox.application.render import to_text  # noqa: PLC0415  loads the engine
    from pillarbox.application.templates.previews import render_with_samples  # noqa: PLC0415

    arguments = call.arguments
    slug = arguments.pop("slug", None)
    if not isinstance(slug, str):
        raise ValidationFailed(FieldError("slug", "is required", "required"))
    values = parse_render_values(arguments)
    shown = render_with_samples(slug, values, call.principal.account, call.now)
    return tool_result(
        {
            "slug": shown.slug,
            "subject": shown.subject,
            "text": Lines(to_text(shown.html), _PREVIEW_LINES),
            "sampleVariables": shown.values,
        }
    )


def _list_templates(call: ToolCall) -> dict[str, Json]:
    query = validate(TemplatesQuery, call.arguments)
    page = call.services.template_library.page(
        call.principal.account.account_id, skip=query.skip, limit=query.limit
    )
    items = [TemplateItem.of(template) for template in page.items]
    return _page(items, page.total, query.skip, query.limit)


def _get_template(call: ToolCall) -> dict[str, Json]:
    template_id = validate(TemplateArguments, call.arguments).template_id
    template = call.services.template_library.get(
        call.principal.account.account_id, read_uuid(template_id, "templateId")
    )
    return tool_result(TemplateItem.of(template))


def _render_template(call: ToolCall) -> dict[str, Json]:
    from pillarbox.application.render import to_text  # noqa: PLC0415  loads the engine

    arguments = validate(RenderArguments, call.arguments)
    account_id = call.principal.account.account_id
    call.services.render_budget.take(account_id)
    subject, html = call.services.template_library.render(
        account_id,
        read_uuid(arguments.template_id, "templateId"),
        arguments.variables,
    )
    return tool_result({"subject": subject, "text": Lines(to_text(html), _PREVIEW_LINES)})


def _list_emails(call: ToolCall) -> dict[str, Json]:
    arguments = {"limit": _EMAILS, **call.arguments}
    query, account = validate(MessagesQuery, arguments), call.principal.account
    page = call.services.history_queries.page(
        account.account_id, query.to_request().of(account), account.shards
    )
    return _page([*map(MessageItem.of, page.items)], page.total, query.skip, query.limit)


def _get_email(call: ToolCall) -> dict[str, Json]:
    message_id = validate(MessageArguments, call.arguments).message_id
    message = call.services.message_lookup.get(call.principal, read_uuid(message_id, "messageId"))
    return tool_result(message_detail(message, call.services.region))


def _get_analytics(call: ToolCall) -> dict[str, Json]:
    since = call.now - _FIGURES
    arguments = {"from": since.isoformat(), "to": call.now.isoformat(), **call.arguments}
    query, account = validate(AnalyticsQuery, arguments), call.principal.account
    figures = call.services.history_queries.analytics(
        account.account_id, *query.window, query.bucket, account.shards, subset=query.subset
    )
    return tool_result(analytics_result(figures, query.since, query.until, query.bucket))


def _check_domain(call: ToolCall) -> dict[str, Json]:
    name = validate(DomainArguments, call.arguments).domain.lower()
    # Otherwise a tenant could ask which domains other tenants have.
    if name not in map(domain_of, call.principal.account.senders):
        message = "is not the domain of a sender of this account"
        raise ValidationFailed(FieldError("domain", message, "unknown_domain"))
    try:
        domain = call.services.domain_check.show(name)
    except Unavailable:
        raise
    except ServiceError as error:
        if isinstance(error, ValidationFailed):
            raise
        # The text of AWS is for the operator.
        raise Unavailable("provider of mail delivery") from error
    records = [CheckedRecord.of(check) for check in domain.records]
    return tool_result({"domain": name, "verified": domain.verified, "records": records})


def _list_suppressions(call: ToolCall) -> dict[str, Json]:
    arguments = validate(SuppressionArguments, call.arguments)
    account_id = call.principal.account.account_id
    if arguments.address is not None:
        # A list may be long, and this is one read.
        directory = call.services.single_send.ports.directory
        mailbox = mailbox_key(arguments.address)
        found = directory.look_up(account_id, addresses=[mailbox]).suppressed
        return tool_result(
            {"items": [{"address": name, "reason": reason} for name, reason in found.items()]}
        )
    listed = call.services.suppression_list.of_account(account_id)
    return tool_result({"items": [*map(SuppressionItem.of, islice(listed, arguments.limit))]})


def _list_received(call: ToolCall) -> dict[str, Json]:
    query = validate(ReceivedQuery, {"limit": _EMAILS, **call.arguments})
    message_id = UUID(query.in_reply_to) if query.in_reply_to else None
    account_id = call.principal.account.account_id
    page = call.services.received_reading.page(account_id, query.limit, query.cursor, message_id)
    return tool_result({"items": [*map(_marked, page.items)], "nextCursor": page.next})


def _get_received(call: ToolCall) -> dict[str, Json]:
    received_id = validate(ReceivedArguments, call.arguments).received_id
    read = call.services.received_reading.read(call.principal, read_uuid(received_id, "receivedId"))
    reply, files = read.content.reply, [file.filename for file in read.mail.files]
    shown = _marked(read.mail, reply=reply and Lines(reply, _REPLY_LINES), files=files)
    return tool_result(shown, _REPLY_LINE)


def _marked(mail: ReceivedMail, **content: object) -> dict[str, object]:
    """Return a received mail whose parts by its sender stand below `untrusted`."""
    item = ReceivedItem.of(mail)
    written = {name: item.pop(name) for name in ("from", "fromName", "to", "subject")}
    return item | {"untrusted": written | content}


def _page(items: object, total: int, skip: int, limit: int) -> dict[str, Json]:
    return tool_result({"items": items, "total": total, "skip": skip, "limit": limit})


def _no_arguments(call: ToolCall) -> None:
    if call.arguments:
        raise ValidationFailed(FieldError("", "this tool takes no arguments", "unknown_field"))


TOOLS: Final[Mapping[str, Callable[[ToolCall], dict[str, Json]]]] = {
    "list_starters": _list_starters,
    "preview_starter": _render_starter,
    "list_templates": _list_templates,
    "get_template": _get_template,
    "render_template": _render_template,
    "list_emails": _list_emails,
    "get_email": _get_email,
    "get_analytics": _get_analytics,
    "check_domain": _check_domain,
    "list_suppressions": _list_suppressions,
    "list_received": _list_received,
    "get_received": _get_received,
}
