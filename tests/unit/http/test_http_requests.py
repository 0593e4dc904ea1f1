"""Paths as functions read them, and the error of a code without a reason."""

from dataclasses import replace
from typing import Any

import pytest

from pillarbox.domain.messages.message import EventKind
from pillarbox.http.messages.views import message_detail
from pillarbox.http.routes import canonical_path
from tests.fakes import builders
from tests.fakes.builders import event
from tests.loops import for_each


@for_each(
    ("path", "canonical"),
    [
        ("/v1/emails", "/v1/emails"),
        ("/v1/emails/", "/v1/emails"),
        ("/v1/v1/emails", "/v1/v1/emails"),
        ("/v1/emails/x", "/v1/emails/x"),
        ("/v1/emails/x/y", "/v1/emails/x/y"),
        ("/v1/starter-templates/otp/preview/", "/v1/starter-templates/otp/preview"),
        ("/v1", "/v1"),
        ("/v12/emails", "/v12/emails"),
        ("/", ""),
    ],
)
def test_a_slash_at_the_end_says_nothing(path: str, canonical: str) -> None:
    """A path is read without the slash at its end; the rest of it is left alone."""
    assert canonical_path({"path": path}) == canonical


@pytest.mark.parametrize(
    ("value", "segment"),
    [("a/b", "a%2Fb"), ("ü", "%C3%BC"), ("%2F", "%252F"), ("a b?", "a%20b%3F")],
)
def test_a_parameter_is_one_segment(value: str, segment: str) -> None:
    event = {
        "path": f"/v1/emails/{value}",
        "resource": "/v1/emails/{message_id}",
        "pathParameters": {"message_id": value},
    }
    assert canonical_path(event) == f"/v1/emails/{segment}"


def test_a_code_without_a_reason_is_the_error() -> None:
    bounced = replace(event(EventKind.BOUNCED, 1, "ann@example.com"), code="general")
    shown: Any = message_detail(builders.message().with_events([bounced]), "eu-west-1")
    assert shown["errorMessage"] == "general"
