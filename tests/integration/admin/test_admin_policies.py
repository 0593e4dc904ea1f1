"""The commands with the rights that `pillarbox policy` prints, and with each of them left out."""

import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from unittest import mock
from uuid import UUID

import boto3
import pytest
from moto.backends import get_backend
from moto.core.utils import unix_time
from typer.testing import Result

from admin import deploy
from admin.aws import stacks
from admin.use_cases.policies import Duty, policy
from local.ses.store import MailStore
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.replies import DynamoReceivingDomains
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.management_api import HttpApiProbe
from pillarbox.adapters.ses.receipts import SesReceiptRules
from pillarbox.application.operator import account_deletion
from pillarbox.application.receiving_ports import ReceivingDomain
from pillarbox.domain.messages.message import MessageOrigin, SendRoute
from pillarbox.domain.messages.schedule import Schedule
from tests.integration.admin import test_admin_edge, test_admin_relay, test_admin_restore_stack
from tests.integration.admin.aws_stubs import Stubs
from tests.integration.admin.operator_command import Operator
from tests.integration.admin.rights import Judge
from tests.integration.admin.test_admin_command import entry
from tests.integration.admin.test_admin_deploy import Script, script
from tests.integration.admin.test_admin_edge import waits
from tests.integration.admin.test_admin_messages import put
from tests.integration.admin.test_admin_relay import files, machine

assert all((files, machine, script, waits))  # fixtures
STACK: Final = "pillarbox-dev"
#: What Secrets Manager says of a secret that waits for its deletion.
DELETED: Final = "InvalidRequestException"
KEY: Final = {"PILLARBOX_MANAGEMENT_KEY": "bx_live_management"}

#: What is run with the policies `operate` and `read`, in this order: a name that gets the id that
#: is shown, `reads` or `-`, and the command.
COMMANDS: Final = """
account  account create --name Shop --plan standard
-        account update {account} --contact ann@shop.example
-        account show {account}
-        account list
-        account usage {account}
-        account brand {account} --name Shop
-        account shard {account} 2
-        account isolation standard {account}
-        account isolation strict {account}
-        account isolation none {account}
key      key create --account {account} --name Web --preset send
reads    key list --account {account}
-        domain add shop.example --route53 --mail-from mail
-        domain list --account {account}
reads    domain show shop.example
-        domain receive shop.example in --account {account}
-        sender add hello@shop.example --account {account}
-        sender add bye@shop.example --account {account} --verified
-        sender list --account {account}
-        sender default bye@shop.example --account {account}
-        sender remove bye@shop.example --account {account}
template template create --account {account} --name Hi --subject Hi --category a --html {html}
-        template update {template} --account {account} --name Hello
reads    template list --account {account}
reads    template show {template} --account {account}
reads    template preview {template} --account {account}
-        template reference {template} --account {account} --by shop
-        template unreference {template} --account {account} --by shop
-        suppression add eve@example.com --account {account}
-        suppression import {addresses} --account {account}
-        suppression list --account {account}
-        suppression remove eve@example.com --account {account}
reads    suppression ses list
-        suppression ses remove bob@example.com
webhook  webhook create http://127.0.0.1:9000 --account {account}
-        webhook list --account {account}
-        webhook show {webhook} --account {account}
-        webhook change {webhook} --account {account} --type email.sent
-        webhook rotate {webhook} --account {account}
-        webhook test {webhook} --account {account}
-        webhook deliveries {webhook} --account {account}
-        dashboard link ann@shop.example --account {account} --role owner
-        member add bob@shop.example --account {account} --role developer
-        member list --account {account}
-        member remove bob@shop.example --account {account} --yes
-        operator add ann@shop.example
-        operator remove ann@shop.example --yes
-        signup invite eve@shop.example
-        signup list
reads    message find --account {account} --to ann@example.com
reads    message show {message} --account {account}
-        message release {held} --account {account} --yes
-        message reschedule {waiting} --account {account} --at {later} --yes
-        message cancel {waiting} --account {account} --yes
-        recipient erase ann@example.com --account {account} --suppress --yes
reads    stats top
-        stats rebuild --account {account}
reads    stats verify --account {account}
reads    queue status
letter   queue show jobs
-        queue drop jobs {letter} --yes
-        queue redrive webhooks
-        alarms subscribe ops@shop.example
-        sending pause --yes
-        sending resume
-        ses request {asked} --yes
reads    doctor
-        doctor --send --account {account}
reads    capacity --rate 14
-        ses quota --per-second 50 --yes
-        apply {file} --url {api}
-        key revoke {key}
-        webhook remove {webhook} --account {account} --yes
-        template delete {template} --account {account}
-        account suspend {account} --reason abuse --drop-queued
-        account resume {account}
-        account suspend {account} --reason abuse
-        account delete {account} --drop-pending --yes
"""


