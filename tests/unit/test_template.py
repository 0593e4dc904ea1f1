"""The template keeps what the rest of the project relies on."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from local import template
from pillarbox.domain.errors import CODES
from pillarbox.http.routes import ROUTES
from pillarbox.settings import Settings

_SOURCE = template.load()
_RESOURCES: dict[str, Any] = _SOURCE["Resources"]
_LAYER = template.ROOT / "layers" / "shared"


def _of_type(kind: str) -> dict[str, Any]:
    return {
        name: resource["Properties"]
        for name, resource in _RESOURCES.items()
        if resource["Type"] == kind
    }


_FUNCTIONS = _of_type("AWS::Serverless::Function")
_FOLDERS = sorted(path.parent.name for path in template.ROOT.glob("functions/*/app.py"))
_GATEWAY_RESPONSES = _RESOURCES["Api"]["Properties"]["GatewayResponses"]


def _seconds(function: str) -> int:
    timeout: int = _FUNCTIONS[function].get("Timeout", _SOURCE["Globals"]["Function"]["Timeout"])
    return timeout


def _statements(role: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        statement
        for policy in role["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
    ]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def test_each_folder_of_a_function_is_deployed() -> None:
    """Every folder under functions/ is the code of exactly one function."""
    assert sorted(f["CodeUri"].removeprefix("functions/") for f in _FUNCTIONS.values()) == _FOLDERS


@pytest.mark.parametrize("folder", _FOLDERS)
def test_each_function_has_a_sample_event(folder: str) -> None:
    """events/ holds a JSON object named after each function's folder."""
    sample = json.loads((template.ROOT / "events" / f"{folder}.json").read_text())
    assert sample.get("Records") or sample.get("source") or sample["httpMethod"]


def test_each_route_is_there_in_both_readings_with_every_method() -> None:
    """/v1/… and /v1/v1/… lead to the same function: the route's methods, and any for the 405."""
    deployed: dict[str, dict[str, str]] = {}
    for name, function in _FUNCTIONS.items():
        for event in function["Events"].values():
            if event["Type"] == "Api":
                properties = event["Properties"]
                methods = deployed.setdefault(properties["Path"], {})
                assert properties["Method"] not in methods
                methods[properties["Method"]] = name
    assert {path: {m.lower() for m in methods} | {"any"} for path, methods in ROUTES.items()} == {
        path: set(methods) for path, methods in deployed.items() if not path.startswith("/v1/v1/")
    }
    for path in ROUTES:
        assert deployed[f"/v1{path}"] == deployed[path]


def test_the_engine_gets_the_same_routes() -> None:
    """ANY is spelled out for the engine, and a route's own method keeps its function."""
    source = template.load()
    for resource in source["Resources"].values():
        for place in {"CodeUri", "ContentUri"} & resource.get("Properties", {}).keys():
            resource["Properties"][place] = "s3://bucket/key"
    translated = template.for_engine(template.translate(source))
    (api,) = (
        resource["Properties"]
        for resource in translated["Resources"].values()
        if resource["Type"] == "AWS::ApiGateway::RestApi"
    )
    assert set(api["Body"]["paths"]) == {*ROUTES, *(f"/v1{path}" for path in ROUTES)}
    verbs = {"get", "head", "post", "put", "patch", "delete", "options"}
    for methods in api["Body"]["paths"].values():
        assert set(methods) == verbs
    assert api["BinaryMediaTypes"] == ["*/*"]


def test_each_function_has_a_role_and_a_log_of_its_own() -> None:
    """No two functions share a role or a log group; the relay's container has two roles."""
    for part in ("Role", "LoggingConfig"):
        assert len({json.dumps(f[part]) for f in _FUNCTIONS.values()}) == len(_FUNCTIONS)
    relay = {"RelayRole", "RelayExecutionRole"}
    assert len(_of_type("AWS::IAM::Role").keys() - relay) == len(_FUNCTIONS)


