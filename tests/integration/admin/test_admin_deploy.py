"""`pillarbox deploy`, with a script in place of make and sam, and moto in place of AWS."""

import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import boto3
import pytest
from moto.backends import get_backend

from admin import deploy, stack_protection
from admin.aws import deployment, edge_parts, stacks
from admin.aws.queue_policies import SqsQueuePolicies
from admin.connection import StackConnection
from admin.deploy import Environment, roll_out
from admin.use_cases.preflight import ClusterRole
from admin.use_cases.ses_plans import SesPlan
from admin.wiring import OperatorWiring
from local import template as project_template
from local.ses.store import MailStore
from local.template import ROOT
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.operator.checks import Finding, Verdict
from pillarbox.domain.errors import ServiceError, ValidationFailed
from tests.aws import declared
from tests.integration.admin.operator_command import Operator
from tests.integration.admin.stand_in_servers import api, serving
from tests.unit.admin.test_admin_preflight import NEEDS

KEYS = ("AttributeDefinitions", "KeySchema")
#: What a new account gets.
SMALL = ("--parameter-overrides", "EmailsPerSecond=40")
QUEUES = (
    "JobsQueue",
    "UrgentJobsQueue",
    "JobsDeadLetters",
    "EventsQueue",
    "EventsDeadLetters",
    "SweepQueue",
    "SweepDeadLetters",
    "WebhooksQueue",
    "WebhooksDeadLetters",
)


def template(address: str) -> dict[str, Any]:
    """Return a CloudFormation template with what the command reads."""
    queues = {name: {"Type": "AWS::SQS::Queue"} for name in QUEUES}
    keys = {name: declared("AWS::DynamoDB::Table")[name] for name in KEYS}
    table = {
        "Type": "AWS::DynamoDB::Table",
        "Properties": keys | {"BillingMode": "PAY_PER_REQUEST"},
    }
    outputs: dict[str, Any] = {f"{name}Url": {"Ref": name} for name in QUEUES}
    outputs |= {
        "TableName": {"Ref": "Table"},
        "CredentialsTableName": {"Ref": "Credentials"},
        "ConfigurationSetName": "set",
        "PreviewSender": "preview@shop.example",
        "ApiUrl": address,
    }
    return {
        "Parameters": {
            "EmailsPerSecond": {"Type": "Number", "Default": 40},
            "SesRateShare": {"Type": "Number", "Default": 100},
            "Firewall": {"Type": "String", "Default": "none"},
            "Webhooks": {"Type": "String", "Default": "on"},
            "LogRetention": {"Type": "Number", "Default": 7},
        },
        "Resources": {
            **queues,
            "EventsRule": {
                "Type": "AWS::Events::Rule",
                "Properties": {"EventPattern": {"source": ["aws.ses"]}},
            },
            "TenantsRule": {
                "Type": "AWS::Events::Rule",
                "Properties": {"EventPattern": {"source": ["aws.ses"]}},
            },
            "Table": table,
            "Credentials": table,
            "AlarmTopic": {"Type": "AWS::SNS::Topic"},
            "SweepMessagesRole": {
                "Type": "AWS::IAM::Role",
                "Properties": {"AssumeRolePolicyDocument": {}},
            },
            "SweepMessages": {
                "Type": "AWS::Lambda::Function",
                "Properties": {
                    "Code": {"ZipFile": "x"},
                    "Handler": "app.lambda_handler",
                    "Role": {"Fn::GetAtt": ["SweepMessagesRole", "Arn"]},
                    "Runtime": "python3.13",
                },
            },
        },
        "Outputs": {name: {"Value": value} for name, value in outputs.items()},
    }


def policy(stack_name: str) -> str | None:
    """The stack's policy, None without one."""
    answer = boto3.client("cloudformation").get_stack_policy(StackName=stack_name)
    body: str | None = answer.get("StackPolicyBody")
    return body