#: Refusals that end no command, and why.
SPARED: Final = {
    "ses:PutEmailIdentityFeedbackAttributes",  # the identity sends all the same; the doctor warns
    "iam:GetRole",  # most accounts have ECS's role; the preflight warns
}


class Rehearsal:
    """Gives each duty no right but those that its commands named when they failed."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.named: dict[Duty, set[str]] = {duty: set() for duty in Duty}

    def allow(self, duty: Duty, command: Callable[[], Result]) -> Result:
        """Run a command until IAM refuses nothing, and return the last result."""
        named = self.named[duty]
        self._judge.duty, self._judge.granted = duty, named
        while True:
            result, refused = self._once(command)
            if not refused:
                return result
            assert not refused & named, f"the policy lacks {refused & named}"
            named |= refused

    def refuse(self, duty: Duty, command: Callable[[], Result]) -> None:
        """Run a command for which all rights of a duty are too few."""
        self._judge.duty, self._judge.granted = duty, None
        assert self._once(command)[1] - SPARED

    def _once(self, command: Callable[[], Result]) -> tuple[Result, set[str]]:
        """Run a command; return the refusals that it named, or else those that it may pass over.

        A refusal ends it with 1.
        """
        self._judge.refused.clear()
        result, refused = command(), self._judge.refused
        assert isinstance(result.exception, SystemExit | None), result.exc_info
        if not refused - SPARED:
            return result, {*refused}
        named = {action for action in refused if f"{action} is not allowed" in result.output}
        assert named, f"{refused} is in {result.output}"
        assert result.exit_code == 1
        return result, named


def run(words: str) -> Callable[[], Result]:
    def command() -> Result:
        settle()
        with mock.patch.dict(os.environ, KEY if words.startswith("apply") else {}):
            return Operator().plain("--stack-name", STACK, "--json", *words.split())

    return command


def backend(service: str) -> Any:
    """Moto's own object of a service."""
    backends: Any = get_backend
    return backends(service)["123456789012"]["us-east-1"]


def settle() -> None:
    """Let moto forget what a refused run began: AWS would after a while, or at once."""
    cloudformation, sqs = backend("cloudformation"), backend("sqs")
    # It makes one more stack of a name for each change set.
    for stack_id, stack in [*cloudformation.stacks.items()]:
        if stack.status == "REVIEW_IN_PROGRESS":
            del cloudformation.stacks[stack_id]
    for queue in sqs.queues.values():
        for letter in queue._messages:
            letter.change_visibility(0)


def granted(duty: Duty) -> set[str]:
    """The actions of a policy, without those of CloudFormation, which end with a star."""
    actions = {one for each in policy(duty, STACK)["Statement"] for one in each["Action"]}
    return {action for action in actions if not action.endswith("*")}


@pytest.fixture
def rehearsal(script: Script, judge: Judge, monkeypatch: pytest.MonkeyPatch) -> Rehearsal:
    """The command, with make replaced, and without its waits."""
    judge.stack = STACK
    monkeypatch.setattr(deploy, "_run", script)
    monkeypatch.setattr("admin.wiring.sleep", lambda _: None)
    monkeypatch.setattr(account_deletion, "_NOTICE", timedelta(0))
    return Rehearsal(judge)


@pytest.fixture
def image(script: Script) -> str:
    """The address of an image of the relay in ECR."""
    assert script
    index = {"manifests": [{"platform": {"os": "linux", "architecture": "arm64"}}]}
    ecr = boto3.client("ecr")
    made = ecr.create_repository(repositoryName="pillarbox-relay")["repository"]
    ecr.put_image(
        repositoryName="pillarbox-relay",
        imageManifest=json.dumps(index),
        imageTag="1",
        imageManifestMediaType="application/vnd.oci.image.index.v1+json",
    )
    return f"{made['repositoryUri']}:1"


