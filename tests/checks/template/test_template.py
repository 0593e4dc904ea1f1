"""The template agrees with the rest of the project."""

import json
from datetime import timedelta
from typing import Any

import pytest

from front.workers import TIME_LIMIT
from local import template
from openapi.generate import DIALECT_ROUTES
from pillarbox.adapters.dynamodb.messages import claims, quotas
from pillarbox.adapters.sqs.event_queue import RECEIPTS, VISIBILITY
from pillarbox.application.delivery.deliver import EVENT_WAIT
from pillarbox.application.delivery.result import retry_wait
from pillarbox.application.webhooks import post
from pillarbox.domain.errors import CODES
from pillarbox.domain.messages.mail import MAX_DELIVERY_TIME
from pillarbox.domain.timing import CLOCK_MARGIN
from pillarbox.http.routes import ROUTES
from tests.conditions import all_met
from tests.deployed import properties
from tests.loops import for_each

_SOURCE = template.inlined(template.load())
_RESOURCES: dict[str, Any] = _SOURCE["Resources"]
_ALL_ROUTES = {**ROUTES, **DIALECT_ROUTES}


def _of_type(kind: str, resources: dict[str, Any] = _RESOURCES) -> dict[str, Any]:
    return {
        name: resource["Properties"]
        for name, resource in resources.items()
        if resource["Type"] == kind
    }


_FUNCTIONS = _of_type("AWS::Serverless::Function")
_GATEWAY_RESPONSES = _RESOURCES["Api"]["Properties"]["GatewayResponses"]


def _timeout(function: str) -> int:
    timeout: int = _FUNCTIONS[function].get("Timeout", _SOURCE["Globals"]["Function"]["Timeout"])
    return timeout


def _statements(role: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        statement
        for policy in role["Policies"]
        for statement in all_met(policy["PolicyDocument"]["Statement"])
    ]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@for_each(("chosen", "readings"), [("no-edge", ("", "/v1")), ("prod", ("",))])
def test_every_path_leads_to_its_function(chosen: str, readings: tuple[str, ...]) -> None:
    """A path takes any method; without an edge, which rewrites it, also in its literal reading."""
    paths = properties("Api", chosen)["DefinitionBody"]["paths"]
    owners = template.routes(_SOURCE)
    expected = {f"{reading}{path}" for path in ROUTES for reading in readings}
    assert paths.keys() == {*expected, *DIALECT_ROUTES}
    for path, methods in ROUTES.items():
        for reading in readings:
            found = paths[f"{reading}{path}"]
            for method in methods:
                integration = found.get(method.lower(), found["x-amazon-apigateway-any-method"])
                assert f"${{{owners[path, method]}Aliaslive}}" in str(integration)


def test_the_gateway_may_call_the_functions_of_its_routes() -> None:
    allowed = [
        properties["FunctionName"]["Ref"]
        for properties in _of_type("AWS::Lambda::Permission").values()
        if properties.get("SourceArn", {}).get("Fn::Sub", "").endswith(":${Api}/*")
    ]
    routed = {f"{function}.Alias" for function in template.routes(_SOURCE).values()}
    assert set(allowed) ^ routed == set(), "see the permissions …FromApi of template.yaml"
    assert len(allowed) == len(routed)


def test_each_route_is_one_function() -> None:
    deployed: dict[str, set[str]] = {}
    for path, method in template.routes(_SOURCE):
        if method != "ANY" and not path.startswith("/v1/v1/"):
            deployed.setdefault(path, set()).add(method)
    assert {path: set(methods) for path, methods in _ALL_ROUTES.items()} == deployed


def _for_engine() -> template.Template:
    source = template.inlined(template.load())
    for resource in source["Resources"].values():
        for place in {"CodeUri", "ContentUri"} & resource.get("Properties", {}).keys():
            resource["Properties"][place] = "s3://bucket/key"
    return template.for_engine(template.translate(source))


def test_the_engine_gets_the_alarms_of_the_nested_stack() -> None:
    resources = _for_engine()["Resources"]
    assert "AWS::CloudFormation::Stack" not in {resource["Type"] for resource in resources.values()}
    alarm = resources["JobsDeadAlarm"]["Properties"]
    assert alarm["AlarmActions"] == [{"Ref": "AlarmTopic"}]
    assert alarm["Dimensions"] == [
        {"Name": "QueueName", "Value": {"Fn::GetAtt": ["JobsDeadLetters", "QueueName"]}}
    ]
    assert "${JobsQueue.QueueName}" in json.dumps(resources["Dashboard"])


def test_a_logical_id_is_in_one_stack() -> None:
    source = template.load()
    source["Resources"]["JobsDeadAlarm"] = {"Type": "AWS::CloudWatch::Alarm"}
    with pytest.raises(ValueError, match="JobsDeadAlarm is in two stacks"):
        template.inlined(source)


