"""Compare responses with docs/openapi.json: every call of the contract's tests does this."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from jsonschema_rs import Draft202012Validator

from local.template import ROOT
from openapi.errors import ERRORS
from openapi.shared import inlined

_DOCUMENT: Final = inlined(json.loads((ROOT / "docs/openapi.json").read_text(encoding="utf-8")))
_COMPONENTS: Final = _DOCUMENT["components"]


def check_documented(
    method: str, route: str, status: int, headers: Mapping[str, str], text: str
) -> None:
    """Compare a response with its operation: status, headers, shape, code and details.

    Args:
        method: in upper or lower case; a method that the route does not have is ignored.
        route: a path of the document.
        status: the HTTP status.
        headers: with names in lower case.
        text: the body.

    Raises:
        AssertionError, jsonschema_rs.ValidationError: the response differs from the document.
    """
    operation = _DOCUMENT["paths"].get(f"/api{route}", {}).get(method.lower())
    if operation is None:
        return
    response = operation["responses"].get(str(status))
    assert response, f"{operation['operationId']} has no {status}: {text[:500]}"
    _check_headers(response["headers"], headers)
    if "content" not in response:
        assert not text
        return
    assert headers["content-type"] == "application/json"
    content = response["content"]["application/json"]
    body = json.loads(text)
    _validator(json.dumps(content["schema"])).validate(body)
    error = body["error"] if status >= 400 else {}
    if "jsonrpc" in body:
        error = error.get("data", {})
    if "type" in error:
        assert error["code"] in content["examples"], f"{error['code']} is not documented here"
        text_of = ERRORS[error["code"]]
        # An error may have fewer details than the example: a total has no filename.
        assert set(error.get("details", ())) <= {*(text_of.details or ()), *text_of.other_details}


def _check_headers(documented: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    for name in documented:
        if _COMPONENTS["headers"][name].get("required"):
            assert name.lower() in headers, f"{name} is missing"
    assert headers["cache-control"] == "no-store"  # notes: no response is cached
    other = set(headers) - {name.lower() for name in documented} - {"content-type"}
    assert not other, f"{other} is not documented"


@cache
def _validator(schema: str) -> Draft202012Validator:
    """Return what validates with a schema of the document: in Rust, since each response is."""
    return Draft202012Validator(
        json.loads(schema) | {"components": _COMPONENTS}, validate_formats=True
    )