@pytest.fixture
def given(
    script: Script,
    ses: tuple[str, MailStore],
    rehearsal: Rehearsal,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> dict[str, Any]:
    """What the arguments of the commands name, in a stack that `pillarbox deploy` made."""
    monkeypatch.setattr(HttpApiProbe, "request", answer)
    assert rehearsal.named[Duty.READ] == set()
    monkeypatch.setenv("PILLARBOX_LOCAL_WEBHOOKS", "true")
    answer_quotas(monkeypatch)
    run("deploy --yes --set SignUp=invited")()
    outputs = stacks.require(STACK).outputs
    for queue in ("Jobs", "Webhooks"):
        boto3.client("sqs").send_message(
            QueueUrl=outputs[f"{queue}DeadLettersUrl"], MessageBody="x"
        )
    boto3.client("route53").create_hosted_zone(Name="shop.example", CallerReference="1")
    ses[1].suppressions.put(entry("bob@example.com"))
    ses[1].account.decide(None)
    values = [f"secretsmanager:{STACK}/shop", f"ssm:/{STACK}/shop"]
    keys = [{"name": value[:3], "preset": "send", "valueTo": value} for value in values]
    file = {"version": 1, "accounts": [{"name": "Shop", "keys": keys}]}
    texts = {"html": "<p>Hi", "addresses": "zoe@example.com", "file": json.dumps(file)}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {
        **{name: tmp_path / name for name in texts},
        "later": (datetime.now(UTC) + timedelta(minutes=30)).isoformat(),
        "asked": "shop.example --website https://shop.example --contact ops@shop.example"
        " --emails Receipts --per-day 9",
        "api": script.address,
        "spool": outputs["SpoolBucketName"],
        "table": Table(outputs["TableName"]),
    }


def answer_quotas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prepare the answers of Service Quotas, which moto lacks, to the tries of one command."""
    stubs, client = Stubs(), boto3.client
    for _ in range(2):
        quotas = [{"QuotaName": "Sending rate", "QuotaCode": "L-1"}]
        stubs.answer("service-quotas", "list_service_quotas", {"Quotas": quotas})
    stubs.answer(
        "service-quotas",
        "request_service_quota_increase",
        {"RequestedQuota": {"Status": "PENDING"}},
    )

    def made(service: str, *more: Any, **named: Any) -> Any:
        if service == "service-quotas":
            return stubs.client(service)
        return client(service, *more, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(boto3, "client", made)


def answer(_: object, method: str, path: str, **_request: Any) -> tuple[int, Any]:
    """What the API says."""
    match method, path:
        case "GET", "/v1/me":
            return 200, {"id": "key_1", "scopes": ["keys:write"]}
        case "GET", "/v1/account":
            return 200, {"id": "0" * 12, "name": "Shop", "plan": "free"}
        case "POST", "/v1/keys":
            return 201, {"key": "bx_live_00"}
        case "POST", "/v1/webhooks":
            return 201, {"id": str(UUID(int=1))}
        case _:
            return 200, {"items": [], "limits": [], "messageId": "m1", "status": "delivered"}


@pytest.mark.slow
def test_who_operates_and_who_reads(
    given: dict[str, Any], judge: Judge, rehearsal: Rehearsal
) -> None:
    """Each command needs the rights that it names; who reads can change nothing."""
    for line in COMMANDS.strip().splitlines():
        name, words = line.split(None, 1)
        command = run(words.format(**given))
        if name == "reads":
            rehearsal.allow(Duty.READ, command)
        else:
            rehearsal.refuse(Duty.READ, command)
        result = rehearsal.allow(Duty.OPERATE, command)
        # The stand-ins are no healthy stack.
        assert result.exit_code == 0 or words.startswith(("doctor", "capacity")), result.output
        if name not in {"-", "reads"}:
            shown = json.loads(result.stdout)
            given[name] = shown.get("items", [shown])[0]["id"]
        if name == "account":
            given |= mail(given)
    with mock.patch.dict(os.environ, KEY):  # no other is made
        assert rehearsal.allow(Duty.READ, run("account list")).exit_code == 0
    assert rehearsal.named[Duty.OPERATE] == granted(Duty.OPERATE)
    assert rehearsal.named[Duty.READ] == granted(Duty.READ)
    looks = r"\w+:(BatchGet|Describe|Get|List|Query)\w*"
    assert all(re.fullmatch(looks, action) for action in granted(Duty.READ))
    judge.stack = "other"
    rehearsal.refuse(Duty.OPERATE, run("account list"))


def mail(given: dict[str, Any]) -> dict[str, str]:
    """Store a domain that receives, and emails: sent, waiting for a time, and held."""
    key = f"kept/7/{given['account']}/mail"
    boto3.client("s3").put_object(Bucket=given["spool"], Key=key, Body=b"")
    receives = ReceivingDomain("in.shop.example", given["account"])
    DynamoReceivingDomains(given["table"]).put(receives)
    DynamoAccounts(given["table"]).set_reply_domain(given["account"], receives.domain)
    of_account = given["table"], given["account"], timedelta(minutes=5)
    due_at = datetime.now(UTC) + timedelta(minutes=90)
    schedule = Schedule(due_at=due_at, life=timedelta(minutes=60))
    held = replace(schedule, held=True)
    origin = MessageOrigin(route=SendRoute.HTTP, held=True)
    return {
        "message": put(*of_account, to=("ann@example.com",), keep=7, attempt=1),
        "waiting": put(*of_account, schedule=schedule),
        "held": put(*of_account, schedule=held, origin=origin),
    }


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_who_deploys(
    rehearsal: Rehearsal, image: str, judge: Judge, request: pytest.FixtureRequest
) -> None:
    """From the first deployment to the deletion; then, with prepared answers, what moto lacks."""

    def allow(words: str) -> None:
        result = rehearsal.allow(Duty.DEPLOY, run(words))
        # The doctor, with which a deployment ends, finds no healthy stack.
        assert result.exit_code == 0 or words.startswith("deploy"), result.output

    # That commands name these when they lack them is shown above.
    rehearsal.named[Duty.DEPLOY] |= granted(Duty.OPERATE)
    allow("deploy --yes --sender hello@shop.example")
    allow("deploy --yes --set LogRetention=14 --ses-plan none")
    allow("relay certificate --chain fullchain.pem --key privkey.pem")
    allow(f"deploy --yes --set RelayImage={image} --set RelayName=smtp.shop.example")
    make_recoverable()
    allow("restore rows --at 30m --all-accounts --yes")
    bucket = stacks.require(STACK).outputs["SpoolBucketName"]
    SesReceiptRules(STACK, bucket).put("in.shop.example")
    allow(f"teardown --delete-data --drop-pending --confirm {STACK}")
    judge.stack = "pillarbox"
    machine, waits, stubs = map(request.getfixturevalue, ("machine", "waits", "stubs"))
    for test, *fixtures in (
        (test_admin_edge.test_a_rotation_makes_these_calls, waits),
        (test_admin_relay.test_the_image_is_built_and_pushed, machine),
        (test_admin_relay.test_an_image_that_exists_is_not_built, machine),
        (test_admin_relay.test_a_secret_that_exists_gets_the_new_certificate, DELETED),
        (test_admin_restore_stack.test_the_stack_begins_with_the_tables,),
    ):
        assert rehearsal.allow(Duty.DEPLOY, replay(test, stubs, *fixtures)).exit_code == 0
    beyond = granted(Duty.DEPLOY) - granted(Duty.OPERATE)
    assert beyond - rehearsal.named[Duty.DEPLOY] == {
        # CloudFormation's, as the caller.
        *("dynamodb:ListTables", "iam:ListRoles", "s3:ListAllMyBuckets", "sns:ListTopics"),
        *("secretsmanager:GetRandomPassword", "secretsmanager:ListSecrets", "sqs:ListQueues"),
        # After ecr:BatchGetImage, for an image of one architecture.
        "ecr:GetDownloadUrlForLayer",
    }


def make_recoverable() -> None:
    """Let the tables have an hour from which moto restores."""
    outputs, tables = stacks.require(STACK).outputs, backend("dynamodb").tables
    for name in (outputs["TableName"], outputs["CredentialsTableName"]):
        tables[name].continuous_backups["PointInTimeRecoveryDescription"] = {
            "PointInTimeRecoveryStatus": "ENABLED",
            "EarliestRestorableDateTime": unix_time() - 3600,
            "LatestRestorableDateTime": unix_time(),
        }


def replay(test: Callable[..., None], stubs: Stubs, *fixtures: Any) -> Callable[[], Result]:
    """Run the command of a test with its prepared answers; a refusal leaves some of them over."""

    def command() -> Result:
        stubs.forget()
        results: list[Result] = []
        plain = Operator.plain

        def record(operator: Operator, *words: object, **more: Any) -> Result:
            results.append(plain(operator, *words, **more))
            return results[-1]

        with mock.patch.object(Operator, "plain", record), suppress(AssertionError, ValueError):
            test(stubs, *fixtures)
        return results[-1]

    return command
