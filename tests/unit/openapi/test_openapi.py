"""docs/openapi.json is complete, true to the code, and good for public tools."""

import json
import re
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Registry, Resource

from local import template
from openapi.document import document, written
from openapi.errors import ERRORS, EVERYWHERE, OPERATORS_ONLY
from openapi.operations import OPERATIONS, Operation
from openapi.requests import BASE64, CONTENT_ID, FILENAME, HEADER_TEXT
from pillarbox.domain.attachment import is_canonical_base64
from pillarbox.domain.errors import CODES, ValidationFailed
from pillarbox.domain.header_text import is_header_safe
from pillarbox.http.models import AttachmentModel
from pillarbox.http.routes import ROUTES
from pillarbox.http.validation import validate

_DOCUMENT = document()
_SCHEMAS: dict[str, Any] = _DOCUMENT["components"]["schemas"]
every_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)


def described(operation: Operation) -> Any:
    return _DOCUMENT["paths"][operation.path][operation.method]


def check(schema: dict[str, Any], value: object) -> None:
    """Hold a JSON value against a schema of the document."""
    registry: Registry[Any] = Registry().with_resource(
        "urn:document", Resource.from_contents(_DOCUMENT | {"$schema": _DIALECT})
    )
    placed = json.loads(json.dumps(schema).replace('"#/', '"urn:document#/'))
    Draft202012Validator(placed, registry=registry, format_checker=FormatChecker()).validate(value)


_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def test_the_committed_document_is_the_generated_one() -> None:
    """No drift: `make openapi` would change nothing."""
    assert (template.ROOT / "docs/openapi.json").read_text(encoding="utf-8") == written()


def test_the_document_is_valid() -> None:
    """A public validator takes it for OpenAPI 3.1."""
    assert [*OpenAPIV31SpecValidator(_DOCUMENT).iter_errors()] == []


def test_it_has_the_routes_of_the_api() -> None:
    """Every route and method of http/routes.py is there, and no other."""
    assert {
        path: {method.upper() for method in methods} for path, methods in _DOCUMENT["paths"].items()
    } == {path: set(methods) for path, methods in ROUTES.items()}


def test_it_has_the_routes_of_the_template() -> None:
    """Each operation is the function that template.yaml puts at its path and method."""
    deployed = {
        (event["Properties"]["Path"], event["Properties"]["Method"]): resource["Properties"]
        for resource in template.load()["Resources"].values()
        if resource["Type"] == "AWS::Serverless::Function"
        for event in resource["Properties"]["Events"].values()
        if event["Type"] == "Api"
    }
    for operation in OPERATIONS:
        function = deployed.pop((operation.path, operation.method))
        assert function["CodeUri"] == f"functions/{operation.id}"
    assert not deployed


def test_every_code_is_shown() -> None:
    """Each code of the API has an example with its own type, on the statuses that it has."""
    assert set(ERRORS) == set(CODES) - OPERATORS_ONLY
    used = {code for operation in OPERATIONS for code in operation.errors}
    assert used | set(EVERYWHERE) | {"scope_required"} == set(ERRORS)
    for operation in OPERATIONS:
        for status, response in described(operation)["responses"].items():
            if int(status) >= 400:
                for code in response["content"]["application/json"]["examples"]:
                    assert CODES[code][0] == int(status)


@pytest.mark.parametrize("code", ERRORS)
def test_each_error_example_is_an_envelope(code: str) -> None:
    """The example of a code fits the schema; only upgrade_required has an upgrade_url."""
    example = _DOCUMENT["components"]["examples"][code]["value"]
    check({"$ref": "#/components/schemas/Error"}, example)
    assert example["error"]["code"] == code
    assert ("upgrade_url" in example["error"]) is (code == "upgrade_required")


@every_operation
def test_each_example_fits_its_schema(operation: Operation) -> None:
    """Examples of bodies and of answers are what the schemas describe."""
    shown = described(operation)
    contents = [response.get("content") for response in shown["responses"].values()]
    for content in [*contents, shown.get("requestBody", {}).get("content")]:
        if content:
            of_json = content["application/json"]
            for example in of_json.get("examples", {}).values():
                if "value" in example:
                    check(of_json["schema"], example["value"])
            if "example" in of_json:
                check(of_json["schema"], of_json["example"])


