"""The sample event of a function names what the running local stack has."""

import json
from collections.abc import Callable

import pytest

from local import template
from local.samples import NoSuchFunction, sample_event, values_of
from tests.loops import for_each

FUNCTIONS = sorted(
    name
    for name, resource in template.load()["Resources"].items()
    if resource["Type"] == "AWS::Serverless::Function"
)
#: Their routes take a session of the dashboard.
OF_SESSIONS = {
    "CreateAccount",
    "DeleteAccount",
    "EditTemplates",
    "GetOverview",
    "ManageAccount",
    "ManageDomains",
    "ManageKeys",
    "ManageMembers",
    "Operate",
}
WITHOUT_KEY = {"SignIn", "IssuePreviewKey", "Passkeys"}
OF_OPERATORS = {"DeleteAccount", "Operate"}
#: Its routes take a key where Resend's API takes one.
BEARS_KEY = {"Resend"}


def named(name: str) -> Callable[[], str]:
    return lambda: f"its-{name}"


#: A value for each placeholder that a running stack fills in.
VALUES = {name: named(name) for name in values_of({"keys": {"live": ""}, "base_url": ""})}


@for_each("function", FUNCTIONS)
def test_a_sample_has_what_its_function_asks_for(function: str) -> None:
    event = json.loads(sample_event(function, VALUES))
    headers = event.get("headers", {})
    asks = "httpMethod" in event and function not in WITHOUT_KEY
    key = "its-API_KEY" if asks and function not in OF_SESSIONS | BEARS_KEY else None
    token = "Bearer its-ACCESS_TOKEN" if function in OF_SESSIONS else None
    token = "Bearer its-OPERATOR_TOKEN" if function in OF_OPERATORS else token
    token = "Bearer its-API_KEY" if function in BEARS_KEY else token
    assert (headers.get("X-API-Key"), headers.get("Authorization")) == (key, token)


@pytest.mark.parametrize(
    ("function", "parameter", "value"),
    [
        ("GetMessage", "message_id", "its-MESSAGE_ID"),
        ("DeleteTemplate", "id", "its-TEMPLATE_ID"),
        ("WriteWebhooks", "endpoint_id", "its-ENDPOINT_ID"),
    ],
)
def test_a_sample_names_what_the_stack_has(function: str, parameter: str, value: str) -> None:
    event = json.loads(sample_event(function, VALUES))
    assert event["pathParameters"] == {parameter: value}
    assert value in event["path"].split("/")


def test_the_error_for_a_wrong_name_lists_the_functions() -> None:
    with pytest.raises(NoSuchFunction) as refused:
        sample_event("Nothing", VALUES)
    listed = str(refused.value).removeprefix("FUNCTION is one of: ").removesuffix(".")
    assert listed.split(", ") == FUNCTIONS
