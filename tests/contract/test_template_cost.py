"""Saved templates: an accepted email can be rendered, and nobody's template costs too much."""

import json
from typing import Any

import pytest

from tests.contract.bodies import otp
from tests.contract.client import Api, ApiResponse
from tests.contract.service import Service

#: Burns about 15 million units of fuel with 1,000 rows and a value of 5,000 blanks.
BLANKS = "{% for i in rows %}{{ note | upper | lower | trim }}{% endfor %}"
ROWS = [1] * 1000


def send(api: Api, template_id: str, variables: dict[str, Any]) -> ApiResponse:
    return api.send(otp(starterTemplate=..., templateId=template_id, variables=variables))


@pytest.mark.parametrize(
    ("html", "values", "code"),
    [
        ("{{ x }}", {"x": ["a"]}, "invalid_type"),
        ("{{ x }}", {"x": {"a": 1}}, "invalid_type"),
        ("{{ x | upper }}", {"x": ["a"]}, "invalid_type"),
        ("{{ x | default('a') | trim }}", {"x": {}}, "invalid_type"),
        ("{% for i in x %}a{% endfor %}", {"x": "text"}, "invalid_type"),
        ("{% for i in x %}a{% endfor %}", {"x": {"a": 1}}, "invalid_type"),
        (
            "{% for i in x | default([]) %}{{ i.a | default('') }}{% endfor %}",
            {"x": 5},
            "invalid_type",
        ),
        ("{% for i in x %}a{% endfor %}", {"x": [*ROWS, 1]}, "invalid_type"),
        (BLANKS, {"rows": ROWS, "note": " " * 20_000}, "too_complex"),
    ],
)
def test_what_cannot_be_rendered_is_not_accepted(
    service: Service, account: str, html: str, values: dict[str, Any], code: str
) -> None:
    """4.1: values that fail or take too long at delivery are refused with 422 instead."""
    api = Api(service.key(account))
    response = send(api, service.template(account, html), values)
    assert (response.status, response.errors) == (422, {"variables": code})
    assert service.messages(account) == []


def test_a_batch_has_a_limited_time_for_rendering(service: Service, api: Api, account: str) -> None:
    """4.2: the messages of a batch share fuel; those after its end are refused one by one."""
    heavy = otp(
        starterTemplate=...,
        templateId=service.template(account, BLANKS),
        variables={"rows": ROWS, "note": " " * 5000},
    )
    light = otp()
    body = {"messages": [*[heavy] * 25, light]}
    results = api.raw("POST", "/emails/batch", body).json["results"]
    codes = [item["error"] and item["error"]["code"] for item in results]
    refused = codes.index("validation_failed")
    assert codes == [None] * refused + ["validation_failed"] * (25 - refused) + [None]
    assert refused > 10
    assert "send fewer at a time" in json.dumps(results[refused]["error"])
