"""`pillarbox deploy`, with a script in place of make and sam, and moto in place of AWS."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import boto3
import pytest
from botocore.exceptions import NoCredentialsError

from admin import deploy
from admin.aws import deployment, edge_parts, stacks
from admin.deploy import Environment, roll_out
from admin.operations.preflight import AwsAccount
from admin.session import StackSession
from admin.wiring import OperatorWiring
from local import template as project_template
from local.ses.store import MailStore
from local.template import ROOT
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.operation.checks import Finding, Verdict
from pillarbox.domain.errors import ServiceError, ValidationFailed
from tests.integration.admin.operator_command import Operator
from tests.integration.admin.stand_in_servers import api, refusal, serving

KEYS = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")]
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
    table = {
        "Type": "AWS::DynamoDB::Table",
        "Properties": {
            "AttributeDefinitions": KEYS,
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            "BillingMode": "PAY_PER_REQUEST",
        },
    }
    outputs: dict[str, Any] = {f"{name}Url": {"Ref": name} for name in QUEUES if "Dead" not in name}
    outputs |= {f"{name}Url": {"Ref": name} for name in QUEUES if "Dead" in name}
    outputs |= {
        "TableName": {"Ref": "Table"},
        "IdentitiesTableName": {"Ref": "Identities"},
        "ConfigurationSetName": "set",
        "PreviewSender": "preview@shop.example",
        "ApiUrl": address,
    }
    return {
        "Parameters": {
            "DeliveryConcurrency": {"Type": "Number", "Default": 2},
            "LogLevel": {"Type": "String", "Default": "DEBUG"},
        },
        "Resources": {
            **queues,
            "Table": table,
            "Identities": table,
            "AlarmTopic": {"Type": "AWS::SNS::Topic"},
            "SweepMessagesRole": {
                "Type": "AWS::IAM::Role",
                "Properties": {
                    "AssumeRolePolicyDocument": {
                        "Version": "2012-10-17",
                        "Statement": [
                            {
                                "Effect": "Allow",
                                "Principal": {"Service": "lambda.amazonaws.com"},
                                "Action": "sts:AssumeRole",
                            }
                        ],
                    }
                },
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
    """Stands in for make and sam. The first deployment creates the stack."""

    address: str
    codes: dict[str, int] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    #: The stack's policy at the time of each deploying, None without one.
    policies: list[str | None] = field(default_factory=list)

    def __call__(self, words: Sequence[str]) -> int:
        self.ran.append(" ".join(words))
        if words[1] == "deploy":
            self.policies.append(policy("pillarbox-dev") if len(self.ran) > 2 else None)
        if words[1] == "deploy" and len(self.ran) == 2:
            name = "pillarbox" if "prod" in words else "pillarbox-dev"
            boto3.client("cloudformation").create_stack(
                StackName=name, TemplateBody=json.dumps(template(self.address))
            )
        return self.codes.get(words[1], 0)


@pytest.fixture
def script(
    table: Table,
    ses: tuple[str, MailStore],
    name_server: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Script]:
    assert table.name
    monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", ses[0])
    monkeypatch.setenv("PILLARBOX_DNS_SERVERS", name_server)
    ses[1].create_configuration_set("set")
    ses[1].create_identity("shop.example")
    with serving(api()) as port:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", f"http://127.0.0.1:{port}")
        yield Script(f"http://127.0.0.1:{port}")


def deployed_wiring() -> OperatorWiring:
    """The use cases of the deployed stack, for a session of their own."""
    session = StackSession(stack_name="pillarbox-dev", json=True)
    session.connect()
    return session.wiring


def rolled_out(
    script: Script, capsys: pytest.CaptureFixture[str], **more: Any
) -> tuple[dict[str, Any], str]:
    """Return the command's JSON output and its stderr."""
    roll_out(script, Environment.DEV, json=True, **more)
    output = capsys.readouterr()
    return json.loads(output.out), output.err