@dataclass
class Script:
    """Stands in for make and sam, which creates the stack or sets its parameters."""

    address: str
    codes: dict[str, int] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    #: The stack's policy at the time of each deploying, None without one.
    policies: list[str | None] = field(default_factory=list)
    #: The statuses in which CloudFormation leaves the next stacks that it creates.
    statuses: list[str] = field(default_factory=list)

    def __call__(self, words: Sequence[str]) -> int:
        self.ran.append(" ".join(words))
        if words[1] != "deploy":
            return self.codes.get(words[1], 0)
        name = "pillarbox" if "prod" in words else "pillarbox-dev"
        exists = stacks.describe(name) is not None
        self.policies.append(policy(name) if exists else None)
        body = template(self.address)
        given = dict(
            pair.split("=", 1) for pair in words[words.index("--parameter-overrides") + 1 :]
        )
        values: list[Any] = [
            {"ParameterKey": key, "ParameterValue": given[key].strip('"')}
            for key in body["Parameters"]
        ]
        change = "update_stack" if exists else "create_stack"
        getattr(boto3.client("cloudformation"), change)(
            StackName=name, TemplateBody=json.dumps(body), Parameters=values
        )
        if self.statuses:
            leave(name, self.statuses.pop(0))
            return 1
        return self.codes.get("deploy", 0)


def leave(stack_name: str, status: str) -> None:
    """Make moto say that a stack has a status."""
    cloudformation = get_backend("cloudformation")["123456789012"]["us-east-1"]
    cloudformation.get_stack(stack_name).status = status


@pytest.fixture
def script(
    shared: Table,
    ses: tuple[str, MailStore],
    name_server: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Script]:
    assert shared.name
    monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", ses[0])
    monkeypatch.setenv("PILLARBOX_DNS_SERVERS", name_server)
    ses[1].create_configuration_set("set")
    ses[1].create_identity("shop.example")
    with serving(api()) as port:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", f"http://127.0.0.1:{port}")
        yield Script(f"http://127.0.0.1:{port}")


def deployed_wiring(stack_name: str = "pillarbox-dev") -> OperatorWiring:
    """The use cases of the deployed stack, for a session of their own."""
    session = StackConnection(stack_name=stack_name, json=True)
    session.connect()
    return session.wiring


type RollOut = Callable[..., tuple[dict[str, Any], str]]


@pytest.fixture
def rolled_out(script: Script, capsys: pytest.CaptureFixture[str]) -> RollOut:
    """The command, which returns its JSON output and its stderr."""

    def run(**more: Any) -> Any:
        roll_out(script, Environment.DEV, json=True, **more)
        output = capsys.readouterr()
        return json.loads(output.out), output.err

    return run


def test_a_first_deploy_ends_with_a_key_that_sends(script: Script, rolled_out: RollOut) -> None:
    output, log = rolled_out(sender="hello@shop.example", sam=["--guided"])
    build, deployed = script.ran
    assert re.fullmatch(r"make build dashboard PARAMETERS=[0-9a-f]{64}", build)
    options, _, overrides = deployed.partition(" --parameter-overrides ")
    assert options == (
        ".venv-sam/bin/sam deploy --config-env default --no-fail-on-empty-changeset --guided"
    )
    names = {pair.partition("=")[0] for pair in shlex.split(overrides)}
    assert names == project_template.load()["Parameters"].keys()
    given = {"LogRetention=7", "SesRateShare=100", 'RelayImage=""', "EmailsPerSecond=40"}
    assert given <= {*overrides.split()}
    assert "pass account: AWS account 123456789012 in us-east-1" in log
    assert "parameter LogRetention: 30 -> 7\n" in log
    assert log.index("pass account") < log.index(f"$ {build}\n$ .venv-sam/bin/sam deploy")
    assert "pass plan: The SES plan here is essentials (0.16 dollars" in log
    assert "Could not" not in log
    assert output["sender"]["verified"]
    assert (output["stack"], output["baseUrl"]) == ("pillarbox-dev", script.address)
    key = output["key"]["key"]
    assert key in output["firstMail"]
    principal = deployed_wiring().authentication.authenticate(key)
    assert principal.account.account_id == output["accountId"]
    assert deployed_wiring().service_address.read() == script.address
    # The test's tables are not protected, and the domain has no DNS records.
    failed = [item["check"] for item in output["items"] if item["verdict"] == "fail"]
    assert failed == ["domains", *["table"] * 6]
    assert output["failed"] == 7


def test_a_deploy_changes_the_plan_of_ses_on_request_only(
    rolled_out: RollOut, ses: tuple[str, MailStore]
) -> None:
    rolled_out()
    assert ses[1].account.plan == "ESSENTIALS"
    _, log = rolled_out(plan=SesPlan.NONE, yes=True)
    assert ses[1].account.plan == "NONE"
    assert log.index("The SES plan is none (0.10") < log.index("$ make build")


