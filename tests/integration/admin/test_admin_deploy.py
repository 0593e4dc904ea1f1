"""`pillarbox deploy`, with a script in place of make, and moto in place of AWS."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

import boto3
import pytest
from moto.backends import get_backend

from admin import deploy, doctor, failed_stack
from admin.aws import deployment, edge_parts, release, stacks
from admin.aws.queue_policies import SqsQueuePolicies
from admin.aws.registry import Repository
from admin.aws.release import ChangeSet
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
from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.accounts.key import Preset
from pillarbox.domain.errors import ServiceError, ValidationFailed
from tests.aws import declared
from tests.integration.admin.operator_command import Operator
from tests.integration.admin.stand_in_servers import MAPPING, Api
from tests.servers import serving
from tests.unit.admin.certificates import NOW
from tests.unit.admin.test_admin_checks import NEEDS

KEYS = ("AttributeDefinitions", "KeySchema")
#: What a new account gets.
SMALL = ("EmailsPerSecond=40",)
BUCKET = "pillarbox-releases-123456789012-us-east-1"


def template(address: str) -> dict[str, Any]:
    """Return a CloudFormation template with what the command reads."""
    made = project_template.load()["Resources"]
    queues = {name: one for name, one in made.items() if one["Type"] == "AWS::SQS::Queue"}
    keys = {name: declared("AWS::DynamoDB::Table")[name] for name in KEYS}
    table = {
        "Type": "AWS::DynamoDB::Table",
        "Properties": keys | {"BillingMode": "PAY_PER_REQUEST"},
    }
    outputs: dict[str, Any] = {f"{name}Url": {"Ref": name} for name in queues}
    outputs |= {
        "TableName": {"Ref": "Table"},
        "CredentialsTableName": {"Ref": "Credentials"},
        "ConfigurationSetName": "set",
        "PreviewSender": "preview@shop.example",
        "ReceivedMapping": MAPPING,
        "ApiUrl": address,
        "SpoolBucketName": {"Ref": "SpoolBucket"},
    }
    return {
        "Metadata": {"release": "unbuilt", "version": "unbuilt"},
        "Parameters": project_template.load()["Parameters"],
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
            "SpoolBucket": {"Type": "AWS::S3::Bucket"},
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
    answer = boto3.client("cloudformation").get_stack_policy(StackName=stack_name)
    body: str | None = answer.get("StackPolicyBody")
    return body


@dataclass
class Script:
    """Stands in for make, which makes a release of a small template."""

    address: str
    release: Path
    code: int = 0
    ran: list[str] = field(default_factory=list)
    #: The stack's policy at the time of each deploying, None without one.
    policies: list[str | None] = field(default_factory=list)
    #: The statuses in which CloudFormation leaves the next stacks that it creates.
    statuses: list[str] = field(default_factory=list)

    def __call__(self, words: Sequence[str]) -> int:
        self.ran.append(" ".join(words))
        (self.release / "template.json").write_text(json.dumps(template(self.address)))
        return self.code

    def execute(self, changes: ChangeSet) -> None:
        """Stand around CloudFormation's execution of a change set."""
        self.policies.append(policy(changes.stack_id))
        _execute(changes)
        made = stack(changes.stack_id)
        made._parse_template()  # which moto forgets
        made.output_map = made._create_output_map()
        if self.statuses:
            made.status = self.statuses.pop(0)


_execute = release.execute


def stack(name: str) -> Any:
    """Moto's own object of a stack."""
    return get_backend("cloudformation")["123456789012"]["us-east-1"].get_stack(name)


