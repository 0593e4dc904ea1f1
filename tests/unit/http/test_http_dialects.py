"""The fields of other services: carried, settled or refused by name."""

from typing import Any

import pytest

from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.http.dialects import Fields, describe
from tests.loops import for_each

_FIELDS = Fields(
    {"Name": "name"}, {"TrackOpens": (False, "opens are not tracked")}, {"Topic": "has no topics"}
)


def test_carried_fields_get_our_names() -> None:
    body: Any = {"Name": "x", "TrackOpens": False, "Topic": None}
    assert _FIELDS.translate(body) == {"name": "x"}


@for_each(
    "body, field, message",
    [
        ({"TrackOpens": True}, "TrackOpens", "opens are not tracked"),
        ({"TrackOpens": 0}, "TrackOpens", "opens are not tracked"),
        ({"Topic": "x"}, "Topic", "has no topics"),
        ({"name": "x"}, "name", "is not a field that Pillarbox has"),
        ([], "", "must be an object"),
    ],
)
def test_every_other_field_is_refused_by_its_name(body: Any, field: str, message: str) -> None:
    """A value that is only equal to the settled one, as 0 is to false, is another one."""
    with pytest.raises(ValidationFailed) as failed:
        _FIELDS.translate(body)
    assert [(one.field, one.message) for one in failed.value.errors] == [(field, message)]


def test_a_response_lists_few_of_many_unknown_fields() -> None:
    """A thousand unknown fields make an error whose text stays short."""
    with pytest.raises(ValidationFailed) as failed:
        _FIELDS.translate({f"{number}" * 100: 1 for number in range(1_000)})
    text = describe(failed.value, {}, {})
    assert text.endswith("(990 more)")
    assert len(text) < 1_100


@for_each(
    "error, text",
    [
        (ValidationFailed(FieldError("name.0", "is bad", "bad")), "`Name.0` is bad."),
        (ValidationFailed(FieldError("name", "is none", "unknown_field")), "`name` is none."),
        (ValidationFailed(FieldError("", "must be a list", "bad")), "The body must be a list."),
        (ValidationFailed(FieldError("", "the body is a form", "bad")), "The body is a form."),
        (ServiceError("missing_field", "Give html."), "Give HtmlBody."),
        (ServiceError("template_not_found", "No template."), "No template."),
    ],
)
def test_an_error_has_the_names_of_the_client(error: ServiceError, text: str) -> None:
    """Our names become theirs, except the name of an unknown field, which is theirs."""
    assert describe(error, {"name": "Name"}, {"missing_field": "Give HtmlBody."}) == text
