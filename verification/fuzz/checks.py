"""Checks of error codes that schemathesis runs in addition to its own, and ids that exist."""

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from itertools import cycle
from typing import Any, Final, cast
from uuid import uuid4

import schemathesis
from hypothesis.configuration import set_hypothesis_home_dir
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import CoveragePhaseData, CoverageScenario

from local.template import ROOT
from openapi.errors import ERRORS
from openapi.shared import inlined

# Tables of Unicode, which take a second to make, stay here for the next process.
set_hypothesis_home_dir(ROOT / ".local/hypothesis")

_DOCUMENT: Final = inlined(json.loads((ROOT / "docs/openapi.json").read_text(encoding="utf-8")))
#: The codes of 422 for bodies and queries that match the schema: rules that it cannot express.
_BEYOND_SCHEMA: Final = frozenset(
    {
        "duplicate",  # two attachments with one contentId
        "invalid_address",  # syntax beyond JSON Schema's format
        "incomplete",  # neither or both of two fields
        "invalid_domain",  # syntax
        "invalid_headers",  # a value that the field's own syntax refuses
        "invalid_cursor",  # a text that no page had as its nextCursor
        "invalid_tag",  # the same as in tags, after the name and a colon
        "invalid_tags",  # more bytes than all may have, a blank at an end, nothing visible
        "invalid_time",  # as the next one
        "out_of_range",  # a time that is not ahead, or too far
        "invalid_timestamp",  # a leap second, a year before 1
        "invalid_type",  # a variable whose type does not fit its place in the template
        "invalid_url",
        "missing_variable",
        "not_after_from",
        *("not_with_key", "not_with_order", "not_with_status"),  # two parameters of one query
        "unverified_domain",  # of this account
        "unknown_extension",  # of a file without a type
        "unknown_queue",  # in the path
        "unknown_variable",  # of a starter
        "too_deep",
        "too_large",
        "window_too_long",
        "wrong_proof",  # no example can be solved
    }
)
#: Errors of a field for what another one has, such as scopes without the preset custom, for the
#: state of what it names, or for a syntax that only this field has.
_OF_TWO_FIELDS: Final = {
    ("account_id", "not_allowed"),
    ("address", "not_allowed"),
    ("scopes", "required"),
    ("scopes", "not_allowed"),
    ("variables", "not_allowed"),
    ("from", "not_allowed"),
    ("locale", "not_allowed"),
    ("unsubscribe", "not_allowed"),
    ("unsubscribe.oneClick", "not_allowed"),
    ("hold", "not_allowed"),
    ("attachments", "not_allowed"),
    ("flow", "invalid_passkey"),
    *(("roleArn", code) for code in ("not_allowed", "invalid_role")),  # none beside a target in AWS
    ("sources", "invalid"),
    ("accent", "low_contrast"),
    *(("receive", code) for code in ("required", "in_use", "not_allowed")),  # of this domain
    ("replies", "not_allowed"),  # no domain of this account receives
    ("subject", "unsafe_subject"),
    ("url", "not_allowed"),  # the other kind of target
}
#: Operation -> path parameter or field of a body -> a value that exists.
_IDS: Final[dict[str, dict[str, str]]] = json.loads(os.environ.get("PILLARBOX_FUZZ_IDS", "{}"))
#: The header with the credential of all requests.
_CREDENTIAL: Final = os.environ.get("PILLARBOX_FUZZ_CREDENTIAL", "")
#: Operation -> whether its next valid request names what exists.
_turns: Final = defaultdict[str, Iterator[bool]](lambda: cycle((True, False)))
#: The values of Idempotency-Key that were sent.
_sent: Final[set[str]] = set()
_DEEP: Final = "PILLARBOX_FUZZ_SECONDS" in os.environ
_ACCOUNT: Final = {"$ref": "#/components/parameters/HeaderXAccount"}
#: All operations read X-Account alike, and refuse the account of a random id before they look at
#: anything else. So few are tried with it.
_WITH_ACCOUNT: Final = frozenset({"get_account", "list_webhooks"})
#: The wrong types that were sent: operation, description, place, kind of the value.
_wrong: Final[set[tuple[str, ...]]] = set()
_OF_WHOLE_OBJECTS: Final = {
    CoverageScenario.VALID_OBJECT,
    CoverageScenario.OBJECT_REQUIRED_AND_OPTIONAL,
}


@schemathesis.hook
def before_load_schema(_: schemathesis.HookContext, raw_schema: dict[str, Any]) -> None:
    """Name texts that take long to find, and leave out what hides or repeats other requests."""
    schemas = raw_schema["components"]["schemas"]
    # Texts of the least and most characters: to find them by the patterns takes 20 s.
    filenames = [schemas[one]["properties"]["filename"] for one in ("Attachment", "UploadRequest")]
    longest = filenames[1]["maxLength"]
    for filename in filenames:
        filename["examples"] = ["a" * length for length in (1, 2, longest - 1, longest)]
    url = schemas["UnsubscribeModel"]["properties"]["url"]
    for length in (url["maxLength"] - 1, url["maxLength"]):
        url["examples"].append("https://shop.example/".ljust(length, "u"))
    for methods in raw_schema["paths"].values():
        for operation in methods.values():
            parameters = operation.get("parameters", [])
            if operation["operationId"] not in _WITH_ACCOUNT and _ACCOUNT in parameters:
                parameters.remove(_ACCOUNT)
    if not _DEEP:
        schemas["SendBatchRequest"]["properties"]["messages"]["items"] = _short(
            schemas["SendEmailRequest"]
        )