def test_the_outputs_of_a_nested_stack_are_replaced() -> None:
    assert _SOURCE["Outputs"]["RelayAddress"]["Value"] == {
        "Fn::GetAtt": ["RelayBalancer", "DNSName"]
    }
    origins = _RESOURCES["Edge"]["Properties"]["DistributionConfig"]["Origins"]
    front = origins[1]["Fn::If"][1]
    assert front["DomainName"] == {"Fn::GetAtt": ["FrontBalancer", "DNSName"]}
    assert front["VpcOriginConfig"]["VpcOriginId"] == {"Fn::GetAtt": ["FrontOrigin", "Id"]}


def test_the_engine_gets_the_same_routes() -> None:
    translated = _for_engine()
    (api,) = (
        resource["Properties"]
        for resource in translated["Resources"].values()
        if resource["Type"] == "AWS::ApiGateway::RestApi"
    )
    assert {path: set(methods) for path, methods in api["Body"]["paths"].items()} == {
        path: {method.lower() for method in methods} for path, methods in _ALL_ROUTES.items()
    }
    assert api["BinaryMediaTypes"] == ["*/*"]


def test_each_function_has_its_own_role() -> None:
    assert len({json.dumps(f["Role"]) for f in _FUNCTIONS.values()}) == len(_FUNCTIONS)
    relay = {"RelayRole", "RelayExecutionRole"}
    assert len(_of_type("AWS::IAM::Role").keys() - relay) == len(_FUNCTIONS)


def test_requests_and_workers_have_a_log_each() -> None:
    shared = _SOURCE["Globals"]["Function"]["LoggingConfig"]["LogGroup"]
    requests = set(template.routes(_SOURCE).values())
    for name, function in _FUNCTIONS.items():
        group = {"Ref": "RequestsLog" if name in requests else "WorkersLog"}
        assert function.get("LoggingConfig", {}).get("LogGroup", shared) == group
        written = [
            statement["Resource"]
            for statement in _statements(_of_type("AWS::IAM::Role")[f"{name}Role"])
            if "logs:PutLogEvents" in _listed(statement["Action"])
        ]
        assert written == [{"Fn::GetAtt": [group["Ref"], "Arn"]}]


#: Actions that have no resource-level permissions, by the service authorization reference, or only
#: for a part: SES's suppression list of the AWS account is no resource, that of a tenant is.
_WITHOUT_RESOURCES = {
    "cloudwatch:GetMetricStatistics",
    "ecr:GetAuthorizationToken",
    "ses:CreateReceiptRule",
    "ses:CreateReceiptRuleSet",
    "ses:DeleteReceiptRule",
    "ses:DeleteSuppressedDestination",
    "ses:DescribeActiveReceiptRuleSet",
    "ses:GetAccount",
    "ses:SetActiveReceiptRuleSet",
    "ses:UpdateReceiptRule",
}


@for_each("name", _of_type("AWS::IAM::Role"))
def test_roles_list_exact_actions_on_exact_resources(name: str) -> None:
    for statement in _statements(_of_type("AWS::IAM::Role")[name]):
        actions = _listed(statement["Action"])
        assert not [action for action in actions if "*" in action]
        if "*" in _listed(statement["Resource"]):
            assert all(action in _WITHOUT_RESOURCES for action in actions)


@for_each("kind", _GATEWAY_RESPONSES)
def test_the_gateway_answers_in_the_envelope(kind: str) -> None:
    """Contract 7: a gateway response has a code with its status and type, and our headers."""
    response = _GATEWAY_RESPONSES[kind]
    error = json.loads(response["ResponseTemplates"]["application/json"])["error"]
    assert CODES[error["code"]] == (response["StatusCode"], error["type"])
    assert error["message"]
    headers = response["ResponseParameters"]["Headers"]
    assert headers["X-Request-Id"] == "context.requestId"
    assert headers["Cache-Control"] == "'no-store'"
    assert ("Retry-After" in headers) is (response["StatusCode"] == 503)


def test_a_throttled_function_is_unavailable() -> None:
    """The gateway has no type for a throttled function; a client may try again."""
    assert _GATEWAY_RESPONSES["DEFAULT_5XX"]["StatusCode"] == 503


def test_the_edge_caches_no_error() -> None:
    """CloudFront keeps each error that it may cache for zero seconds."""
    errors = _RESOURCES["Edge"]["Properties"]["DistributionConfig"]["CustomErrorResponses"]
    cached = {404, 405, 414, *range(500, 505)}
    assert {error["ErrorCode"] for error in errors} == cached
    assert {error["ErrorCachingMinTTL"] for error in errors} == {0}


