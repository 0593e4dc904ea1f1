"""Every operation of the API (contract section 4)."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from openapi import examples
from openapi.account_operations import ACCOUNT, KEYS, MEMBERS, SUPPRESSIONS
from openapi.domain_operations import DOMAINS
from openapi.operation import KEY_OR_SESSION, Operation, managing_operation, session_operation
from openapi.operator_operations import OPERATOR
from openapi.session_operations import SESSIONS
from openapi.template_operations import TEMPLATE_EDITOR
from openapi.webhook_operations import WEBHOOKS
from pillarbox.domain.accounts.key import (
    ACCOUNT_WRITE,
    EMAILS_CONTENT,
    EMAILS_READ,
    EMAILS_SEND,
    TEMPLATES_READ,
    TEMPLATES_WRITE,
)
from pillarbox.http.accounts.replies import CallerDetail
from pillarbox.http.mcp.message_types import RpcRequest, RpcResponse
from pillarbox.http.messages.changes import MessageContent, RescheduleRequest, ResendRequest
from pillarbox.http.messages.history_query import AnalyticsQuery, MessagesQuery
from pillarbox.http.messages.replies import BatchResult, SendResult
from pillarbox.http.messages.uploads import UploadDetail, UploadRequest
from pillarbox.http.messages.views import (
    AnalyticsResult,
    HeldContent,
    MessageDetail,
    MessagePage,
    RenderedStarterItem,
    SavedTemplatePage,
    StarterItem,
    TemplateDetail,
)
from pillarbox.http.messages.wire import RenderStarterRequest, SendBatchRequest, SendEmailRequest
from pillarbox.http.query import TemplatesQuery
from pillarbox.rendering.starters import all_starters

#: The errors that only an agent's key has.
_AGENTS: Final = ("recipient_not_allowed", "confirmation_required")
_QUOTAS: Final = ("rate_limit_exceeded", "daily_limit_exceeded", "monthly_limit_exceeded")
_read: Final = partial(Operation, tag="Emails", security=KEY_OR_SESSION, scope=EMAILS_READ)
_send: Final = partial(Operation, tag="Emails", scope=EMAILS_SEND, idempotent=True)
_change: Final = partial(
    Operation,
    tag="Emails",
    security=KEY_OR_SESSION,
    scope=EMAILS_SEND,
    shared_function="change_message",
)


def _variables_table() -> str:
    """Return a table of what each starter needs and may have."""
    rows = ["| Starter | needs | may have |", "|---|---|---|"]
    for starter in all_starters():
        every = (*starter.variables, *starter.optional)
        needs, may_have = (
            ", ".join(f"`{one.name}`" for one in every if one.required is required)
            for required in (True, False)
        )
        rows.append(f"| `{starter.slug}` | {needs} | {may_have} |")
    return "\n".join(rows)


_starters: Final = partial(Operation, tag="Starter templates", security=KEY_OR_SESSION)
_saved: Final = partial(managing_operation, tag="Saved templates")

OPERATIONS: Final = (
    _read(
        id="list_messages",
        route="GET /v1/emails",
        summary="List messages",
        description="The account's messages in descending order of the field that `sortBy` names."
        " A message is listed as soon as it is accepted.",
        query=MessagesQuery,
        response=MessagePage,
        response_example=examples.MESSAGES,
        links={"get_message": {"message_id": "$response.body#/items/0/messageId"}},
    ),
    _read(
        id="get_analytics",
        route="GET /v1/emails/analytics",
        summary="Get analytics",
        description="Figures of the messages that were created within a time range: at most 31 days"
        " by the hour, or 400 days by the day. With `keyId` or `template` they are those of the"
        " messages that one API key sent or one template made. Rates are over what was handed to"
        " Amazon SES: the messages that reached `sent`. What was called off before (`canceled`,"
        " `not_released`, `key_revoked`) is no error.",
        query=AnalyticsQuery,
        response=AnalyticsResult,
        response_example=examples.ANALYTICS,
    ),
    _send(
        id="send_email",
        route="POST /v1/emails",
        summary="Send an email",
        description="A 200 means that the email is recorded and will be delivered. Its body comes"
        " from exactly one of a starter template, a saved template and HTML, or is text alone."
        " Preview keys send starter templates only. Those made for self-service send them as tests"
        " with sample values, to one recipient.",
        body=SendEmailRequest,
        body_examples=examples.SENDS,
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
            "attachment_not_found",
            "no_verified_sender",
            "upgrade_required",
            "template_not_found",
            *_AGENTS,
            "sending_paused",
            *_QUOTAS,
        ),
        links={"get_message": {"message_id": "$response.body#/messageId"}},
    ),
    _send(
        id="send_batch",
        route="POST /v1/emails/batch",
        summary="Send a batch",
        description="Each message is accepted or refused separately. The status is 200 even if"
        " every item has an error, so check `error` of each. If a batch exceeds the quota, its"
        " first messages are accepted until the quota is reached. Not for preview keys.",
        body=SendBatchRequest,
        body_examples=examples.BATCHES,
        response=BatchResult,
        response_example=examples.BATCH_SENT,
        errors=(
            "batch_limit_exceeded",
            "upgrade_required",
            *_AGENTS,
            "sending_paused",
            *_QUOTAS,
        ),
        links={"get_message": {"message_id": "$response.body#/results/0/messageId"}},
    ),
    Operation(
        id="create_attachment",
        route="POST /v1/attachments",
        shared_function="send_batch",
        tag="Emails",
        scope=EMAILS_SEND,
        summary="Upload an attachment",
        description="For files that make a send larger than its limit, and for those that many"
        " emails have. The response has a request for the file's bytes: PUT them to `url` with"
        " `headers`, within 15 minutes. Then any number of sends may name `attachmentId` for 24"
        " hours. The file is deleted within 3 days. Not for keys that send tests.",
        body=UploadRequest,
        body_examples=examples.UPLOADS,
        response=UploadDetail,
        status=201,
        response_example=examples.UPLOAD,
        errors=(
            "attachment_type_not_allowed",
            "attachment_too_large",
            "upgrade_required",
            *_QUOTAS,
        ),
    ),
    _read(
        id="get_message",
        route="GET /v1/emails/{message_id}",
        summary="Get a message",
        description="A message with its status and its events.",
        response=MessageDetail,
        response_example=examples.MESSAGE,
    ),
    _change(
        id="reschedule_message",
        route="PATCH /v1/emails/{message_id}",
        summary="Reschedule a message",
        description="Gives a message another time: at least a minute and at most 30 days ahead, and"
        " at most 30 days after the request that sent it. A held message has no time. The time can"
        " be changed 50 times.",
        body=RescheduleRequest,
        body_examples=examples.RESCHEDULED,
        response=MessageDetail,
        response_example=examples.SCHEDULED_MESSAGE,
        errors=("not_cancelable", "rate_limit_exceeded"),
    ),
    _change(
        id="cancel_message",
        route="POST /v1/emails/{message_id}/cancel",
        summary="Cancel a message",
        description="A scheduled or held message that no worker has taken is never sent after this."
        " Its status is `failed`, with the code `canceled`. It counts no more in the quota of the"
        " day and month. A repetition changes nothing.",
        response=MessageDetail,
        response_example=examples.CANCELED_MESSAGE,
        errors=("not_cancelable",),
    ),
    _change(
        id="release_message",
        route="POST /v1/emails/{message_id}/release",
        summary="Release a held message",
        description="Sends a held message now. A repetition changes nothing. One with"
        " `awaitsOwner` is released in the session of an owner only.",
        response=MessageDetail,
        response_example=examples.RELEASED_MESSAGE,
        errors=("not_cancelable", "confirmation_required", "recipient_not_allowed"),
    ),
    session_operation(
        id="get_held_content",
        route="GET /v1/emails/{message_id}/content",
        tag="Emails",
        scope=ACCOUNT_WRITE,
        shared_function="change_message",
        summary="Read an agent's email",
        description="What an email with `awaitsOwner` is, for the owner who may release it. No"
        " other content can be read.",
        response=HeldContent,
        response_example=examples.HELD_CONTENT,
        errors=("message_not_found",),
    ),
    _change(
        id="resend_message",
        route="POST /v1/emails/{message_id}/resend",
        summary="Send a message again",
        description="Sends the kept content of a message again, as a new message with `resendOf`:"
        " to the same recipients, or to one other address, for which the caller needs"
        " `emails:content` too. Quota, suppressions and sender are checked as they are now. The"
        " log of the account has an entry. Not for codes and links by which people sign in, which"
        " are never kept.",
        idempotent=True,
        body=ResendRequest,
        body_required=False,
        body_examples=examples.RESENDS,
        response=SendResult,
        response_example=examples.SENT,
        errors=(
            "not_resendable",
            "content_not_found",
            "invalid_recipient",
            "recipient_suppressed",
            "no_verified_sender",
            "upgrade_required",
            *_AGENTS,
            "sending_paused",
            *_QUOTAS,
        ),
        links={"get_message": {"message_id": "$response.body#/messageId"}},
    ),
    _change(
        id="get_kept_content",
        route="GET /v1/emails/{message_id}/kept",
        scope=EMAILS_CONTENT,
        summary="Read the content of a message",
        description="What was handed over, if the account keeps it: the HTML, the text, the names"
        " of the files, and a link to the whole message. The log of the account has an entry for"
        " each reading. The answer for another account's message, and for content whose days are"
        " over, is that for an unknown id.",
        response=MessageContent,
        response_example=examples.CONTENT,
        errors=("content_not_found",),
    ),
    Operation(
        id="get_me",
        route="GET /v1/me",
        tag="API key",
        summary="Get the API key of the request",
        description="The key's name, type and permissions, the account's plan and limits, and how"
        " much of each limit is left. Both types of keys may ask, and no permission is needed.",
        response=CallerDetail,
        response_example=examples.CALLER,
    ),
    Operation(
        id="mcp",
        route="POST /v1/mcp",
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
    _starters(
        id="list_starter_templates",
        route="GET /v1/starter-templates",
        summary="List starter templates",
        description="The ten built-in templates. Both types of keys may list them. `variables` of"
        f" a send:\n\n{_variables_table()}\n\n`lines` has up to 100 entries: texts, or objects with"
        " `description` and perhaps `amount`. What is left out comes from the brand of the account"
        " (`PATCH /api/v1/account`): `company_address`, `support_email` (without one, the `replyTo`"
        " or the sender), and `action_url` of `welcome`.",
        response=StarterItem,
        response_is_list=True,
        response_example=examples.STARTERS,
        links={"preview_starter_template": {"slug": "$response.body#/0/slug"}},
    ),
    _starters(
        id="preview_starter_template",
        route="POST /v1/starter-templates/{slug}/preview",
        summary="Preview a starter template",
        description="Renders the template with samples, which the given variables replace."
        " Nothing is sent. The method is POST so that access logs do not have the variables.",
        body=RenderStarterRequest,
        body_required=False,
        body_examples=examples.PREVIEWS,
        response=RenderedStarterItem,
        response_example=examples.PREVIEW,
    ),
    _saved(
        id="list_templates",
        route="GET /v1/templates",
        summary="List saved templates",
        description="The newest first. Internal copies of templates are not listed.",
        scope=TEMPLATES_READ,
        query=TemplatesQuery,
        response=SavedTemplatePage,
        response_example=examples.TEMPLATES,
        links={
            "get_template": {"id": "$response.body#/items/0/id"},
            "delete_template": {"id": "$response.body#/items/0/id"},
        },
    ),
    _saved(
        id="get_template",
        route="GET /v1/templates/{id}",
        summary="Get a saved template",
        description="The template with a preview.",
        scope=TEMPLATES_READ,
        response=TemplateDetail,
        response_example=examples.TEMPLATE,
    ),
    _saved(
        id="delete_template",
        route="DELETE /v1/templates/{id}",
        summary="Delete a saved template",
        description="Deletes the template permanently. Emails that were accepted before are still"
        " sent.",
        scope=TEMPLATES_WRITE,
        errors=("template_in_use",),
    ),
    *DOMAINS,
    *TEMPLATE_EDITOR,
    *SESSIONS,
    *KEYS,
    *SUPPRESSIONS,
    *MEMBERS,
    *ACCOUNT,
    *OPERATOR,
    *WEBHOOKS,
)

#: Path -> its methods, in the order of the operations.
METHODS_BY_PATH: Final[Mapping[str, tuple[str, ...]]] = {
    operation.path: tuple(
        other.method.upper() for other in OPERATIONS if other.path == operation.path
    )
    for operation in OPERATIONS
}
