"""Every operation of the API: contract section 4."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from openapi import answers, examples
from openapi.requests import SLUGS
from pillarbox.domain.key import EMAILS_READ, EMAILS_SEND, TEMPLATES_READ, TEMPLATES_WRITE
from pillarbox.http.models import PreviewRequest, SendBatchRequest, SendEmailRequest
from pillarbox.http.query import AnalyticsQuery, MessagesQuery, TemplatesQuery

_UUID: Final = {"type": "string", "format": "uuid"}
#: What a path parameter may hold, and what it is.
PATH_PARAMETERS: Final[Mapping[str, tuple[Mapping[str, Any], str]]] = {
    "message_id": (_UUID, "The `messageId` of a send."),
    "id": (_UUID, "The template's id."),
    "slug": ({"type": "string", "enum": SLUGS}, "A starter template's slug."),
}

#: Contract 4.1, common to both ways of sending.
_SENDING: Final = ("idempotency_key_mismatch", "idempotency_in_flight")
_QUOTAS: Final = ("rate_limit_exceeded", "daily_limit_exceeded", "monthly_limit_exceeded")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path. `id` is its function's folder, `errors` what is its own."""

    id: str
    method: str
    path: str
    tag: str
    summary: str
    description: str
    scope: str | None = None
    query: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    body_required: bool = True
    body_examples: Mapping[str, Any] | None = None
    idempotent: bool = False
    #: None: 204 without a body.
    answer: type[BaseModel] | None = None
    answer_is_list: bool = False
    answer_example: Any = None
    errors: tuple[str, ...] = ()
    #: operation -> parameter -> where in the answer its value is.
    links: Mapping[str, Mapping[str, str]] | None = None


OPERATIONS: Final = (
    Operation(
        id="list_messages",
        method="get",
        path="/v1/emails",
        tag="Emails",
        summary="List messages",
        description="The account's messages, in descending order of what `sortBy` names."
        " A message that was just accepted is on the list.",
        scope=EMAILS_READ,
        query=MessagesQuery,
        answer=answers.MessagePage,
        answer_example=examples.MESSAGES,
        links={"get_message": {"message_id": "$response.body#/items/0/messageId"}},
    ),
    Operation(
        id="get_analytics",
        method="get",
        path="/v1/emails/analytics",
        tag="Emails",
        summary="Get analytics",
        description="Figures of the messages that were created within a window of at most"
        " 31 days by the hour, 400 by the day.",
        scope=EMAILS_READ,
        query=AnalyticsQuery,
        answer=answers.Analytics,
        answer_example=examples.ANALYTICS,
    ),
    Operation(
        id="send_email",
        method="post",
        path="/v1/emails",
        tag="Emails",
        summary="Send an email",
        description="A 200 means that the mail is recorded and will be delivered. The body comes"
        " from exactly one of a starter template, a saved template, and HTML."
        " Preview keys send starter templates only.",
        scope=EMAILS_SEND,
        body=SendEmailRequest,
        body_examples=examples.SENDS,
        idempotent=True,
        answer=answers.SendResult,
        answer_example=examples.SENT,
        errors=(
            "missing_field",
            "multiple_modes",
            "invalid_recipient",
            "recipient_suppressed",
            "recipient_limit_exceeded",
            "attachment_type_not_allowed",
            "attachment_too_large",
            "too_many_attachments",
            "no_verified_sender",
            "upgrade_required",
            "template_not_found",
            *_SENDING,
            *_QUOTAS,
        ),
        links={"get_message": {"message_id": "$response.body#/messageId"}},
    ),
    Operation(
        id="send_batch",
        method="post",
        path="/v1/emails/batch",
        tag="Emails",
        summary="Send a batch",
        description="Each message is accepted or not by itself: a 200 comes even when every item"
        " has an error, so look at `error` of each. A batch that goes over the quota is accepted"
        " as far as the quota goes. Not for preview keys.",
        scope=EMAILS_SEND,
        body=SendBatchRequest,
        body_examples=examples.BATCHES,
        idempotent=True,
        answer=answers.BatchResult,
        answer_example=examples.BATCH_SENT,
        errors=("batch_limit_exceeded", "upgrade_required", *_SENDING, *_QUOTAS),
        links={"get_message": {"message_id": "$response.body#/results/0/messageId"}},
    ),
    Operation(
        id="get_message",
        method="get",
        path="/v1/emails/{message_id}",
        tag="Emails",
        summary="Get a message",
        description="What became of a message.",
        scope=EMAILS_READ,
        answer=answers.MessageDetail,
        answer_example=examples.MESSAGE,
        errors=("message_not_found", "route_not_found"),
    ),
    Operation(
        id="list_starter_templates",
        method="get",
        path="/v1/starter-templates",
        tag="Starter templates",
        summary="List starter templates",
        description="The ten built-in templates. For keys of both types.",
        answer=answers.StarterTemplate,
        answer_is_list=True,
        answer_example=examples.STARTERS,
        links={"preview_starter_template": {"slug": "$response.body#/0/slug"}},
    ),
    Operation(
        id="preview_starter_template",
        method="post",
        path="/v1/starter-templates/{slug}/preview",
        tag="Starter templates",
        summary="Preview a starter template",
        description="Renders with the given variables over samples; nothing is sent."
        " POST keeps the variables out of access logs.",
        body=PreviewRequest,
        body_required=False,
        body_examples=examples.PREVIEWS,
        answer=answers.StarterPreview,
        answer_example=examples.PREVIEW,
        errors=("template_not_found", "route_not_found"),
    ),
    Operation(
        id="list_templates",
        method="get",
        path="/v1/templates",
        tag="Saved templates",
        summary="List saved templates",
        description="Newest first; internal copies of campaigns are left out.",
        scope=TEMPLATES_READ,
        query=TemplatesQuery,
        answer=answers.SavedTemplatePage,
        answer_example=examples.TEMPLATES,
        links={
            "get_template": {"id": "$response.body#/items/0/id"},
            "delete_template": {"id": "$response.body#/items/0/id"},
        },
    ),
    Operation(
        id="get_template",
        method="get",
        path="/v1/templates/{id}",
        tag="Saved templates",
        summary="Get a saved template",
        description="The template with a preview.",
        scope=TEMPLATES_READ,
        answer=answers.SavedTemplateDetail,
        answer_example=examples.TEMPLATE,
        errors=("template_not_found", "route_not_found"),
    ),
    Operation(
        id="delete_template",
        method="delete",
        path="/v1/templates/{id}",
        tag="Saved templates",
        summary="Delete a saved template",
        description="For good. What is accepted already is still sent.",
        scope=TEMPLATES_WRITE,
        errors=("template_not_found", "route_not_found", "template_in_use"),
    ),
)
