"""Every operation of the API (contract section 4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from openapi import examples
from openapi.requests import STARTER_SLUG
from pillarbox.domain.key import (
    EMAILS_READ,
    EMAILS_SEND,
    TEMPLATES_READ,
    TEMPLATES_WRITE,
    WEBHOOKS_READ,
    WEBHOOKS_WRITE,
)
from pillarbox.http.mcp.message_types import RpcRequest, RpcResponse
from pillarbox.http.models import PreviewRequest, SendBatchRequest, SendEmailRequest
from pillarbox.http.query import AnalyticsQuery, DeliveriesQuery, MessagesQuery, TemplatesQuery
from pillarbox.http.reply_types import (
    AnalyticsResult,
    BatchResult,
    CallerDetail,
    ItemPage,
    MessageDetail,
    MessageItem,
    PreviewResult,
    SendResult,
    StarterItem,
    TemplateDetail,
    TemplateItem,
)
from pillarbox.http.webhook_types import (
    DeliveryPage,
    QueuedEvent,
    ReplayedEvents,
    WebhookItem,
    WebhookList,
    WebhookWithSecret,
)
from pillarbox.http.webhooks import (
    ChangeWebhookRequest,
    CreateWebhookRequest,
    ReplayWebhookRequest,
)
from pillarbox.http.wire import WireModel

_UUID: Final = {"type": "string", "format": "uuid"}
#: Path parameter -> its schema and its description.
PATH_PARAMETERS: Final[Mapping[str, tuple[Mapping[str, Any], str]]] = {
    "message_id": (_UUID, "The `messageId` of a send."),
    "id": (_UUID, "The template's id."),
    "slug": (STARTER_SLUG, "A starter template's slug."),
    "webhook_id": (_UUID, "The endpoint's id."),
    "delivery_id": ({"type": "string"}, "The `id` of a delivery."),
}

#: The errors that both ways of sending have (contract 4.1).
_SENDING: Final = ("idempotency_key_mismatch", "idempotency_in_flight")
#: The errors that only an agent's key has.
_AGENTS: Final = ("recipient_not_allowed", "confirmation_required")
_WEBHOOK: Final = ("webhook_not_found", "route_not_found")
_QUOTAS: Final = ("rate_limit_exceeded", "daily_limit_exceeded", "monthly_limit_exceeded")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path; `errors` are the codes that only it has."""

    id: str
    method: str
    path: str
    tag: str
    summary: str
    description: str
    #: The folder of its function, if it is not the id.
    shared_function: str = ""
    scope: str | None = None
    query: type[WireModel] | None = None
    body: Any = None
    body_required: bool = True
    body_examples: Mapping[str, Any] | None = None
    idempotent: bool = False
    #: The type of a success; None if the response is 204 without a body.
    response: Any = None
    #: The status of a success with a body.
    status: int = 200
    response_is_list: bool = False
    response_example: Any = None
    errors: tuple[str, ...] = ()
    #: Whether its body is a message of JSON-RPC, with errors of its own.
    rpc: bool = False
    #: Operation -> parameter -> where in the response its value is.
    links: Mapping[str, Mapping[str, str]] | None = None

    @property
    def function(self) -> str:
        """The folder of its function."""
        return self.shared_function or self.id

    @property
    def success(self) -> str:
        """The status of a success."""
        return str(self.status) if self.response else "204"


