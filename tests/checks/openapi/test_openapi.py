"""docs/openapi.json is complete, agrees with the code, and works with public tools."""

import json
import re
from collections import Counter
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Registry, Resource

from local import template
from openapi.document import document
from openapi.errors import ERRORS
from openapi.generate import GENERATED, ROOT
from openapi.of_keys import of_keys
from openapi.operation import Operation
from openapi.operations import OPERATIONS
from openapi.responses import error_codes
from openapi.shared import inlined, share
from pillarbox.application.webhooks.endpoints import check_types
from pillarbox.domain.errors import CODES, ServiceError, ValidationFailed
from pillarbox.domain.messages.attachment import FILENAME_PATTERN, is_canonical_base64
from pillarbox.domain.messages.header_text import is_header_safe
from pillarbox.http.callers import KEY
from pillarbox.http.messages.wire import BASE64, CONTENT_ID, AttachmentModel
from pillarbox.http.routes import ROUTES
from pillarbox.http.wire import HEADER_TEXT, validate
from tests.loops import for_each

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DOCUMENT = document()
_INLINED = inlined(_DOCUMENT)
_SCHEMAS: dict[str, Any] = _DOCUMENT["components"]["schemas"]
every_operation = for_each("operation", OPERATIONS)


def described(operation: Operation) -> Any:
    return _INLINED["paths"][f"/api{operation.path}"][operation.method]


def check(schema: dict[str, Any], value: object) -> None:
    """Validate a JSON value against a schema of the document."""
    registry: Registry[Any] = Registry().with_resource(
        "urn:document", Resource.from_contents(_DOCUMENT | {"$schema": _DIALECT})
    )
    placed = json.loads(json.dumps(schema).replace('"#/', '"urn:document#/'))
    Draft202012Validator(placed, registry=registry, format_checker=FormatChecker()).validate(value)


@for_each("path", GENERATED)
def test_the_generated_files_are_up_to_date(path: str) -> None:
    """`make openapi` would not change docs/openapi.json, docs/errors.md, routes.py or a guide."""
    committed = (ROOT / path).read_text(encoding="utf-8")
    is_current = GENERATED[path](committed) == committed
    assert is_current, f"run `make openapi`, which writes {path}"


@for_each(
    ("path", "generated"),
    [
        ("docs/errors.md", "| 400 | `missing_field` |"),
        ("layers/shared/pillarbox/http/routes.py", '"/v1/emails/batch": ("POST",),'),
    ],
)
def test_a_stale_table_is_written_again(path: str, generated: str) -> None:
    committed = (ROOT / path).read_text(encoding="utf-8")
    stale = committed.replace(generated, "")
    assert stale != committed
    assert GENERATED[path](stale + "\nmore\n") == committed + "\nmore\n"


@pytest.mark.slow
def test_the_document_is_valid() -> None:
    assert [*OpenAPIV31SpecValidator(_DOCUMENT).iter_errors()] == []


@pytest.mark.slow
def test_the_document_of_keys_has_what_a_key_may_call() -> None:
    document = of_keys(_DOCUMENT)
    assert [*OpenAPIV31SpecValidator(document).iter_errors()] == []
    listed = {one["operationId"] for path in document["paths"].values() for one in path.values()}
    assert listed == {one.id for one in OPERATIONS if KEY in one.security}
    text = json.dumps(document)
    for kind, parts in document["components"].items():
        for name in parts:
            assert kind == "securitySchemes" or f'"#/components/{kind}/{name}"' in text, name
    assert "Session" not in document["components"]["schemas"]


def test_the_document_has_the_routes_of_the_api() -> None:
    assert {
        path: {method.upper() for method in methods} for path, methods in _DOCUMENT["paths"].items()
    } == {f"/api{path}": set(methods) for path, methods in ROUTES.items()}


def test_the_document_has_the_routes_of_the_template() -> None:
    source = template.load()
    deployed = template.routes(source)
    for operation in OPERATIONS:
        name = deployed[operation.path, operation.method.upper()]
        assert name in source["Resources"], "see template.yaml"
        function = source["Resources"][name]
        assert function["Properties"]["CodeUri"] == f"functions/{operation.function}"


def test_every_code_is_documented_at_its_status() -> None:
    used = {code for operation in OPERATIONS for code in error_codes(operation)}
    assert used ^ ERRORS.keys() == set(), "see `errors` of the operations"
    for operation in OPERATIONS:
        for status, response in described(operation)["responses"].items():
            if int(status) >= 400:
                for code in response["content"]["application/json"]["examples"]:
                    assert ERRORS[code].status == int(status)


@for_each("code", ERRORS)
def test_each_error_example_is_an_envelope(code: str) -> None:
    example = _DOCUMENT["components"]["examples"][code]["value"]
    check({"$ref": "#/components/schemas/ErrorResponse"}, example)
    assert example["error"]["code"] == code
    assert ("upgrade_url" in example["error"]) is (code == "upgrade_required")


@for_each("code", CODES)
def test_each_error_matches_the_schema_of_the_envelope(code: str) -> None:
    schema = {"$ref": "#/components/schemas/ErrorResponse"}
    check(schema, {"error": ServiceError(code, "text").envelope()})
    full = ServiceError(code, "text", details={"a": 1}, upgrade_url="https://a.example")
    check(schema, {"error": full.envelope()})
    assert set(full.envelope()) == set(_SCHEMAS["ErrorBody"]["properties"])


