"""The failures a caller can see, each raised where it is known and mapped once per protocol."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

type Json = bool | int | float | str | list[Json] | dict[str, Json] | None

#: The faults that one response lists: errors of fields, and refused recipients.
MAX_FAULTS: Final = 100
#: In bytes, of a text that a response repeats from the request or from a template.
_MAX_SHOWN: Final = 256

#: Code -> (HTTP status, error type). Generated from openapi/errors.py by `make openapi`.
CODES: Final[Mapping[str, tuple[int, str]]] = {
    "missing_field": (400, "invalid_request_error"),
    "multiple_modes": (400, "invalid_request_error"),
    "invalid_recipient": (400, "invalid_request_error"),
    "recipient_suppressed": (400, "invalid_request_error"),
    "recipient_limit_exceeded": (400, "invalid_request_error"),
    "attachment_type_not_allowed": (400, "invalid_request_error"),
    "attachment_too_large": (400, "invalid_request_error"),
    "too_many_attachments": (400, "invalid_request_error"),
    "batch_limit_exceeded": (400, "invalid_request_error"),
    "missing_api_key": (401, "authentication_error"),
    "invalid_api_key": (401, "authentication_error"),
    "invalid_session": (401, "authentication_error"),
    "invalid_code": (401, "authentication_error"),
    "invalid_passkey": (401, "authentication_error"),
    "scope_required": (403, "authorization_error"),
    "no_verified_sender": (403, "authorization_error"),
    "upgrade_required": (403, "authorization_error"),
    "SCOPE_NOT_ALLOWED_FOR_TIER": (403, "authorization_error"),
    "recipient_not_allowed": (403, "authorization_error"),
    "confirmation_required": (403, "authorization_error"),
    "account_suspended": (403, "authorization_error"),
    "sending_paused": (403, "authorization_error"),
    "client_blocked": (403, "authorization_error"),
    "session_required": (403, "authorization_error"),
    "sign_in_required": (403, "authorization_error"),
    "cross_site_request": (403, "authorization_error"),
    "sign_up_closed": (403, "authorization_error"),
    "preview_keys_closed": (403, "authorization_error"),
    "attachment_not_found": (404, "not_found"),
    "template_not_found": (404, "not_found"),
    "version_not_found": (404, "not_found"),
    "message_not_found": (404, "not_found"),
    "content_not_found": (404, "not_found"),
    "received_not_found": (404, "not_found"),
    "account_not_found": (404, "not_found"),
    "key_not_found": (404, "not_found"),
    "sender_not_found": (404, "not_found"),
    "suppression_not_found": (404, "not_found"),
    "webhook_not_found": (404, "not_found"),
    "delivery_not_found": (404, "not_found"),
    "session_not_found": (404, "not_found"),
    "passkey_not_found": (404, "not_found"),
    "member_not_found": (404, "not_found"),
    "domain_not_found": (404, "not_found"),
    "route_not_found": (404, "not_found"),
    "method_not_allowed": (405, "invalid_request_error"),
    "idempotency_key_mismatch": (409, "idempotency_error"),
    "idempotency_in_flight": (409, "idempotency_error"),
    "not_cancelable": (409, "invalid_request_error"),
    "not_resendable": (409, "invalid_request_error"),
    "template_in_use": (409, "invalid_request_error"),
    "draft_changed": (409, "invalid_request_error"),
    "already_exists": (409, "invalid_request_error"),
    "webhook_limit_exceeded": (409, "invalid_request_error"),
    "domain_in_use": (409, "invalid_request_error"),
    "domain_limit_exceeded": (409, "invalid_request_error"),
    "key_limit_exceeded": (409, "invalid_request_error"),
    "member_limit_exceeded": (409, "invalid_request_error"),
    "passkey_limit_exceeded": (409, "invalid_request_error"),
    "template_limit_exceeded": (409, "invalid_request_error"),
    "member_exists": (409, "invalid_request_error"),
    "last_owner": (409, "invalid_request_error"),
    "request_too_large": (413, "invalid_request_error"),
    "validation_failed": (422, "invalid_request_error"),
    "rate_limit_exceeded": (429, "rate_limit_error"),
    "daily_limit_exceeded": (429, "rate_limit_error"),
    "monthly_limit_exceeded": (429, "rate_limit_error"),
    "internal_error": (500, "api_error"),
    "service_unavailable": (503, "service_unavailable"),
}


class ServiceError(Exception):
    """A failure with a stable code, as the contract's envelope shows it (section 7).

    Args:
        message: for people; may change, names no secret and no full address of others.
        headers: HTTP headers of the response (`Retry-After`, `Allow`, …).
        upgrade_url: only with `upgrade_required`.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        details: Mapping[str, Json] | None = None,
        headers: Mapping[str, str] | None = None,
        upgrade_url: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details
        self.headers = headers or {}
        self.upgrade_url = upgrade_url
        self.status, self.type = CODES[code]
        #: What the log says besides the code: names and codes, never what a caller sent.
        self.log_fields: dict[str, str] = {}

    def envelope(self) -> dict[str, Json]:
        """Return the `error` object of the contract's envelope."""
        error: dict[str, Json] = {"code": self.code, "message": self.message, "type": self.type}
        if self.details is not None:
            error["details"] = dict(self.details)
        if self.upgrade_url is not None:
            error["upgrade_url"] = self.upgrade_url
        return error