OPERATIONS: Final = (
    Operation(
        id="list_messages",
        method="get",
        path="/v1/emails",
        tag="Emails",
        summary="List messages",
        description="The account's messages in descending order of the field that `sortBy` names."
        " A message is listed as soon as it is accepted.",
        scope=EMAILS_READ,
        query=MessagesQuery,
        response=ItemPage[MessageItem],
        response_example=examples.MESSAGES,
        links={"get_message": {"message_id": "$response.body#/items/0/messageId"}},
    ),
    Operation(
        id="get_analytics",
        method="get",
        path="/v1/emails/analytics",
        tag="Emails",
        summary="Get analytics",
        description="Figures of the messages that were created within a time range: at most 31 days"
        " by the hour, or 400 days by the day. With `key` or `template` they are those of the"
        " messages that one API key sent or one template made.",
        scope=EMAILS_READ,
        query=AnalyticsQuery,
        response=AnalyticsResult,
        response_example=examples.ANALYTICS,
    ),
    Operation(
        id="send_email",
        method="post",
        path="/v1/emails",
        tag="Emails",
        summary="Send an email",
        description="A 200 means that the email is recorded and will be delivered. Its body comes"
        " from exactly one of a starter template, a saved template and HTML."
        " Preview keys send starter templates only. Those made for self-service send them as tests"
        " with sample values, to one recipient.",
        scope=EMAILS_SEND,
        body=SendEmailRequest,
        body_examples=examples.SENDS,
        idempotent=True,
        response=SendResult,
        response_example=examples.SENT,
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
            *_AGENTS,
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
        description="Each message is accepted or refused separately. The status is 200 even if"
        " every item has an error, so check `error` of each. If a batch exceeds the quota, its"
        " first messages are accepted until the quota is reached. Not for preview keys.",
        scope=EMAILS_SEND,
        body=SendBatchRequest,
        body_examples=examples.BATCHES,
        idempotent=True,
        response=BatchResult,
        response_example=examples.BATCH_SENT,
        errors=("batch_limit_exceeded", "upgrade_required", *_AGENTS, *_SENDING, *_QUOTAS),
        links={"get_message": {"message_id": "$response.body#/results/0/messageId"}},
    ),
    Operation(
        id="get_message",
        method="get",
        path="/v1/emails/{message_id}",
        tag="Emails",
        summary="Get a message",
        description="A message with its status and its events.",
        scope=EMAILS_READ,
        response=MessageDetail,
        response_example=examples.MESSAGE,
        errors=("message_not_found", "route_not_found"),
    ),
    Operation(
        id="get_me",
        method="get",
        path="/v1/me",
        tag="API key",
        summary="Get the API key of the request",
        description="The key's name, type and permissions, the account's plan and limits, and how"
        " much of each limit is left. Both types of keys may ask, and no permission is needed.",
        response=CallerDetail,
        response_example=examples.CALLER,
    ),
    Operation(
        id="mcp",
        method="post",
        path="/v1/mcp",
        tag="Agents",
        summary="Call the MCP server",
        description="The tools of the Model Context Protocol, for agents: revision 2026-07-28, and"
        " 2025-11-25 and 2025-06-18 with a handshake. Each request is one JSON-RPC message. The"
        " list of tools depends on the permissions of the key. The error of a tool is in its"
        " result, with the codes of the other operations.",
        body=RpcRequest,
        body_examples=examples.RPC_REQUESTS,
        response=RpcResponse,
        response_example=examples.RPC_RESPONSE,
        rpc=True,
    ),
    Operation(
        id="list_starter_templates",
        method="get",
        path="/v1/starter-templates",
        tag="Starter templates",
        summary="List starter templates",
        description="The ten built-in templates. Both types of keys may list them.",
        response=StarterItem,
        response_is_list=True,
        response_example=examples.STARTERS,
        links={"preview_starter_template": {"slug": "$response.body#/0/slug"}},
    ),
    Operation(
        id="preview_starter_template",
        method="post",
        path="/v1/starter-templates/{slug}/preview",
        tag="Starter templates",
        summary="Preview a starter template",
        description="Renders the template with samples, which the given variables replace."
        " Nothing is sent. The method is POST so that access logs do not have the variables.",
        body=PreviewRequest,
        body_required=False,
        body_examples=examples.PREVIEWS,
        response=PreviewResult,
        response_example=examples.PREVIEW,
        errors=("template_not_found", "route_not_found"),
    ),
    Operation(
        id="list_templates",
        method="get",
        path="/v1/templates",
        tag="Saved templates",
        summary="List saved templates",
        description="The newest first. Internal copies of templates are not listed.",
        scope=TEMPLATES_READ,
        query=TemplatesQuery,
        response=ItemPage[TemplateItem],
        response_example=examples.TEMPLATES,
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
        response=TemplateDetail,
        response_example=examples.TEMPLATE,
        errors=("template_not_found", "route_not_found"),
    ),
    Operation(
        id="delete_template",
        method="delete",
        path="/v1/templates/{id}",
        tag="Saved templates",
        summary="Delete a saved template",
        description="Deletes the template permanently. Emails that were accepted before are still"
        " sent.",
        scope=TEMPLATES_WRITE,
        errors=("template_not_found", "route_not_found", "template_in_use"),
    ),
    Operation(
        id="list_webhooks",
        shared_function="read_webhooks",
        method="get",
        path="/v1/webhooks",
        tag="Webhooks",
        summary="List webhook endpoints",
        description="All endpoints of the account, at most ten, without their secrets.",
        scope=WEBHOOKS_READ,
        response=WebhookList,
        response_example=examples.WEBHOOKS,
        links={"get_webhook": {"webhook_id": "$response.body#/items/0/id"}},
    ),
    Operation(
        id="create_webhook",
        shared_function="write_webhooks",
        method="post",
        path="/v1/webhooks",
        tag="Webhooks",
        summary="Create a webhook endpoint",
        description="The response has the endpoint's secret. Save it: only this response and that"
        " of a rotation show it.",
        scope=WEBHOOKS_WRITE,
        body=CreateWebhookRequest,
        body_examples=examples.NEW_WEBHOOKS,
        response=WebhookWithSecret,
        status=201,
        response_example=examples.WEBHOOK_WITH_SECRET,
        errors=("webhook_limit_exceeded",),
        links={"test_webhook": {"webhook_id": "$response.body#/id"}},
    ),
    Operation(
        id="get_webhook",
        shared_function="read_webhooks",
        method="get",
        path="/v1/webhooks/{webhook_id}",
        tag="Webhooks",
        summary="Get a webhook endpoint",
        description="The endpoint without its secret, and whether its deliveries fail.",
        scope=WEBHOOKS_READ,
        response=WebhookItem,
        response_example=examples.WEBHOOK,
        errors=_WEBHOOK,
    ),
    Operation(
        id="change_webhook",
        shared_function="write_webhooks",
        method="patch",
        path="/v1/webhooks/{webhook_id}",
        tag="Webhooks",
        summary="Change a webhook endpoint",
        description="What is left out stays as it is. `enabled: true` also works if the service"
        " disabled the endpoint. Then the deliveries that wait are sent, if they are at most 7 days"
        " old.",
        scope=WEBHOOKS_WRITE,
        body=ChangeWebhookRequest,
        body_examples=examples.WEBHOOK_CHANGES,
        response=WebhookItem,
        response_example=examples.WEBHOOK,
        errors=_WEBHOOK,
    ),
    Operation(
        id="delete_webhook",
        shared_function="write_webhooks",
        method="delete",
        path="/v1/webhooks/{webhook_id}",
        tag="Webhooks",
        summary="Delete a webhook endpoint",
        description="Deletes the endpoint permanently. Deliveries that wait are not sent.",
        scope=WEBHOOKS_WRITE,
        errors=_WEBHOOK,
    ),
    Operation(
        id="rotate_webhook_secret",
        shared_function="write_webhooks",
        method="post",
        path="/v1/webhooks/{webhook_id}/rotate",
        tag="Webhooks",
        summary="Rotate the secret",
        description="Gives the endpoint a new secret. For 24 hours, events have a signature of the"
        " old secret too. Of more than four secrets in this time, the oldest end early.",
        scope=WEBHOOKS_WRITE,
        response=WebhookWithSecret,
        response_example=examples.WEBHOOK_WITH_SECRET,
        errors=_WEBHOOK,
    ),
    Operation(
        id="test_webhook",
        shared_function="write_webhooks",
        method="post",
        path="/v1/webhooks/{webhook_id}/test",
        tag="Webhooks",
        summary="Test a webhook endpoint",
        description="Sends an event `webhook.test` to the endpoint, whichever types it chose.",
        scope=WEBHOOKS_WRITE,
        response=QueuedEvent,
        status=202,
        response_example=examples.QUEUED_TEST,
        errors=_WEBHOOK,
    ),
    Operation(
        id="list_webhook_deliveries",
        shared_function="read_webhooks",
        method="get",
        path="/v1/webhooks/{webhook_id}/deliveries",
        tag="Webhooks",
        summary="List deliveries",
        description="What was sent to the endpoint in the last 30 days, with each attempt. The"
        " deliveries of the newest events come first.",
        scope=WEBHOOKS_READ,
        query=DeliveriesQuery,
        response=DeliveryPage,
        response_example=examples.DELIVERIES,
        errors=_WEBHOOK,
        links={
            "replay_webhook_delivery": {
                "webhook_id": "$request.path.webhook_id",
                "delivery_id": "$response.body#/items/0/id",
            }
        },
    ),
    Operation(
        id="replay_webhook_delivery",
        shared_function="write_webhooks",
        method="post",
        path="/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/replay",
        tag="Webhooks",
        summary="Replay a delivery",
        description="Sends the event again, with the same `webhook-id`.",
        scope=WEBHOOKS_WRITE,
        response=QueuedEvent,
        status=202,
        response_example=examples.QUEUED_EVENT,
        errors=(*_WEBHOOK, "delivery_not_found"),
    ),
    Operation(
        id="replay_webhook_events",
        shared_function="write_webhooks",
        method="post",
        path="/v1/webhooks/{webhook_id}/replay",
        tag="Webhooks",
        summary="Replay a time range",
        description="Sends the events of all emails again that were accepted within a time range,"
        " with the same `webhook-id`s. One request reads about 10,000 emails or events, those of"
        " the newest emails first. `next` in the response is then the `to` of the next request. An"
        " endpoint can have one such request a minute.",
        scope=WEBHOOKS_WRITE,
        body=ReplayWebhookRequest,
        body_examples=examples.REPLAYS,
        response=ReplayedEvents,
        status=202,
        response_example=examples.REPLAYED,
        errors=_WEBHOOK,
    ),
)

#: Path -> its methods, in the order of the operations.
METHODS_BY_PATH: Final[Mapping[str, tuple[str, ...]]] = {
    operation.path: tuple(
        other.method.upper() for other in OPERATIONS if other.path == operation.path
    )
    for operation in OPERATIONS
}
