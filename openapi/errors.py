"""An example of every error that the HTTP API answers (contract section 7, docs/errors.md)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from pillarbox.domain.errors import CODES, Json

#: What any request may get, whatever its route: from the functions, the gateway, or the firewall.
EVERYWHERE: Final = (
    "missing_api_key",
    "invalid_api_key",
    "client_blocked",
    "method_not_allowed",
    "request_too_large",
    "validation_failed",
    "rate_limit_exceeded",
    "internal_error",
    "service_unavailable",
)
#: What the operator's command says; no route answers it.
OPERATORS_ONLY: Final = frozenset(
    {
        "SCOPE_NOT_ALLOWED_FOR_TIER",
        "account_not_found",
        "key_not_found",
        "sender_not_found",
        "suppression_not_found",
    }
)


@dataclass(frozen=True, slots=True)
class ErrorExample:
    """What one code may look like; `summary` tells when it comes."""

    summary: str
    message: str
    details: Mapping[str, Json] | None = None
    upgrade_url: str | None = None


_RECIPIENT: Final[dict[str, Json]] = {
    "address": "ada@customer.invalid",
    "reason": "the domain takes no mail",
}
ERRORS: Final[Mapping[str, ErrorExample]] = {
    "missing_field": ErrorExample(
        "None of starterTemplate, templateId and html is given.",
        "One of starterTemplate, templateId and html must be given.",
    ),
    "multiple_modes": ErrorExample(
        "More than one of starterTemplate, templateId and html is given.",
        "Only one of starterTemplate, templateId and html may be given.",
        {"given": ["starterTemplate", "html"]},
    ),
    "invalid_recipient": ErrorExample(
        "An address is invalid, or its domain takes no mail.",
        "One recipient of this mail cannot be mailed; nothing was sent.",
        {"recipients": [_RECIPIENT]},
    ),
    "recipient_suppressed": ErrorExample(
        "An address bounced or complained before.",
        "One recipient of this mail bounced or complained before; nothing was sent.",
        {"recipients": [{"address": "bob@customer.example", "reason": "bounced"}]},
    ),
    "recipient_limit_exceeded": ErrorExample(
        "More than 50 recipients in to, cc and bcc.",
        "An email can have at most 50 recipients; this one has 51.",
        {"count": 51, "limit": 50},
    ),
    "attachment_type_not_allowed": ErrorExample(
        "A contentType is not on the list, or the file is a program.",
        "setup.exe: application/octet-stream files cannot be attached.",
        {"filename": "setup.exe", "content_type": "application/octet-stream", "position": 0},
    ),
    "attachment_too_large": ErrorExample(
        "A file is over 5 MB, or all together over 10 MB.",
        "invoice.pdf is larger than 5242880 bytes.",
        {
            "scope": "per_attachment",
            "filename": "invoice.pdf",
            "size_bytes": 5242881,
            "limit_bytes": 5242880,
        },
    ),
    "too_many_attachments": ErrorExample(
        "More than 10 attachments.",
        "An email can have at most 10 attachments; this one has 11.",
        {"count": 11, "limit": 10},
    ),
    "batch_limit_exceeded": ErrorExample(
        "More than 100 messages or 1,000 recipients.",
        "A batch takes at most 100 messages; this one has 101.",
        {"scope": "messages", "count": 101, "limit": 100},
    ),
    "missing_api_key": ErrorExample(
        "There is no X-API-Key header; a key in Authorization does not count.",
        "The header X-API-Key is missing; it carries the API key.",
    ),
    "invalid_api_key": ErrorExample(
        "The key is unknown or revoked, or there are two.", "The API key is not valid."
    ),
    "scope_required": ErrorExample(
        "The key lacks a permission.",
        "The key lacks the permission emails:send.",
        {"required_permission": "emails:send"},
    ),
    "no_verified_sender": ErrorExample(
        "There is no verified default sender, or from is not verified.",
        "The account has no verified sender news@acme.example.",
        {"from": "news@acme.example"},
    ),
    "upgrade_required": ErrorExample(
        "A preview key was used for more than starter templates.",
        "Preview keys send starter templates only.",
        upgrade_url="https://pillarbox.example/upgrade",
    ),
    "client_blocked": ErrorExample(
        "The User-Agent is empty or a library's default.",
        "Send a User-Agent header that names your application.",
    ),
    "template_not_found": ErrorExample(
        "There is no starter of this slug, or no template of this id in the account.",
        "There is no such template.",
    ),
    "message_not_found": ErrorExample(
        "The account has no message of this id.", "There is no such message."
    ),
    "route_not_found": ErrorExample("There is no such path.", "There is no such route."),
    "method_not_allowed": ErrorExample(
        "The path has other methods; Allow lists them.", "This route takes GET, DELETE."
    ),
    "idempotency_key_mismatch": ErrorExample(
        "The Idempotency-Key was used with another body within 24 hours.",
        "The Idempotency-Key was used with another request.",
    ),
    "idempotency_in_flight": ErrorExample(
        "The first request with this key is not answered yet; try again after Retry-After.",
        "A request with this Idempotency-Key is being processed.",
    ),
    "template_in_use": ErrorExample(
        "An active campaign or a scheduled send uses the template; it stays.",
        "An active campaign or a scheduled send uses the template; it stays.",
    ),
    "request_too_large": ErrorExample(
        "The request is larger than the service takes.",
        "The request is too large.",
        {"limit_bytes": 16777216},
    ),
    "validation_failed": ErrorExample(
        "The body, a header or a parameter is not of the documented shape; all faults are listed.",
        "limit: must be at most 100",
        {"errors": [{"field": "limit", "message": "must be at most 100", "code": "out_of_range"}]},
    ),
    "rate_limit_exceeded": ErrorExample(
        "The account's minute is full. There is no Retry-After; wait for the next minute.",
        "The account may send 60 messages per minute; 0 are left.",
        {"limit_per_minute": 60},
    ),
    "daily_limit_exceeded": ErrorExample(
        "The account's day is full; wait until midnight UTC.",
        "The account may send 300 messages per day; 0 are left.",
        {"limit_per_day": 300},
    ),
    "monthly_limit_exceeded": ErrorExample(
        "The account's month is full.",
        "The account may send 9000 messages per month; 0 are left.",
        {"limit_per_month": 9000},
    ),
    "internal_error": ErrorExample(
        "Something went wrong on the service's side.", "Something went wrong on our side."
    ),
    "service_unavailable": ErrorExample(
        "A part of the service cannot be reached; nothing was done. Try again.",
        "The service cannot be reached at the moment. Try again.",
    ),
}


def example_of(code: str) -> dict[str, Json]:
    """An OpenAPI example object: the envelope of one code."""
    shown = ERRORS[code]
    error: dict[str, Json] = {"code": code, "message": shown.message, "type": CODES[code][1]}
    if shown.details is not None:
        error["details"] = dict(shown.details)
    if shown.upgrade_url is not None:
        error["upgrade_url"] = shown.upgrade_url
    return {"summary": shown.summary, "value": {"error": error}}


def response_of(status: int, codes: Iterable[str]) -> dict[str, Json]:
    """An OpenAPI response: the envelope, with an example of each code."""
    listed = list(codes)
    headers = ["X-Request-Id"]
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        headers.append("Allow")
    if "idempotency_in_flight" in listed:
        headers.append("Retry-After")
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        headers += ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]
    return {
        "description": "; ".join(f"`{code}`" for code in listed),
        "headers": headers_of(headers),
        "content": {
            "application/json": {
                "schema": {"$ref": "#/components/schemas/Error"},
                "examples": {code: {"$ref": f"#/components/examples/{code}"} for code in listed},
            }
        },
    }


def headers_of(names: Iterable[str]) -> dict[str, Json]:
    """References to headers of answers."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