def test_a_relay_waits_for_the_role_of_ecs(
    script: Script, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deployment, "read_relay_needs", lambda *_: NEEDS)
    monkeypatch.setattr(deployment, "ensure_cluster_role", lambda: ClusterRole.MISSING)
    monkeypatch.setattr(deployment, "look_up_prefix_list", lambda: "pl-1")
    monkeypatch.setattr(deployment, "zones", lambda: [("a", "use1-az1"), ("b", "use1-az2")])
    image = "123456789012.dkr.ecr.us-east-1.amazonaws.com/relay:1"
    sam = ["--parameter-overrides", f"RelayImage={image}"]
    with pytest.raises(ServiceError, match="not ready: relay"):
        roll_out(script, Environment.DEV, json=True, sam=sam)
    assert "create-service-linked-role" in capsys.readouterr().err
    assert script.ran == []


def test_a_second_deploy_creates_nothing(script: Script, rolled_out: RollOut) -> None:
    first, _ = rolled_out()
    deployed_wiring().service_address.store("https://former.example")
    again, _ = rolled_out()
    assert deployed_wiring().service_address.read() == script.address
    assert script.ran[:2] == script.ran[2:]
    assert again["accountId"] == first["accountId"]
    assert again["key"] is None
    assert "$PILLARBOX_KEY" in again["firstMail"]
    wiring = deployed_wiring()
    assert len(list(wiring.accounts.all())) == 1
    assert len(list(wiring.api_keys.of_account(first["accountId"]))) == 1