@pytest.mark.parametrize("name", _of_type("AWS::IAM::Role"))
def test_roles_list_exact_actions_on_exact_resources(name: str) -> None:
    """No wildcard in an action; only what knows no resources is allowed on all."""
    for statement in _statements(_of_type("AWS::IAM::Role")[name]):
        actions = _listed(statement["Action"])
        assert not [action for action in actions if "*" in action]
        if "*" in _listed(statement["Resource"]):
            assert all(
                action.startswith("xray:")
                or action in {"ecr:GetAuthorizationToken", "ses:GetAccount"}
                for action in actions
            )


@pytest.mark.parametrize("name", ["Table", "SpoolBucket"])
def test_what_holds_data_outlives_the_stack(name: str) -> None:
    """Deleting or replacing the stack leaves the table and the spool."""
    resource = _RESOURCES[name]
    assert resource["DeletionPolicy"] == resource["UpdateReplacePolicy"] == "Retain"


@pytest.mark.parametrize("kind", _GATEWAY_RESPONSES)
def test_the_gateway_answers_in_the_envelope(kind: str) -> None:
    """Contract 7: code, status and type belong together; X-Request-Id is there."""
    response = _GATEWAY_RESPONSES[kind]
    error = json.loads(response["ResponseTemplates"]["application/json"])["error"]
    assert CODES[error["code"]] == (response["StatusCode"], error["type"])
    assert error["message"]
    assert response["ResponseParameters"] == {"Headers": {"X-Request-Id": "context.requestId"}}


def test_every_setting_that_is_read_is_set() -> None:
    """The functions' environment has each setting that the wiring requires, and no other."""
    wiring = (_LAYER / "pillarbox/wiring.py").read_text()
    rows = [getattr(Settings, name) for name in re.findall(r"self\.settings\.(\w+)", wiring)]
    variables = _SOURCE["Globals"]["Function"]["Environment"]["Variables"]
    assert {row.variable for row in rows if row.default is None} == {
        name for name in variables if name.startswith("PILLARBOX_")
    }


def test_an_owner_is_gone_before_its_lease_ends() -> None:
    """A claim is leased for 35 s and a delivery for 90 s: the functions time out before."""
    assert _seconds("SendEmail") < 35
    assert _seconds("DeliverMessage") < 90


@pytest.mark.parametrize(
    ("queue", "function"), [("JobsQueue", "DeliverMessage"), ("EventsQueue", "RecordFeedback")]
)
def test_a_message_stays_hidden_while_it_is_worked_on(queue: str, function: str) -> None:
    """A queue's visibility is at least six times its function's timeout, as Lambda advises."""
    assert _of_type("AWS::SQS::Queue")[queue]["VisibilityTimeout"] >= 6 * _seconds(function)
    (source,) = _FUNCTIONS[function]["Events"].values()
    assert source["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_ses_events_reach_their_queue_unwrapped() -> None:
    """The rule takes this configuration set's events alone and puts the SES record in the queue."""
    rule = _RESOURCES["EventsRule"]["Properties"]
    assert rule["EventPattern"] == {
        "source": ["aws.ses"],
        "detail": {"mail": {"tags": {"ses:configuration-set": [{"Ref": "ConfigurationSet"}]}}},
    }
    (target,) = rule["Targets"]
    assert target["InputPath"] == "$.detail"
    assert target["Arn"] == {"Fn::GetAtt": ["EventsQueue", "Arn"]}


def test_the_layer_carries_what_is_locked() -> None:
    """layers/shared/requirements.txt is what `uv export` makes of uv.lock."""
    exported = subprocess.run(
        [
            *(template.ROOT / ".uv/bin/uv", "export", "--frozen", "--offline", "--quiet"),
            *("--no-default-groups", "--no-emit-project"),
            *("--no-hashes", "--no-annotate", "--no-header"),
        ],
        cwd=template.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(_LAYER, "requirements.txt").read_text() == exported.stdout