@pytest.fixture
def script(
    shared: Table,
    ses: tuple[str, MailStore],
    name_server: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Iterator[Script]:
    assert shared.name
    monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", ses[0])
    monkeypatch.setenv("PILLARBOX_DNS_SERVERS", name_server)
    ses[1].create_configuration_set("set")
    ses[1].create_identity("shop.example")
    monkeypatch.setattr(deploy, "_RELEASE", tmp_path)
    with serving(Api) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", url)
        made = Script(url, tmp_path)
        monkeypatch.setattr(release, "execute", made.execute)
        yield made


def deployed_wiring(stack_name: str = "pillarbox-dev") -> OperatorWiring:
    """The use cases of the deployed stack, for a session of their own."""
    session = StackConnection(stack_name=stack_name, json=True)
    session.connect()
    return session.wiring


type RollOut = Callable[..., tuple[dict[str, Any], str]]


@pytest.fixture
def rolled_out(script: Script, capsys: pytest.CaptureFixture[str]) -> RollOut:
    """The command, which returns its JSON output and its stderr; the doctor looks if `checked`."""

    def run(*, checked: bool = False, **more: Any) -> Any:
        checks = doctor.run_checks if checked else mock.Mock(return_value=[])
        with mock.patch.object(doctor, "run_checks", checks):
            roll_out(script, Environment.DEV, json=True, **{"yes": True, **more})
        output = capsys.readouterr()
        return json.loads(output.out), output.err

    return run


def test_a_first_deploy_ends_with_a_key_that_sends(script: Script, rolled_out: RollOut) -> None:
    output, log = rolled_out(checked=True, sender="hello@shop.example")
    assert script.ran == ["make build dashboard"]
    deployed = stacks.require("pillarbox-dev").parameters
    assert deployed.keys() == project_template.load()["Parameters"].keys()
    chosen = {"LogRetention": "7", "SesRateShare": "100", "RelayImage": "", "EmailsPerSecond": "40"}
    assert chosen.items() <= deployed.items()
    assert "pass account: AWS account 123456789012 in us-east-1, as arn:aws:" in log
    assert "pass region: SES is in us-east-1." in log
    assert "warn cloudfront: The account has no distribution yet." in log
    assert "The account runs 10 functions at a time" in log
    assert "parameter LogRetention: 30 -> 7\n" in log
    assert log.index("pass account") < log.index("$ make build dashboard\nCREATE_COMPLETE")
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


IMAGE = "123456789012.dkr.ecr.us-east-1.amazonaws.com/relay:1"


@pytest.fixture
def relay(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a relay needs in the account and its region."""
    monkeypatch.setattr(deploy, "utc_now", lambda: NOW)
    monkeypatch.setattr(Repository, "newest", lambda _: IMAGE)
    monkeypatch.setattr(deployment, "read_relay_needs", lambda *_: NEEDS)
    monkeypatch.setattr(deployment, "ensure_cluster_role", lambda: ClusterRole.EXISTS)
    monkeypatch.setattr(deployment, "look_up_prefix_list", lambda: "pl-1")
    monkeypatch.setattr(deployment, "zones", lambda: [("a", "use1-az1"), ("b", "use1-az2")])


@pytest.mark.usefixtures("relay")
def test_a_relay_is_added_kept_and_removed(rolled_out: RollOut) -> None:
    def deployed() -> list[str]:
        values = stacks.require("pillarbox-dev").parameters
        return [values[f"Relay{name}"] for name in ("Image", "Name", "Network")]

    rolled_out(relay="smtp.shop.example")
    assert deployed() == [IMAGE, "smtp.shop.example", "a,b,pl-1"]
    _, log = rolled_out()
    assert "parameter Relay" not in log
    assert deployed() == [IMAGE, "smtp.shop.example", "a,b,pl-1"]
    _, log = rolled_out(given=["RelayImage="])
    assert f"parameter RelayImage: {IMAGE} -> empty\n" in log
    # A relay that comes back looks for zones again.
    assert deployed() == ["", "smtp.shop.example", ""]


@pytest.mark.usefixtures("relay")
@pytest.mark.parametrize(
    ("name", "role", "remedy"),
    [
        ("smtp.shop.example", ClusterRole.MISSING, "pillarbox policy deploy"),
        ("mail.shop.example", ClusterRole.EXISTS, "is for smtp.shop.example, not for mail."),
    ],
)
def test_a_relay_that_is_not_ready_builds_nothing(  # noqa: PLR0917  fixtures and parameters
    script: Script,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    role: ClusterRole,
    remedy: str,
) -> None:
    monkeypatch.setattr(deployment, "ensure_cluster_role", lambda: role)
    with pytest.raises(ServiceError, match="not ready: relay"):
        roll_out(script, Environment.DEV, json=True, yes=True, relay=name)
    assert remedy in capsys.readouterr().err
    monkeypatch.setattr(Repository, "newest", lambda _: None)
    with pytest.raises(ServiceError, match=r"no image pillarbox-relay\. Push it first"):
        roll_out(script, Environment.DEV, json=True, yes=True, relay=name)
    assert script.ran == []


def test_a_stack_for_development_need_not_wait(
    rolled_out: RollOut, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without DisableRollback the express mode would undo no failure, and refuse a replacement."""
    formation, asked = boto3.client("cloudformation"), list[Any]()
    create = formation.create_change_set

    def noting(**words: Any) -> Any:
        asked.append(words.get("DeploymentConfig"))
        return create(**words)

    monkeypatch.setattr(formation, "create_change_set", noting)
    _, log = rolled_out(express=True)
    assert "may fail until then" in log
    rolled_out()
    assert asked == [{"Mode": "EXPRESS", "DisableRollback": False}, None]
    refused = Operator().plain("deploy", "--environment", "prod", "--express")
    assert (refused.exit_code, "--environment dev" in refused.stderr) == (2, True)


def test_a_second_deploy_creates_nothing(script: Script, rolled_out: RollOut) -> None:
    first, _ = rolled_out()
    deployed_wiring().service_address.store("https://former.example")
    again, log = rolled_out()
    assert deployed_wiring().service_address.read() == script.address
    assert "The stack has this release already." in log
    assert again["accountId"] == first["accountId"]
    assert again["key"] is None
    assert "$PILLARBOX_KEY" in again["firstMail"]
    wiring = deployed_wiring()
    assert len(list(wiring.accounts.all())) == 1
    (key,) = wiring.api_keys.of_account(first["accountId"])
    # A run before may have failed between account and key; only a live key for sending counts.
    wiring.accounts.create("Younger", Plan.FREE)
    wiring.api_keys.revoke(key.key_id)
    wiring.api_keys.issue_preview(first["accountId"], "widget")
    wiring.api_keys.issue_live(first["accountId"], "reader", Preset.CUSTOM, ["emails:read"])
    renewed, _ = rolled_out()
    assert (renewed["accountId"], renewed["key"]["name"]) == (first["accountId"], "First key")
    assert len(list(wiring.accounts.all())) == 2


def test_a_retry_is_another_release(rolled_out: RollOut, monkeypatch: pytest.MonkeyPatch) -> None:
    """CloudFormation kept the versions of each update that failed, and Lambda makes none twice."""
    rolled_out()
    whole = stacks.require("pillarbox-dev")
    for updated in ("2026-11-27 10:00", "2026-11-27 11:00"):
        undone = replace(whole, status="UPDATE_ROLLBACK_COMPLETE", updated=updated)
        monkeypatch.setattr(failed_stack, "make_way", lambda *_, of=undone, **__: of)
        rolled_out()
    templates = boto3.client("s3").list_objects_v2(Bucket=BUCKET, Prefix="template-")
    assert len(templates["Contents"]) == 3


def test_every_deploy_is_held_to_the_stack_policy(script: Script, rolled_out: RollOut) -> None:
    written = (ROOT / "stack-policy.json").read_text()
    rolled_out()
    assert policy("pillarbox-dev") == written
    boto3.client("cloudformation").set_stack_policy(
        StackName="pillarbox-dev", StackPolicyBody='{"Statement": []}'
    )
    _, log = rolled_out(given=["LogRetention=14"])
    assert script.policies == [None, written]
    assert policy("pillarbox-dev") == written
    # It shows what it changes.
    assert "parameter LogRetention: 7 -> 14\n" in log
    assert "parameter EmailsPerSecond" not in log
    assert stacks.require("pillarbox-dev").parameters["LogRetention"] == "14"


@pytest.mark.parametrize("status", ["ROLLBACK_COMPLETE", "ROLLBACK_FAILED"])
def test_an_account_that_aws_must_verify_deploys_without_an_edge(
    script: Script, rolled_out: RollOut, capsys: pytest.CaptureFixture[str], status: str
) -> None:
    script.statuses = [status]
    with pytest.raises(ServiceError, match=f"CloudFormation ended with {status}"):
        roll_out(script, Environment.DEV, json=True, yes=True)
    assert f"could not be created ({status})" in capsys.readouterr().err
    failed = stacks.require("pillarbox-dev")
    assert failed.status == status
    output, log = rolled_out(given=["EdgeService=none"], yes=True)
    assert f"is in {status}. The first deployment failed" in log
    assert "Removed the stack pillarbox-dev." in log
    assert log.index("Removed the stack") < log.index("$ make build\n")
    assert output["key"]
    stack = stacks.require("pillarbox-dev")
    assert stack.parameters["EdgeService"] == "none"
    assert (stack.status, stack.stack_id == failed.stack_id) == ("CREATE_COMPLETE", False)


def test_a_deployment_that_ended_early_is_finished_by_the_next(
    script: Script, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(deploy, "_upload_dashboard", interrupted)
        with pytest.raises(KeyboardInterrupt):
            roll_out(script, Environment.PROD, json=True, yes=True, given=SMALL)
    shown = re.search(r"The first key of the account \w+: (\S+)\n", capsys.readouterr().err)
    assert shown
    assert deployed_wiring("pillarbox").authentication.authenticate(shown[1])
    roll_out(script, Environment.PROD, json=True, yes=True, given=SMALL)
    output = capsys.readouterr()
    assert json.loads(output.out)["key"] is None
    assert "The first key" not in output.err


def test_changes_that_are_not_confirmed_end_the_command(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deploy, "agrees", lambda *_, **__: False)
    with pytest.raises(ServiceError, match="not confirmed, so nothing was deployed"):
        roll_out(script, Environment.DEV, json=False)
    formation = boto3.client("cloudformation")
    assert formation.list_change_sets(StackName="pillarbox-dev")["Summaries"] == []
    deploy.protect("pillarbox-dev")
    assert policy("pillarbox-dev") is None


def test_queues_of_events_get_their_policies_back(rolled_out: RollOut) -> None:
    _, log = rolled_out()
    assert "Wrote the policy of EventsQueue and EventsDeadLetters again." in log
    policies = SqsQueuePolicies("pillarbox-dev")
    assert {policy.right for policy in policies.read().values()} == {True}
    url = stacks.require("pillarbox-dev").outputs["EventsDeadLettersUrl"]
    boto3.client("sqs").set_queue_attributes(QueueUrl=url, Attributes={"Policy": ""})
    output, log = rolled_out(checked=True)
    assert "Wrote the policy of EventsDeadLetters again." in log
    verdicts = [item["verdict"] for item in output["items"] if item["check"] == "policies"]
    assert verdicts == ["pass", "pass"]
    _, log = rolled_out()
    assert "Wrote the policy" not in log


def test_the_doctor_reads_what_was_deployed(rolled_out: RollOut) -> None:
    given = ["SesRateShare=50", "EmailsPerSecond=40"]
    output, _ = rolled_out(checked=True, given=given)
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
    chosen = deploy._complete({**RELAY, "EdgeService": "cloudfront", **without})
    assert chosen["RelayNetwork"] == "b,a,pl-1"
    with pytest.raises(ServiceError, match="LargeRequests=off"):
        deploy._complete({**RELAY, "EdgeService": "cloudfront"})


def test_production_is_its_own_stack(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    roll_out(script, Environment.PROD, json=False, yes=True, given=SMALL)
    tags = boto3.client("cloudformation").describe_stacks(StackName="pillarbox")["Stacks"][0][
        "Tags"
    ]
    assert tags == [
        {"Key": "service", "Value": "pillarbox"},
        {"Key": "stage", "Value": "prod"},
    ]
    output = capsys.readouterr()
    assert "curl" in output.out
    assert "cannot be shown a second time" in output.err
    assert "pillarbox --stack-name pillarbox domain add" in " ".join(output.err.split())


def test_an_account_that_is_not_ready_builds_nothing(
    script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    """A new account runs ten functions: ten workers would take them, and the remedy says so."""
    given = ["EmailsPerSecond=200"]
    with pytest.raises(ServiceError, match="not ready: functions"):
        roll_out(script, Environment.PROD, json=False, yes=True, given=given)
    assert script.ran == []
    assert "Deploy with EmailsPerSecond=40" in capsys.readouterr().err


def test_a_rotation_of_the_edge_comes_first(
    script: Script, rolled_out: RollOut, monkeypatch: pytest.MonkeyPatch
) -> None:
    rolled_out()
    before = len(script.ran)
    monkeypatch.setattr(edge_parts, "is_rotating", lambda _: True)
    with pytest.raises(ServiceError, match="edge rotate"):
        roll_out(script, Environment.DEV, json=True, yes=True)
    assert len(script.ran) == before


@pytest.mark.parametrize(
    ("given", "check", "remedy"),
    [
        ("EdgeService=cloudfront", "firewall", "Deploy with Firewall=count first"),
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
        roll_out(script, Environment.DEV, json=True, yes=True, given=[given])
    assert remedy in capsys.readouterr().err
    assert len(script.ran) == before


def test_an_unknown_parameter_is_refused(script: Script) -> None:
    with pytest.raises(ValidationFailed, match="LogLevell"):
        roll_out(script, Environment.DEV, json=True, yes=True, given=["LogLevell=x"])
    assert script.ran == []


def test_a_build_that_fails_ends_the_deploy(script: Script) -> None:
    script.code = 3
    with pytest.raises(ServiceError, match="build ended with 3"):
        roll_out(script, Environment.DEV, json=True, yes=True)
    assert stacks.describe("pillarbox-dev") is None


def test_without_a_region_nothing_is_run(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    with pytest.raises(ValidationFailed, match="AWS_DEFAULT_REGION: is not set"):
        roll_out(script, Environment.DEV, json=True, yes=True)
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
    received: list[str] = []

    def failing(*_: Any, given: Sequence[str], **__: Any) -> list[Finding]:
        received.extend(given)
        return [Finding("table", Verdict.FAIL, "a", "b")]

    monkeypatch.setattr(deploy, "roll_out", failing)
    result = Operator().plain("deploy", "--yes", "--set", "A=b", "--set", "B=two words")
    assert result.exit_code == 1
    assert received == ["A=b", "B=two words"]


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