def test_a_first_deploy_ends_with_a_key_that_sends(
    script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    """A first deploy shows its programs, account, key, sender, a curl line and the findings."""
    output, log = rolled_out(script, capsys, sender="hello@shop.example", sam=["--guided"])
    build, deployed = script.ran
    assert build == "make build dashboard"
    options, _, overrides = deployed.partition(" --parameter-overrides ")
    assert options == (
        ".venv-sam/bin/sam deploy --config-env default --no-fail-on-empty-changeset --guided"
    )
    names = {pair.partition("=")[0] for pair in overrides.split()}
    assert names == project_template.load()["Parameters"].keys()
    assert {"LogLevel=DEBUG", "RequestsPerSecond=500", 'RelayImage=""'} <= {*overrides.split()}
    assert "pass account: AWS account 123456789012 in us-east-1" in log
    assert "parameter LogLevel: INFO -> DEBUG\n" in log
    assert log.index("pass account") < log.index(
        "$ make build dashboard\n$ .venv-sam/bin/sam deploy"
    )
    assert "Could not" not in log
    assert output["sender"]["status"] == "verified"
    assert (output["stack"], output["baseUrl"]) == ("pillarbox-dev", script.address)
    key = output["key"]["key"]
    assert key in output["firstMail"]
    principal = deployed_wiring().authentication.authenticate(key)
    assert principal.account.account_id == output["accountId"]
    # The test's tables are not protected, and the domain has no DNS records.
    failed = [item["check"] for item in output["items"] if item["verdict"] == "fail"]
    assert failed == ["domains", "table", "table", "table", "table"]
    assert output["failed"] == 5


def test_a_second_deploy_creates_nothing(
    script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second deploy runs the same programs, keeps the account and creates no key."""
    first, _ = rolled_out(script, capsys)
    again, _ = rolled_out(script, capsys)
    assert script.ran[:2] == script.ran[2:]
    assert again["accountId"] == first["accountId"]
    assert again["key"] is None
    assert "$PILLARBOX_KEY" in again["firstMail"]
    wiring = deployed_wiring()
    assert len(list(wiring.accounts.all())) == 1
    assert len(list(wiring.api_keys.of_account(first["accountId"]))) == 1


def test_every_deploy_is_held_to_the_stack_policy(
    script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    """A new stack has the policy at the end; a stack that has another has it before an update."""
    written = (ROOT / "stack-policy.json").read_text()
    rolled_out(script, capsys)
    assert policy("pillarbox-dev") == written
    boto3.client("cloudformation").set_stack_policy(
        StackName="pillarbox-dev", StackPolicyBody='{"Statement": []}'
    )
    rolled_out(script, capsys)
    assert script.policies == [None, written]
    assert policy("pillarbox-dev") == written


ZONES = [("a", "use1-az3"), ("b", "use1-az1")]
RELAY = {"RelayImage": "image", "CloudFrontPrefixList": "", "RelayZoneA": "", "RelayZoneB": ""}


def test_a_relay_without_an_edge_needs_no_zones_of_cloudfront(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With EdgeService=none any two zones do; with an edge too few zones end the command."""
    monkeypatch.setattr(deployment, "zones", lambda: ZONES)
    monkeypatch.setattr(deployment, "look_up_prefix_list", lambda: "pl-1")
    chosen = deploy._complete({**RELAY, "EdgeService": "none"}, {})
    assert (chosen["RelayZoneA"], chosen["RelayZoneB"]) == ("b", "a")
    assert chosen["CloudFrontPrefixList"] == ""
    with pytest.raises(ServiceError, match="EdgeService=none"):
        deploy._complete({**RELAY, "EdgeService": "cloudfront"}, {})
    zones = {"RelayZoneA": "c", "RelayZoneB": "d"}
    chosen = deploy._complete({**RELAY, "EdgeService": "cloudfront"}, zones)
    assert chosen["CloudFrontPrefixList"] == "pl-1"
    assert zones.items() <= chosen.items()


def test_an_unconfirmed_stack_gets_no_policy(script: Script) -> None:
    """Before its first changes are confirmed a stack has no resources."""
    boto3.client("cloudformation").create_change_set(
        StackName="pillarbox-dev",
        ChangeSetName="first",
        ChangeSetType="CREATE",
        TemplateBody=json.dumps(template(script.address)),
    )
    deploy._protect("pillarbox-dev")
    assert policy("pillarbox-dev") is None


def test_production_is_its_own_stack(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    """Production uses the section `prod` of samconfig.toml, and the output has hints."""
    sam = ["--parameter-overrides", "DeliveryConcurrency=2"]
    roll_out(script, Environment.PROD, json=False, sam=sam)
    assert "--config-env prod" in script.ran[1]
    output = capsys.readouterr()
    assert "curl" in output.out
    assert "cannot be shown a second time" in output.err
    assert "pillarbox --stack-name pillarbox domain add" in " ".join(output.err.split())


def test_an_account_that_is_not_ready_builds_nothing(
    script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    """A new account runs ten functions: prod's workers would take them, and the remedy says so."""
    with pytest.raises(ServiceError, match="not ready: functions"):
        roll_out(script, Environment.PROD, json=False)
    assert script.ran == []
    assert "Deploy with DeliveryConcurrency=2" in capsys.readouterr().err


def test_without_credentials_one_line_says_so(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without credentials the error names them, and nothing is built."""

    def missing() -> AwsAccount:
        raise NoCredentialsError

    monkeypatch.setattr(deployment, "read_account", missing)
    with pytest.raises(ServiceError, match="There are no AWS credentials") as refused:
        roll_out(script, Environment.DEV, json=False)
    assert "\n" not in refused.value.message
    assert script.ran == []


def test_an_update_shows_what_it_changes(
    script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second deploy compares with the values of the stack, and the command line wins."""
    rolled_out(script, capsys)
    _, log = rolled_out(script, capsys, sam=["--parameter-overrides", "LogLevel=INFO"])
    assert "parameter LogLevel: DEBUG -> INFO\n" in log
    assert "parameter DeliveryConcurrency" not in log
    assert "LogLevel=INFO" in script.ran[-1].split()


def test_a_rotation_of_the_edge_comes_first(
    script: Script, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deployment in the middle of a rotation would undo half of it."""
    rolled_out(script, capsys)
    before = len(script.ran)
    monkeypatch.setattr(edge_parts, "is_rotating", lambda _: True)
    with pytest.raises(ServiceError, match="edge rotate"):
        roll_out(script, Environment.DEV, json=True)
    assert len(script.ran) == before


def test_a_firewall_is_not_removed_in_one_step(
    script: Script, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests would get 403 while it goes, so nothing is built, and the remedy has two steps."""
    rolled_out(script, capsys)
    before = len(script.ran)
    stack = stacks.describe("pillarbox-dev")
    assert stack
    with_firewall = replace(stack, parameters={**stack.parameters, "Firewall": "basic"})
    monkeypatch.setattr(stacks, "describe", lambda _: with_firewall)
    with pytest.raises(ServiceError, match="not ready: firewall"):
        roll_out(script, Environment.DEV, json=True)
    assert "Deploy with Firewall=count first" in capsys.readouterr().err
    assert len(script.ran) == before


def test_an_unknown_parameter_is_refused(script: Script) -> None:
    """A misspelt parameter, which sam would ignore, ends the deploy."""
    with pytest.raises(ValidationFailed, match="LogLevell"):
        roll_out(script, Environment.DEV, json=True, sam=["--parameter-overrides", "LogLevell=x"])
    assert script.ran == []


@pytest.mark.parametrize(("program", "ran"), [("build", 1), ("deploy", 2)])
def test_a_program_that_fails_ends_the_deploy(script: Script, program: str, ran: int) -> None:
    """After a failed program the deploy runs nothing more."""
    script.codes[program] = 3
    with pytest.raises(ServiceError, match=f"{program} ended with 3"):
        roll_out(script, Environment.DEV, json=True)
    assert len(script.ran) == ran


def test_without_a_region_nothing_is_run(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the missing setting before anything is built."""
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    with pytest.raises(ValidationFailed, match="AWS_DEFAULT_REGION: is not set"):
        roll_out(script, Environment.DEV, json=True)
    assert script.ran == []


def test_without_credentials_nothing_is_run(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is one line, before anything is built."""
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


def test_with_credentials_that_aws_refuses_nothing_is_run(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Expired credentials are found before anything is built, with AWS's reason."""
    monkeypatch.setattr(deploy, "_run", script)
    with serving(refusal("ExpiredToken")) as port:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", f"http://127.0.0.1:{port}")
        result = Operator().plain("deploy")
    assert result.exit_code == 1
    assert result.stderr == "AWS refused GetCallerIdentity: ExpiredToken: no\n"
    assert script.ran == []


def test_a_failed_check_sets_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed check makes the exit code 1, and arguments after -- go to sam."""
    sam_arguments: list[Any] = []

    def failing(*_: Any, sam: Sequence[str], **__: Any) -> list[Finding]:
        sam_arguments.extend(sam)
        return [Finding("table", Verdict.FAIL, "a", "b")]

    monkeypatch.setattr(deploy, "roll_out", failing)
    result = Operator().plain("deploy", "--yes", "--", "--parameter-overrides", "A=b")
    assert result.exit_code == 1
    assert sam_arguments == ["--no-confirm-changeset", "--parameter-overrides", "A=b"]


def test_the_local_stack_is_not_deployed() -> None:
    """With --local the error says how to start the local stack."""
    result = Operator().plain("--local", "deploy")
    assert result.exit_code == 2
    assert "make up" in result.stderr


def test_programs_run_in_the_projects_folder(capfd: pytest.CaptureFixture[str]) -> None:
    """Programs print to stderr, because standard output is only for the command's output."""
    assert deploy._run(["cat", ".python-version"]) == 0
    output = capfd.readouterr()
    assert (output.out, output.err.startswith("3.13")) == ("", True)
    assert deploy._run(["false"]) == 1