def error_of(check: Callable[[], None]) -> ServiceError | None:
    """Run a check, and return its error instead of raising it."""
    try:
        check()
    except ServiceError as error:
        return error
    return None


class MethodNotAllowed(ServiceError):
    """405: the route exists and takes other methods; `allow` lists them as in the field `Allow`."""

    def __init__(self, allow: str) -> None:
        super().__init__(
            "method_not_allowed", f"This route takes {allow}.", headers={"Allow": allow}
        )


#: For a request that took so long that another process has given its message up.
STALLED: Final = "The service stalled during this request; try again."


class Unavailable(ServiceError):
    """503: something that the service needs does not answer or has no capacity left.

    Args:
        what: its name, such as "queue".
        message: for people; by default it says that the thing cannot be reached.
        aws_error: the code of AWS's error, or the kind of error on the way to AWS.
    """

    def __init__(
        self,
        what: str,
        message: str = "",
        *,
        aws_error: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            "service_unavailable",
            message or f"The {what} cannot be reached at the moment; nothing was changed.",
            headers=headers,
        )
        self.aws_error = aws_error
        self.log_fields = {"unavailable": what} | ({"aws_error": aws_error} if aws_error else {})


class Withdrawn(Unavailable):
    """503: nothing can be accepted under the id of this message any more."""

    def __init__(self) -> None:
        super().__init__("service", STALLED)


@dataclass(frozen=True, slots=True)
class FieldError:
    """One item of `details.errors[]`: a dotted path, what is wrong, and a stable code."""

    field: str
    message: str
    code: str


class ValidationFailed(ServiceError):
    """422: the body, a header or a query parameter is not of the documented shape.

    Args:
        unlisted: how many more errors there are.
    """

    def __init__(self, *errors: FieldError, unlisted: int = 0) -> None:
        first = errors[0]
        field = cut(first.field, _MAX_SHOWN)
        where = f"{field}: " if field else ""
        more = len(errors) - 1 + unlisted
        items: list[Json] = [
            {"field": cut(f.field, _MAX_SHOWN), "message": f.message, "code": f.code}
            for f in errors
        ]
        if unlisted:
            message = f"{unlisted} more errors are not listed"
            items.append({"field": "", "message": message, "code": "more_errors"})
        super().__init__(
            "validation_failed",
            f"{where}{first.message}{f' (and {more} more)' if more else ''}",
            details={"errors": items},
        )
        self.errors = errors
        self.unlisted = unlisted

    def below(self, path: str) -> "ValidationFailed":
        """Return the same failure of an object that is at a path of the request."""
        return ValidationFailed(
            *(
                replace(error, field=f"{path}.{error.field}" if error.field else path)
                for error in self.errors
            ),
            unlisted=self.unlisted,
        )

    def listing(self, most: int) -> "ValidationFailed":
        """Return the same failure with at most so many of its errors."""
        if len(self.errors) <= most:
            return self
        unlisted = self.unlisted + len(self.errors) - most
        return ValidationFailed(*self.errors[:most], unlisted=unlisted)


def cut(text: str, most: int) -> str:
    """Return the start of a text that is at most so many bytes in UTF-8."""
    return text[:most].encode(errors="ignore")[:most].decode(errors="ignore")
