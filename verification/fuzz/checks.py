"""Checks of error codes that schemathesis runs beside its own."""

from typing import Any, Final

import schemathesis

from openapi.errors import ERRORS

#: Of 422 answers to bodies and queries that fit the schema: what a schema cannot say.
_MEANT: Final = frozenset(
    {
        "duplicate",  # two attachments with one contentId
        "invalid_address",  # syntax beyond JSON Schema's format
        "invalid_timestamp",  # a leap second, a year before 1
        "invalid_type",  # a variable that cannot stand where it is put
        "invalid_url",
        "missing_variable",
        "not_after_from",
        "too_deep",
        "too_large",
        "window_too_long",
    }
)


@schemathesis.check
def documented_code(
    _: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case[Any]
) -> None:
    """An error has a code that the document shows for this route and status, and its details."""
    if response.status_code < 400 or case.method == "HEAD":
        return
    error = response.json()["error"]
    shown = case.operation.definition.raw["responses"][str(response.status_code)]
    codes = shown["content"]["application/json"]["examples"]
    assert error["code"] in codes, f"{error['code']} is not documented here"
    details = ERRORS[error["code"]].details or {}
    # A full day or month is told in another member of the same kind; total has no filename.
    assert len(error.get("details", {})) <= len(details), f"{error['code']} has other details"


@schemathesis.check
def refused_for_a_reason(
    _: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case[Any]
) -> None:
    """What fits the schema gets a 422 only for what a schema cannot say."""
    positive = case.meta and case.meta.generation.mode is schemathesis.GenerationMode.POSITIVE
    if positive and response.status_code == 422:
        errors = response.json()["error"]["details"]["errors"]
        other = {error["code"] for error in errors} - _MEANT
        assert not other, f"refused for {other}: {errors}"