def _short(message: dict[str, Any]) -> dict[str, Any]:
    """Return a schema of messages with few fields: the requests to send_email have them all."""
    fields = ("to", "starterTemplate", "variables")
    return {
        "type": "object",
        "properties": {name: message["properties"][name] for name in fields},
        "required": ["to", "starterTemplate"],
        "additionalProperties": False,
    }


@schemathesis.hook
def filter_case(_: schemathesis.HookContext, case: schemathesis.Case[Any]) -> bool:
    """Leave out what repeats other requests of the coverage phase, except in `make fuzz`.

    Code that expects neither treats false like 0, an array like an object, and in a path or query
    one word like another. A body with alternatives repeats each wrong type for each of them, mostly
    without its other fields. An email repeats each valid value and each set of fields with each
    kind of content; only that with a template passes the rules about two fields.
    """
    data = case.meta and case.meta.phase.data
    if _DEEP or not isinstance(data, CoveragePhaseData):
        return True
    operation, body = case.operation.definition.raw["operationId"], case.body
    if data.scenario in _OF_WHOLE_OBJECTS and operation == "send_email":
        return isinstance(body, dict) and body.get("templateId") is not None
    if data.scenario is not CoverageScenario.INCORRECT_TYPE:
        return True
    if data.location and data.location.startswith("/anyOf/"):
        return False
    sent = (operation, data.description, *_wrong_value(case, data))
    is_new = sent not in _wrong
    _wrong.add(sent)
    return is_new


def _wrong_value(case: schemathesis.Case[Any], data: CoveragePhaseData) -> tuple[str, str]:
    """Return the place of the value in a request that has the wrong type, and its kind."""
    place, value = str(data.parameter), cast("Any", case.body)
    if data.parameter_location is not ParameterLocation.BODY:
        assert data.parameter_location
        value = getattr(case, data.parameter_location.container_name)[place]
        if isinstance(value, str):
            return place, "number" if value[0].isdigit() else "word"
    steps = iter(str(data.location).split("/"))
    for step in steps:
        if step in {"properties", "additionalProperties"}:
            value = value[name := next(steps)]
            place += f".{name}"
        elif step == "items":
            value = value[-1]
            place += "[]"
    if isinstance(value, list | dict):
        return place, "container"
    return place, "integer" if isinstance(value, int) else type(value).__name__


@schemathesis.hook
def before_call(_: schemathesis.HookContext, case: schemathesis.Case[Any], **_options: Any) -> None:
    """Name what exists in every second valid request of an operation: nothing has a random id.

    A request with a session has no key beside it, which would count. Each value of Idempotency-Key
    is sent once: what it was sent with would be the only body that is not refused.
    """
    if _CREDENTIAL == "Authorization" and case.headers:
        case.headers.pop("X-API-Key", None)
    if key := case.headers.get("Idempotency-Key"):
        if key in _sent:
            case.headers["Idempotency-Key"] = str(uuid4())
        _sent.add(key)
    positive = case.meta and case.meta.generation.mode is schemathesis.GenerationMode.POSITIVE
    operation = case.operation.definition.raw["operationId"]
    if positive and next(_turns[operation]):
        ids = _IDS.get(operation, {})
        known = {name: ids[name] for name in case.path_parameters if name in ids}
        case.path_parameters.update(known)
        if isinstance(case.body, dict):
            texts = {name for name, value in case.body.items() if isinstance(value, str)}
            case.body.update({name: ids[name] for name in texts & ids.keys()})


@schemathesis.check
def documented_code(
    _: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case[Any]
) -> None:
    """Check that an error has a code and details that the document shows for its route."""
    if response.status_code < 400 or case.method == "HEAD":
        return
    error = response.json()["error"]
    if isinstance(error["code"], int):  # of JSON-RPC, whose codes the schema lists
        return
    operation = _DOCUMENT["paths"][case.operation.path][case.operation.method.lower()]
    documented = operation["responses"][str(response.status_code)]
    codes = documented["content"]["application/json"]["examples"]
    assert error["code"] in codes, f"{error['code']} is not documented here"
    details = ERRORS[error["code"]].details or {}
    # The document shows one example: a full day or month has another key, and the total size
    # has no filename.
    assert len(error.get("details", {})) <= len(details), f"{error['code']} has other details"


@schemathesis.check
def refused_for_a_reason(
    _: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case[Any]
) -> None:
    """Check that a request that matches the schema gets a 422 only for rules beyond it."""
    positive = case.meta and case.meta.generation.mode is schemathesis.GenerationMode.POSITIVE
    if positive and response.status_code == 422:
        errors = response.json()["error"]["details"]["errors"]
        unexpected = {
            error["code"]
            for error in errors
            if (error["field"], error["code"]) not in _OF_TWO_FIELDS
        } - _BEYOND_SCHEMA
        assert not unexpected, f"refused for {unexpected}: {errors}"
