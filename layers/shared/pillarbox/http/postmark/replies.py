"""Write responses in Postmark's shape. Its clients choose an error's class by the numbers."""

import json
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from pillarbox.application.ports import AcceptedMessage
from pillarbox.application.sending.recipients import refused_recipients
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import created_at
from pillarbox.domain.messages.batch import BatchRequest
from pillarbox.domain.messages.mail import SendRequest
from pillarbox.http.dialects.replies import describe, reply_in_shape
from pillarbox.http.messages.replies import Reply, timestamp
from pillarbox.http.postmark.requests import ATTACHMENT, EMAIL, MISSING_TOKEN, TEMPLATED

_KEY: Final = (401, 10)
_INVALID: Final = (422, 300)
_NOT_ALLOWED: Final = (422, 405)
#: Our code -> status and ErrorCode. What is not here has its own status as its ErrorCode.
ERRORS: Final[Mapping[str, tuple[int, int]]] = {
    "missing_api_key": _KEY,
    "invalid_api_key": _KEY,
    "scope_required": _KEY,
    "upgrade_required": _NOT_ALLOWED,
    "recipient_not_allowed": _NOT_ALLOWED,
    "confirmation_required": _NOT_ALLOWED,
    "account_suspended": _NOT_ALLOWED,
    "sending_paused": _NOT_ALLOWED,
    "daily_limit_exceeded": _NOT_ALLOWED,
    "monthly_limit_exceeded": _NOT_ALLOWED,
    "no_verified_sender": (422, 400),
    "recipient_suppressed": (422, 406),
    "batch_limit_exceeded": (422, 410),
    "template_not_found": (422, 1101),
    "missing_field": _INVALID,
    "multiple_modes": _INVALID,
    "invalid_recipient": _INVALID,
    "recipient_limit_exceeded": _INVALID,
    "attachment_type_not_allowed": _INVALID,
    "attachment_too_large": _INVALID,
    "too_many_attachments": _INVALID,
    "attachment_not_found": _INVALID,
    "request_too_large": _INVALID,
    "validation_failed": _INVALID,
    "idempotency_key_mismatch": _INVALID,
    "service_unavailable": (503, 100),
}
_MESSAGES: Final[Mapping[str, str]] = {
    "missing_field": "Give `HtmlBody` or `TextBody`, or `TemplateId` or `TemplateAlias`.",
    "multiple_modes": "Give only one of `TemplateId` and `TemplateAlias`.",
    "missing_api_key": MISSING_TOKEN,
    "invalid_api_key": "The API key is unknown, revoked or incomplete.",
}
_NAMES: Final = {
    ours: theirs
    for fields in (ATTACHMENT, TEMPLATED, EMAIL)
    for theirs, ours in fields.carried.items()
} | {"starterTemplate": "TemplateAlias", "tags": "Metadata"}


def reply_postmark_error(error: ServiceError) -> Reply:
    """Reply with an error as Postmark's clients read it: `ErrorCode` and `Message`."""
    return reply_in_shape(error, _numbers(error)[0], _error(error))


def email_sent(request: SendRequest | ServiceError, accepted: AcceptedMessage) -> str:
    """Write the response to a send."""
    return json.dumps(_sent(request, accepted.message_id))


def batch_sent(
    request: BatchRequest | ServiceError, outcomes: Sequence[AcceptedMessage | ServiceError]
) -> str:
    """Write the response to a batch: what each email would get alone."""
    items = request.items if isinstance(request, BatchRequest) else ()
    return json.dumps(
        [
            _sent(item, outcome.message_id)
            if isinstance(outcome, AcceptedMessage)
            else _error(outcome)
            for item, outcome in zip(items, outcomes, strict=True)
        ]
    )


def _sent(request: SendRequest | ServiceError, message_id: UUID) -> dict[str, object]:
    to = request.to if isinstance(request, SendRequest) else ()
    return {
        "To": ", ".join(to),
        "SubmittedAt": timestamp(created_at(message_id)),
        "MessageID": str(message_id),
        "ErrorCode": 0,
        "Message": "OK",
    }


def _error(error: ServiceError) -> dict[str, object]:
    message = describe(error, _NAMES, _MESSAGES)
    if error.code == "recipient_suppressed":
        # Clients read the addresses from exactly these words.
        addresses = ", ".join(address for address, _ in refused_recipients(error.details))
        message = (
            "You tried to send to recipients that have been marked as inactive. Found inactive"
            f" addresses: {addresses}. Inactive recipients are ones that have generated a hard"
            " bounce, a spam complaint, or a manual suppression."
        )
    return {"ErrorCode": _numbers(error)[1], "Message": message}


def _numbers(error: ServiceError) -> tuple[int, int]:
    return ERRORS.get(error.code, (error.status, error.status))
