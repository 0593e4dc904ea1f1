"""`pillarbox deploy`: the programs are a script's, the stack and all that follows are moto's."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest

from admin import deploy
from admin.deploy import Environment, roll_out
from admin.operations.findings import Finding, Verdict
from admin.session import StackSession
from admin.wiring import OperatorWiring
from local.ses.store import MailStore
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.errors import ServiceError, ValidationFailed
from tests.integration.admin.address import api, serving
from tests.integration.admin.operated import Operator

KEYS = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")]
QUEUES = ("JobsQueue", "JobsDeadLetters", "EventsQueue", "EventsDeadLetters")


def template(address: str) -> dict[str, Any]:
    """A stack with what the command asks about."""
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
        "ConfigurationSetName": "set",
        "PreviewSender": "preview@shop.example",
        "ApiUrl": address,
    }
    return {
        "Parameters": {"DeliveryConcurrency": {"Type": "Number", "Default": 2}},
        "Resources": {**queues, "Table": table, "AlarmTopic": {"Type": "AWS::SNS::Topic"}},
        "Outputs": {name: {"Value": value} for name, value in outputs.items()},
    }


@dataclass
class Script:
    """Stands in for make and sam; deploying makes the stack, unless it is there."""

    address: str
    codes: dict[str, int] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)

    def __call__(self, words: Sequence[str]) -> int:
        self.ran.append(" ".join(words))
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
    """What the command told programs, and what it told of its doings."""
    roll_out(script, Environment.DEV, json=True, **more)
    said = capsys.readouterr()
    return json.loads(said.out), said.err


def test_a_first_deploy_ends_with_a_key_that_sends(
    script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    """Built and deployed, each program shown; account, key, sender, a line to paste, the doctor."""
    told, doings = rolled_out(script, capsys, sender="hello@shop.example", sam=["--guided"])
    deployed = ".venv-sam/bin/sam deploy --config-env default --no-fail-on-empty-changeset --guided"
    assert script.ran == ["make build", deployed]
    assert doings == f"$ make build\n$ {deployed}\n"
    assert told["sender"]["status"] == "verified"
    assert (told["stack"], told["baseUrl"]) == ("pillarbox-dev", script.address)
    key = told["key"]["key"]
    assert key in told["firstMail"]
    principal = deployed_wiring().authentication.authenticate(key)
    assert principal.account.account_id == told["accountId"]
    # Nobody has protected the test's table, nor created the domain's records.
    failed = [each["check"] for each in told["items"] if each["verdict"] == "fail"]
    assert failed == ["domains", "table", "table"]
    assert told["failed"] == 3


def test_a_second_deploy_makes_nothing(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    """The same programs run; the account is the same, and no key is made or shown."""
    first, _ = rolled_out(script, capsys)
    again, _ = rolled_out(script, capsys)
    assert script.ran[:2] == script.ran[2:]
    assert again["accountId"] == first["accountId"]
    assert again["key"] is None
    assert "$PILLARBOX_KEY" in again["firstMail"]
    wiring = deployed_wiring()
    assert len(list(wiring.accounts.all())) == 1
    assert len(list(wiring.api_keys.of_account(first["accountId"]))) == 1


def test_production_is_its_own_stack(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    """The section `prod` of samconfig.toml, and its stack's name; people see the hints."""
    roll_out(script, Environment.PROD, json=False)
    assert "--config-env prod" in script.ran[1]
    said = capsys.readouterr()
    assert "curl" in said.out
    assert "cannot be shown a second time" in said.err
    assert "pillarbox --stack-name pillarbox domain add" in " ".join(said.err.split())


@pytest.mark.parametrize(("program", "ran"), [("build", 1), ("deploy", 2)])
def test_a_program_that_fails_ends_it(script: Script, program: str, ran: int) -> None:
    """Nothing more is run, and no account is made."""
    script.codes[program] = 3
    with pytest.raises(ServiceError, match=f"{program} ended with 3"):
        roll_out(script, Environment.DEV, json=True)
    assert len(script.ran) == ran


def test_without_a_region_nothing_is_run(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    """The setting that is lacking is named before anything is built."""
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    with pytest.raises(ValidationFailed, match="AWS_DEFAULT_REGION: is not set"):
        roll_out(script, Environment.DEV, json=True)
    assert script.ran == []


def test_the_command_tells_a_failure_by_its_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the doctor found wrong is a failure; options of sam's own are passed on."""
    given: list[Any] = []

    def failing(*_: Any, sam: Sequence[str], **__: Any) -> list[Finding]:
        given.extend(sam)
        return [Finding("table", Verdict.FAIL, "a", "b")]

    monkeypatch.setattr(deploy, "roll_out", failing)
    done = Operator().people("deploy", "--yes", "--", "--parameter-overrides", "A=b")
    assert done.exit_code == 1
    assert given == ["--no-confirm-changeset", "--parameter-overrides", "A=b"]


def test_the_local_stack_is_not_deployed() -> None:
    """Deploying is to AWS; the local stack is told how it starts."""
    done = Operator().people("--local", "deploy")
    assert done.exit_code == 2
    assert "make up" in done.stderr


def test_programs_run_in_the_projects_folder(capfd: pytest.CaptureFixture[str]) -> None:
    """What they print goes to stderr, since standard output is the command's own."""
    assert deploy._run(["cat", ".python-version"]) == 0
    said = capfd.readouterr()
    assert (said.out, said.err.startswith("3.13")) == ("", True)
    assert deploy._run(["false"]) == 1
