"""The errors that a caller may catch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class PillarboxError(Exception):
    """The service answered with an error.

    Attributes:
        status: the HTTP status.
        code: the stable code for programs, such as `recipient_suppressed`; `unknown` if what
            answered was not the service.
        type: the kind of the error, such as `validation_error`.
        details: data that depends on the code.
        request_id: names the request in the service's log.
    """

    def __init__(self, status: int, error: Mapping[str, Any], request_id: str) -> None:
        self.status = status
        self.code = str(error.get("code", "unknown"))
        self.type = str(error.get("type", "unknown"))
        self.details: Mapping[str, Any] = error.get("details") or {}
        self.request_id = request_id
        message = error.get("message") or f"The answer has the status {status}."
        super().__init__(f"{self.code}: {message}")


class InvalidSignature(ValueError):
    """A webhook does not come from the holder of the secret, or it is too old."""