def test_functions_time_out_before_their_leases_end() -> None:
    """An owner's time and the difference of two clocks are within a claim's lease.

    A worker ends long before its mail is sent again.
    """
    for owner in (_timeout("SendEmail"), _timeout("SendBatch"), TIME_LIMIT):
        assert timedelta(seconds=owner) + CLOCK_MARGIN < claims.LEASE
        assert timedelta(seconds=owner) + CLOCK_MARGIN <= quotas.KEPT
    assert timedelta(seconds=_timeout("PostWebhooks")) + CLOCK_MARGIN <= post.LEASE
    assert _timeout("DeliverMessage") * 10 < EVENT_WAIT.total_seconds()


def test_an_event_that_always_fails_is_a_dead_letter_in_time() -> None:
    queue = template.load()["Resources"]["EventsQueue"]["Properties"]
    assert queue["RedrivePolicy"]["maxReceiveCount"] == RECEIPTS
    assert timedelta(seconds=queue["VisibilityTimeout"]) == VISIBILITY


def test_a_queue_gets_back_what_its_function_could_not_process() -> None:
    """The messages of a batch fail one by one; tools/templates compares the times."""
    sources = {
        source["Properties"]["Queue"]["Fn::GetAtt"][0]: source["Properties"]
        for function in _FUNCTIONS.values()
        for source in function.get("Events", {}).values()
        if source["Type"] == "SQS"
    }
    assert sources.keys() == {name for name in _of_type("AWS::SQS::Queue") if "Dead" not in name}
    for source in sources.values():
        assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


@for_each("queue", ["JobsQueue", "UrgentJobsQueue"])
def test_a_job_reaches_its_deadline_before_the_dead_letters(queue: str) -> None:
    properties = _of_type("AWS::SQS::Queue")[queue]
    allowed = properties["RedrivePolicy"]["maxReceiveCount"]
    longest = retry_wait(allowed)
    assert longest == timedelta(seconds=properties["VisibilityTimeout"])
    assert MAX_DELIVERY_TIME / longest < allowed


def test_urgent_jobs_have_workers_of_their_own() -> None:
    ordinary, urgent = (
        _FUNCTIONS["DeliverMessage"]["Events"][name]["Properties"]
        for name in ("Jobs", "UrgentJobs")
    )
    assert ordinary["ScalingConfig"] == urgent["ScalingConfig"]
    assert urgent["ScalingConfig"]["MaximumConcurrency"] == {
        "Fn::FindInMap": ["Scales", {"Ref": "EmailsPerSecond"}, "Workers"]
    }
    assert urgent["BatchSize"] == 1
    assert _RESOURCES["UrgentJobsQueue"]["Properties"] == _RESOURCES["JobsQueue"]["Properties"]


def test_ses_events_reach_their_queue_unwrapped() -> None:
    """The rule matches only this configuration set's events and queues the SES record itself."""
    rule = _RESOURCES["EventsRule"]["Properties"]
    assert rule["EventPattern"] == {
        "source": ["aws.ses"],
        "detail": {"mail": {"tags": {"ses:configuration-set": [{"Ref": "ConfigurationSet"}]}}},
    }
    (target,) = rule["Targets"]
    assert target["InputPath"] == "$.detail"
    assert target["Arn"] == {"Fn::GetAtt": ["EventsQueue", "Arn"]}


def test_events_of_tenants_reach_the_same_queue_as_a_whole() -> None:
    """The tenant is in `resources`, beside the detail (SES's guide, chapter "Tenants")."""
    rule = _RESOURCES["TenantsRule"]["Properties"]
    assert rule["EventPattern"] == {
        "source": ["aws.ses"],
        "detail-type": ["Sending Status Disabled", "Sending Status Enabled"],
    }
    (target,) = rule["Targets"]
    assert "InputPath" not in target
    assert target["Arn"] == {"Fn::GetAtt": ["EventsQueue", "Arn"]}


def test_lambda_does_not_stop_chains_of_tasks() -> None:
    """A function that may queue into its own queue may do so more than 16 times in a row.

    Otherwise Lambda takes the chain for an endless loop, and stops it.
    """
    chains = set()
    for name, function in _FUNCTIONS.items():
        sources = [
            source["Properties"]["Queue"]["Fn::GetAtt"]
            for source in function.get("Events", {}).values()
            if source["Type"] == "SQS"
        ]
        role = _RESOURCES[function["Role"]["Fn::GetAtt"][0]]["Properties"]
        for statement in _statements(role):
            queues = "sqs:SendMessage" in _listed(statement["Action"])
            if queues and any(
                {"Fn::GetAtt": one} in _listed(statement["Resource"]) for one in sources
            ):
                chains.add(name)
    assert chains == {"DeliverMessage", "PostWebhooks", "SweepAccount"}
    assert {name for name, one in _FUNCTIONS.items() if "RecursiveLoop" in one} == chains