def test_a_retry_is_another_release(
    script: Script, rolled_out: RollOut, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CloudFormation kept the versions of each update that failed, and Lambda makes none twice."""
    rolled_out()
    whole = stacks.describe
    for updated in ("2026-11-27 10:00", "2026-11-27 11:00"):
        undone = {"status": "UPDATE_ROLLBACK_COMPLETE", "updated": updated}

        def after_failure(name: str, undone: Any = undone) -> stacks.StackDescription | None:
            stack = whole(name)
            return stack and replace(stack, **undone)

        monkeypatch.setattr(stacks, "describe", after_failure)
        rolled_out()
    builds = [words for words in script.ran if words.startswith("make build")]
    assert len(builds) == len(set(builds)) == 3


def test_every_deploy_is_held_to_the_stack_policy(script: Script, rolled_out: RollOut) -> None:
    written = (ROOT / "stack-policy.json").read_text()
    rolled_out()
    assert policy("pillarbox-dev") == written
    boto3.client("cloudformation").set_stack_policy(
        StackName="pillarbox-dev", StackPolicyBody='{"Statement": []}'
    )
    _, log = rolled_out(sam=["--parameter-overrides", "LogRetention=14"])
    assert script.policies == [None, written]
    assert policy("pillarbox-dev") == written
    # It shows what it changes.
    assert "parameter LogRetention: 7 -> 14\n" in log
    assert "parameter EmailsPerSecond" not in log
    assert "LogRetention=14" in script.ran[-1].split()


@pytest.mark.parametrize("status", ["ROLLBACK_COMPLETE", "ROLLBACK_FAILED"])
def test_an_account_that_aws_must_verify_deploys_without_an_edge(
    script: Script, rolled_out: RollOut, capsys: pytest.CaptureFixture[str], status: str
) -> None:
    script.statuses = [status]
    with pytest.raises(ServiceError, match="deploy ended with 1"):
        roll_out(script, Environment.DEV, json=True)
    assert f"could not be created ({status})" in capsys.readouterr().err
    failed = stacks.require("pillarbox-dev")
    assert failed.status == status
    output, log = rolled_out(sam=["--parameter-overrides", "EdgeService=none"], yes=True)
    assert f"is in {status}. The first deployment failed" in log
    assert "Removed the stack pillarbox-dev." in log
    assert log.index("Removed the stack") < log.index("$ make build PARAMETERS=")
    assert "EdgeService=none" in script.ran[-1].split()
    assert output["key"]
    stack = stacks.require("pillarbox-dev")
    assert (stack.status, stack.stack_id == failed.stack_id) == ("CREATE_COMPLETE", False)


def test_a_deployment_that_ended_early_is_finished_by_the_next(
    script: Script, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(deploy, "_upload_dashboard", interrupted)
        with pytest.raises(KeyboardInterrupt):
            roll_out(script, Environment.PROD, json=True, sam=SMALL)
    shown = re.search(r"The first key of the account \w+: (\S+)\n", capsys.readouterr().err)
    assert shown
    assert deployed_wiring("pillarbox").authentication.authenticate(shown[1])
    roll_out(script, Environment.PROD, json=True, sam=SMALL)
    output = capsys.readouterr()
    assert json.loads(output.out)["key"] is None
    assert "The first key" not in output.err


def test_changes_that_nobody_confirms_end_the_command(script: Script) -> None:
    """Sam ends with 0 then, and the stack has no resources."""
    boto3.client("cloudformation").create_change_set(
        StackName="pillarbox-dev",
        ChangeSetName="first",
        ChangeSetType="CREATE",
        TemplateBody=json.dumps(template(script.address)),
    )
    with pytest.raises(ServiceError, match="not confirmed, so nothing was deployed"):
        roll_out(lambda _: 0, Environment.DEV, json=True)
    stack_protection.set_policy("pillarbox-dev")
    assert policy("pillarbox-dev") is None


def test_queues_of_events_get_their_policies_back(rolled_out: RollOut) -> None:
    _, log = rolled_out()
    assert "Wrote the policy of EventsQueue and EventsDeadLetters again." in log
    policies = SqsQueuePolicies("pillarbox-dev")
    assert {policy.right for policy in policies.read().values()} == {True}
    url = stacks.require("pillarbox-dev").outputs["EventsDeadLettersUrl"]
    boto3.client("sqs").set_queue_attributes(QueueUrl=url, Attributes={"Policy": ""})
    output, log = rolled_out()
    assert "Wrote the policy of EventsDeadLetters again." in log
    verdicts = [item["verdict"] for item in output["items"] if item["check"] == "policies"]
    assert verdicts == ["pass", "pass"]
    _, log = rolled_out()
    assert "Wrote the policy" not in log


def test_the_doctor_reads_what_was_deployed(rolled_out: RollOut) -> None:
    given = ["SesRateShare=50", "EmailsPerSecond=40"]
    output, _ = rolled_out(sam=["--parameter-overrides", *given])
    findings = {item["message"]: item["verdict"] for item in output["items"]}
    assert findings["7 recipients per second (50 % of SES's 14) for 2 workers."] == "pass"
    shares = "The stacks of this account and region use 50 % of SES's rate: pillarbox-dev 50 %."
    assert findings[shares] == "pass"
    assert any("PostWebhooks 2" in message for message in findings)
    # moto does not update the tables' protection.
    assert findings["The table can be deleted."] == "fail"
    assert findings["The table Credentials can be deleted."] == "fail"


ZONES = [("a", "use1-az3"), ("b", "use1-az1")]
RELAY = {"RelayImage": "image", "LargeRequests": "on", "RelayNetwork": ""}


@pytest.mark.parametrize("without", [{"EdgeService": "none"}, {"LargeRequests": "off"}])
def test_a_relay_without_a_front_needs_no_zones_of_cloudfront(
    monkeypatch: pytest.MonkeyPatch, without: dict[str, str]
) -> None:
    monkeypatch.setattr(deployment, "zones", lambda: ZONES)
    monkeypatch.setattr(deployment, "look_up_prefix_list", lambda: "pl-1")
    chosen = deploy._complete({**RELAY, "EdgeService": "cloudfront", **without}, {})
    assert chosen["RelayNetwork"] == "b,a,pl-1"
    with pytest.raises(ServiceError, match="LargeRequests=off"):
        deploy._complete({**RELAY, "EdgeService": "cloudfront"}, {})
    before = {"RelayNetwork": "c,d,pl-2"}
    chosen = deploy._complete({**RELAY, "EdgeService": "cloudfront"}, before)
    assert before.items() <= chosen.items()


def test_production_is_its_own_stack(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    roll_out(script, Environment.PROD, json=False, sam=SMALL)
    assert "--config-env prod" in script.ran[1]
    output = capsys.readouterr()
    assert "curl" in output.out
    assert "cannot be shown a second time" in output.err
    assert "pillarbox --stack-name pillarbox domain add" in " ".join(output.err.split())


def test_an_account_that_is_not_ready_builds_nothing(
    script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    """A new account runs ten functions: ten workers would take them, and the remedy says so."""
    given = ["--parameter-overrides", "EmailsPerSecond=200"]
    with pytest.raises(ServiceError, match="not ready: functions"):
        roll_out(script, Environment.PROD, json=False, sam=given)
    assert script.ran == []
    assert "Deploy with EmailsPerSecond=40" in capsys.readouterr().err


def test_a_rotation_of_the_edge_comes_first(
    script: Script, rolled_out: RollOut, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deployment in the middle of a rotation would undo half of it."""
    rolled_out()
    before = len(script.ran)
    monkeypatch.setattr(edge_parts, "is_rotating", lambda _: True)
    with pytest.raises(ServiceError, match="edge rotate"):
        roll_out(script, Environment.DEV, json=True)
    assert len(script.ran) == before


@pytest.mark.parametrize(
    ("given", "check", "remedy"),
    [
        ("Firewall=basic", "firewall", "Deploy with Firewall=count first"),
        ("Rollout=Canary10Percent10Minutes", "rollout", "use Rollout=AllAtOnce"),
    ],
)
def test_an_update_that_must_wait_builds_nothing(  # noqa: PLR0917  fixtures and parameters
    script: Script,
    rolled_out: RollOut,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    given: str,
    check: str,
    remedy: str,
) -> None:
    rolled_out()
    before = len(script.ran)
    stack = stacks.require("pillarbox-dev")
    without_edge = {**stack.parameters, "Firewall": "basic", "EdgeService": "none"}
    monkeypatch.setattr(stacks, "describe", lambda _: replace(stack, parameters=without_edge))
    monkeypatch.setattr(deployment, "rollout_alarm_fires", lambda _: True)
    with pytest.raises(ServiceError, match=f"not ready: {check}"):
        roll_out(script, Environment.DEV, json=True, sam=["--parameter-overrides", given])
    assert remedy in capsys.readouterr().err
    assert len(script.ran) == before


def test_an_unknown_parameter_is_refused(script: Script) -> None:
    with pytest.raises(ValidationFailed, match="LogLevell"):
        roll_out(script, Environment.DEV, json=True, sam=["--parameter-overrides", "LogLevell=x"])
    assert script.ran == []


@pytest.mark.parametrize(("program", "ran"), [("build", 1), ("deploy", 2)])
def test_a_program_that_fails_ends_the_deploy(script: Script, program: str, ran: int) -> None:
    script.codes[program] = 3
    with pytest.raises(ServiceError, match=f"{program} ended with 3"):
        roll_out(script, Environment.DEV, json=True)
    assert len(script.ran) == ran


def test_without_a_region_nothing_is_run(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    with pytest.raises(ValidationFailed, match="AWS_DEFAULT_REGION: is not set"):
        roll_out(script, Environment.DEV, json=True)
    assert script.ran == []


def test_without_credentials_nothing_is_run(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr(deploy, "_run", script)
    result = Operator().plain("deploy")
    assert (result.exit_code, result.stdout, script.ran) == (1, "", [])
    assert result.stderr.startswith("There are no AWS credentials: ")
    assert result.stderr.count("\n") == 1


def test_a_failed_check_sets_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    sam_arguments: list[Any] = []

    def failing(*_: Any, sam: Sequence[str], **__: Any) -> list[Finding]:
        sam_arguments.extend(sam)
        return [Finding("table", Verdict.FAIL, "a", "b")]

    monkeypatch.setattr(deploy, "roll_out", failing)
    result = Operator().plain("deploy", "--yes", "--", "--parameter-overrides", "A=b")
    assert result.exit_code == 1
    assert sam_arguments == ["--no-confirm-changeset", "--parameter-overrides", "A=b"]


def test_the_local_stack_is_not_deployed() -> None:
    result = Operator().plain("--local", "deploy")
    assert result.exit_code == 2
    assert "make up" in result.stderr


def test_programs_run_in_the_projects_folder(capfd: pytest.CaptureFixture[str]) -> None:
    """Programs print to stderr, because standard output is only for the command's output."""
    assert deploy._run(["cat", ".python-version"]) == 0
    output = capfd.readouterr()
    assert (output.out, output.err.startswith("3.13")) == ("", True)
    assert deploy._run(["false"]) == 1