def test_what_several_operations_have_is_written_once() -> None:
    paths = _DOCUMENT["paths"].values()
    own = [
        json.dumps(response)
        for methods in paths
        for operation in methods.values()
        for response in operation["responses"].values()
    ]
    counts = Counter(own)
    shared = _DOCUMENT["components"]["responses"]
    repeated = {json.dumps({"$ref": f"#/components/responses/{name}"}) for name in shared}
    assert {response for response, count in counts.items() if count > 1} == repeated


def test_two_shared_responses_with_one_name_are_an_error() -> None:
    other = {"description": "other", "headers": {}}
    paths = {
        path: {"get": {"responses": {"204": response}}}
        for path, response in {"/a": {}, "/b": {}, "/c": other, "/d": other}.items()
    }
    with pytest.raises(ValueError, match="two different NoContent"):
        share(paths)


@every_operation
def test_each_example_matches_its_schema(operation: Operation) -> None:
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
def test_each_response_example_has_only_documented_fields(operation: Operation) -> None:
    if operation.response:
        example = operation.response_example
        first = example[0] if isinstance(example, list) else example
        content = described(operation)["responses"][operation.success]["content"][
            "application/json"
        ]
        schema = content["schema"].get("items", content["schema"])
        name = schema["$ref"].removeprefix("#/components/schemas/")
        assert set(first) <= set(_SCHEMAS[name]["properties"])


@every_operation
def test_each_response_has_a_request_id(operation: Operation) -> None:
    for status, response in described(operation)["responses"].items():
        assert {"X-Request-Id", "Cache-Control"} <= set(response["headers"])
        assert ("Allow" in response["headers"]) is (status == "405")


@every_operation
def test_links_lead_to_operations(operation: Operation) -> None:
    known = {one.id: one for one in OPERATIONS}
    for target, parameters in (operation.links or {}).items():
        assert set(re.findall(r"\{(\w+)\}", known[target].path)) == set(parameters)


def test_every_schema_is_used_and_every_reference_has_a_schema() -> None:
    references = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(_DOCUMENT)))
    assert references == set(_SCHEMAS)


@for_each("name", ["SendEmailRequest", "Attachment", "SendBatchRequest"])
def test_every_field_of_a_request_is_described(name: str) -> None:
    schema = _SCHEMAS[name]
    assert schema["additionalProperties"] is False
    assert all(field["description"] for field in schema["properties"].values())


@for_each(
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
    """Contract 2.1: exactly one of three modes, a subject with html; null counts as left out."""
    schema = {"$ref": "#/components/schemas/SendEmailRequest"}
    expected = nullcontext() if fits else pytest.raises(ValidationError)
    with expected:
        check(schema, {"to": "a@b.example"} | body)


@for_each(
    ("types", "fits"),
    [
        (["*"], True),
        (["*", "*"], True),
        (["email.bounced"], True),
        (["email.bounced", "email.failed"], True),
        (["*", "email.bounced"], False),
        (["email.bounced", "*"], False),
        (["webhook.test"], False),
        ([], False),
    ],
)
@for_each("request_name", ["CreateWebhookRequest", "ChangeWebhookRequest", "ReplayWebhookRequest"])
def test_the_choice_of_types_is_in_the_schema(
    request_name: str, types: list[str], *, fits: bool
) -> None:
    """Types match the schema exactly if the service accepts them: "*" stands alone."""
    assert (check_types("types", types) == []) is fits
    expected = nullcontext() if fits else pytest.raises(ValidationError)
    with expected:
        check(_SCHEMAS[request_name]["properties"]["types"], types)


boundary_text = st.text(
    alphabet="aZ0 .:/\\<>=~conCON\u200b\u200d\x00\x7f\x85\u2028\u202e\u2066é🎉\n", max_size=8
)


@given(boundary_text | st.text())
def test_patterns_agree_with_the_validators(text: str) -> None:
    assert (re.search(HEADER_TEXT.replace("$", r"\Z"), text) is not None) is is_header_safe(text)
    if not 0 < len(text) <= 255:
        return
    plain = {"contentType": "image/png", "content": "", "filename": "a", "inline": True}
    for field, pattern in (("filename", FILENAME_PATTERN), ("contentId", CONTENT_ID)):
        fits = re.search(pattern.replace("$", r"\Z"), text) is not None
        attachment: Any = {**plain, "contentId": "a", field: text}
        assert _is_valid(attachment) is fits


@given(st.text(alphabet="AQgwEIZ09+/=-_ ", max_size=12) | st.binary().map(repr))
def test_the_pattern_of_base64_agrees_with_the_check(text: str) -> None:
    """RFC 4648 section 4: padded, no white space, zero trailing bits."""
    fits = re.search(BASE64.replace("$", r"\Z"), text) is not None
    assert fits is is_canonical_base64(text)


def _is_valid(attachment: Any) -> bool:
    try:
        validate(AttachmentModel, attachment)
    except ValidationFailed:
        return False
    return True