@every_operation
def test_each_example_has_what_is_optional_too(operation: Operation) -> None:
    """An example of an answer has no field that the schema lacks."""
    if operation.answer:
        example = operation.answer_example
        first = example[0] if operation.answer_is_list else example
        assert set(first) <= set(_SCHEMAS[operation.answer.__name__]["properties"])


@every_operation
def test_each_answer_has_a_request_id(operation: Operation) -> None:
    """X-Request-Id is a header of every answer; 405 has Allow."""
    for status, response in described(operation)["responses"].items():
        assert "X-Request-Id" in response["headers"]
        assert ("Allow" in response["headers"]) is (status == "405")


@every_operation
def test_links_lead_to_operations(operation: Operation) -> None:
    """A link names an operation and a parameter that it has."""
    known = {one.id: one for one in OPERATIONS}
    for target, parameters in (operation.links or {}).items():
        assert set(re.findall(r"\{(\w+)\}", known[target].path)) == set(parameters)


def test_every_schema_is_used_and_every_reference_leads_somewhere() -> None:
    """No component stands alone, and none is lacking."""
    references = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(_DOCUMENT)))
    assert references == set(_SCHEMAS)


@pytest.mark.parametrize("name", ["SendEmailRequest", "AttachmentModel", "SendBatchRequest"])
def test_every_field_of_a_request_is_described(name: str) -> None:
    """Requests say of each field what it is, and that others are refused."""
    schema = _SCHEMAS[name]
    assert schema["additionalProperties"] is False
    assert all(field["description"] for field in schema["properties"].values())


@pytest.mark.parametrize(
    ("body", "fits"),
    [
        ({"starterTemplate": "otp"}, True),
        ({"starterTemplate": "otp", "html": None}, True),
        ({"html": "x", "subject": "s"}, True),
        ({"html": "x"}, False),
        ({"html": "x", "starterTemplate": "otp"}, False),
        ({"html": "x", "subject": None}, False),
        ({}, False),
        ({"starterTemplate": "otp", "html": "x", "subject": "s"}, False),
        ({"starterTemplate": "otp", "cc": None, "to": ["a@b.example"]}, True),
        ({"starterTemplate": "otp", "to": []}, False),
        ({"starterTemplate": "otp", "to": None}, False),
        ({"starterTemplate": "otp", "replyto": "a@b.example"}, False),
    ],
)
def test_the_modes_are_in_the_schema(body: dict[str, Any], *, fits: bool) -> None:
    """Contract 2.1: exactly one of three modes; a subject with html; null is left out."""
    schema = {"$ref": "#/components/schemas/SendEmailRequest"}
    expected = nullcontext() if fits else pytest.raises(ValidationError)
    with expected:
        check(schema, {"to": "a@b.example"} | body)


near = st.text(alphabet="aZ0 /\\<>=~\x00\x7f\x85\u2028\u202e\u2066é🎉\n", max_size=8)


@given(near | st.text())
def test_patterns_say_what_validators_check(text: str) -> None:
    """A text fits a pattern of the document when the wire models take it."""
    assert (re.search(HEADER_TEXT.replace("$", r"\Z"), text) is not None) is is_header_safe(text)
    if not 0 < len(text) <= 255:
        return
    plain = {"contentType": "image/png", "content": "", "filename": "a", "inline": True}
    for field, pattern in (("filename", FILENAME), ("contentId", CONTENT_ID)):
        fits = re.search(pattern.replace("$", r"\Z"), text) is not None
        attachment: Any = {**plain, "contentId": "a", field: text}
        assert _taken(attachment) is fits


@given(st.text(alphabet="AQgwEIZ09+/=-_ ", max_size=12) | st.binary().map(repr))
def test_the_pattern_of_base64_is_the_check(text: str) -> None:
    """RFC 4648 section 4: padded, no white space, zero trailing bits."""
    fits = re.search(BASE64.replace("$", r"\Z"), text) is not None
    assert fits is is_canonical_base64(text)


def _taken(attachment: Any) -> bool:
    try:
        validate(AttachmentModel, attachment)
    except ValidationFailed:
        return False
    return True
