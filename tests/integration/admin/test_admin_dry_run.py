"""`--dry-run`: the calls that it prints are those that a run makes, and it makes none of them."""

import json
import os
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders

from admin.aws import example_stack, stacks
from admin.aws.recording import ExampleError, recorded
from admin.aws.table_copy import TableCopy
from pillarbox.adapters.dynamodb.table import Item, Table
from pillarbox.adapters.sdk import sdk_session
from tests.integration.admin.operator_command import Operator
from tests.integration.admin.test_admin_relay import CHAIN, files
from tests.integration.admin.test_admin_restore_everything import AT, NOW, SHOP, lost, rows
from tests.unit.admin.certificates import certificate, ec_key, key_pem

__all__ = ["files", "lost"]

DEV: Final = ("--stack-name", "pillarbox-dev")
READS: Final = ("BatchGet", "Describe", "Get", "List", "Query", "Scan")

type Calls = Counter[tuple[str, str]]
type Answer = Callable[[str, Any], Any]


@contextmanager
def watched(answer: Answer | None = None) -> Iterator[list[tuple[str, str, str]]]:
    """Collect the calls that change something, with all that they say; with an answer to each."""
    made: list[tuple[str, str, str]] = []

    def keep(params: Any, context: Any, **_: Any) -> None:
        context["watched"] = params

    def collect(model: Any, context: Any, **_: Any) -> Any:
        params = context["watched"]
        if not model.name.startswith(READS):
            text = json.dumps(params, default=str, sort_keys=True)
            made.append((model.service_model.service_name, model.name, text))
        if answer is None:
            return None
        try:
            return AWSResponse("", 200, HTTPHeaders(), None), answer(model.name, params)
        except ExampleError as error:
            refusal = {"Error": {"Code": str(error), "Message": "does not exist"}}
            return AWSResponse("", 400, HTTPHeaders(), None), refusal

    boto3.setup_default_session()
    assert boto3.DEFAULT_SESSION is not None
    emitters = (boto3.DEFAULT_SESSION.events, sdk_session().get_component("event_emitter"))
    for emitter in emitters:
        emitter.register("before-parameter-build", keep)
        emitter.register("before-call", collect)
    yield made
    for emitter in emitters:
        emitter.unregister("before-parameter-build", keep)
        emitter.unregister("before-call", collect)


def dry(*words: str, stack: tuple[str, ...] = DEV) -> list[dict[str, Any]]:
    """Return the calls that the command prints in place of making them."""
    result = Operator().plain(*stack, "--json", *words, "--dry-run")
    assert (result.exit_code, result.stderr) == (0, "")
    items: list[dict[str, Any]] = json.loads(result.stdout)["items"]
    return items


def assert_same(planned: list[dict[str, Any]], made: list[tuple[str, str, str]]) -> None:
    """Check that a plan has the calls of a run, as many, and on the same resources."""
    counts: Calls = Counter()
    for call in planned:
        counts[call["service"], call["operation"]] += call["times"]
    assert counts == Counter((service, operation) for service, operation, _ in made)
    for call in planned:
        texts = [text for *names, text in made if names == [call["service"], call["operation"]]]
        name = call["resource"].removesuffix(":live:2").removesuffix(":live:6")
        assert sum(f'"{name}"' in text for text in texts) == call["times"]


def run(*words: str, answer: Answer | None = None) -> list[tuple[str, str, str]]:
    with watched(answer) as made:
        result = Operator().plain(*DEV, "--json", *words)
    assert result.exit_code == 0, result.output
    assert made
    return made


@pytest.mark.usefixtures("table")
def test_credentials_of_a_role_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDK assumes the profile's role itself: that changes nothing, and is not recorded."""
    config = tmp_path / "config"
    config.write_text(
        "[profile base]\naws_access_key_id = a\naws_secret_access_key = b\n"
        "[profile role]\nrole_arn = arn:aws:iam::123456789012:role/operator\n"
        "source_profile = base\nregion = us-east-1\n"
    )
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_PROFILE", "role")
    with recorded() as recording:
        assert stacks.describe("pillarbox-dev") is None
    boto3.setup_default_session()
    assert recording.calls == {}


def test_a_subscription(topic: str) -> None:
    words = ("alarms", "subscribe", "ops@shop.example")
    planned = dry(*words)
    assert "ops@shop.example" not in str(planned)
    subscriptions = boto3.client("sns").list_subscriptions_by_topic(TopicArn=topic)
    assert subscriptions["Subscriptions"] == []
    assert_same(planned, run(*words))
    assert dry(*words) == []  # it is subscribed now


@pytest.mark.usefixtures("table", "files")
def test_a_certificate(tmp_path: Path) -> None:
    words = ("relay", "certificate", "--chain", "fullchain.pem", "--key", "privkey.pem")
    planned = dry(*words)
    assert [call["operation"] for call in planned] == ["CreateSecret"]
    assert boto3.client("secretsmanager").list_secrets()["SecretList"] == []
    assert_same(planned, run(*words))
    assert dry(*words) == []
    key = ec_key()
    (tmp_path / "fullchain.pem").write_bytes(certificate("smtp", key, names=("smtp.shop.example",)))
    (tmp_path / "privkey.pem").write_bytes(key_pem(key))
    planned = dry(*words)
    assert [call["operation"] for call in planned] == ["PutSecretValue"]
    stored = boto3.client("secretsmanager").get_secret_value(SecretId="pillarbox-dev/smtp")
    assert json.loads(stored["SecretString"])["certificate"] == CHAIN.decode()
    shown = Operator().plain(*DEV, *words, "--dry-run").output
    assert "PRIVATE KEY" not in shown + str(planned)
    assert_same(planned, run(*words))


@pytest.mark.parametrize("options", [("--all-accounts", "--messages"), ("--account", SHOP)])
def test_a_restore(table: Table, lost: dict[str, list[Item]], options: tuple[str, ...]) -> None:
    words = ("restore", "rows", "--at", AT, *options)
    planned = dry(*words)
    assert [rows(name) for name in lost] == [[], []]
    assert len(boto3.client("dynamodb").list_tables()["TableNames"]) == 4
    made = run(*words, "--yes")
    assert_same(planned, made)
    assert sum(operation == "PutItem" for _, operation, _ in made) > 10
    assert table.name in lost


def test_a_restore_without_copies(
    lost: dict[str, list[Item]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan asks for the copies and deletes them; a note says that only they tell the rest."""
    for name in lost:
        boto3.client("dynamodb").delete_table(TableName=f"{name}-at-20261122T080000Z")
    around = (NOW - timedelta(days=1), NOW)
    monkeypatch.setattr(TableCopy, "_window", lambda _: around)
    words = ("restore", "rows", "--at", AT, "--account", SHOP)
    for more in ((), ("--replace", "accounts", SHOP)):
        planned = dry(*words, *more)
        assert [call["operation"] for call in planned] == [
            *("RestoreTableToPointInTime", "RestoreTableToPointInTime"),
            *("DeleteTable", "DeleteTable"),
        ]
    note = Operator().plain(*DEV, *words, "--dry-run").stderr
    assert "Only the copies tell which rows are missing" in note
    assert len(boto3.client("dynamodb").list_tables()["TableNames"]) == 2


def stack_in_aws(operation: str, parameters: Any) -> Any:
    """Answer as AWS would about the example stack, and accept every change."""
    match operation:
        case "CreateChangeSet":
            return {"Id": "change-set", "StackId": "new-stack"}
        case "DescribeChangeSet":
            return {"Status": "CREATE_COMPLETE"}
        case "Subscribe":
            return {"SubscriptionArn": "pending confirmation"}
        case "DescribeStacks" if parameters.get("StackName") == "new-stack":
            stack = {"StackId": "1", "StackName": "new", "StackStatus": "IMPORT_COMPLETE"}
            return {"Stacks": [stack]}
        case _ if operation.startswith(READS):
            return example_stack.answer(operation, parameters)
    return {}


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine without credentials, region and network."""
    before = dict(os.environ)
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]

    def refuse(*_: object) -> None:
        raise AssertionError("a dry run on the example stack called somebody")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    yield
    os.environ.clear()
    os.environ.update(before)


EXAMPLES: Final = (
    (("restore", "stack", "kept-1", "kept-2"), ("--yes",), f"{example_stack.NAME}-restored"),
    (("alarms", "subscribe", "https://ops.example"), (), example_stack.NAME),
    (
        ("restore", "rows", "--at", "2h", "--account", "example00000", "--messages"),
        ("--yes",),
        example_stack.NAME,
    ),
    (
        (
            *("restore", "rows", "--at", "2h", "--account", "example00000"),
            *("--replace", "accounts", "example00000"),
        ),
        ("--yes",),
        example_stack.NAME,
    ),
)


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize(("words", "yes", "name"), EXAMPLES)
def test_a_rehearsal_without_aws(
    words: tuple[str, ...], yes: tuple[str, ...], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("admin.restore.utc_now", lambda: NOW)
    monkeypatch.setattr(stacks, "_POLL_SECONDS", 0)
    window = (NOW - timedelta(days=1), NOW)
    monkeypatch.setattr(TableCopy, "_window", lambda _: window)
    planned = dry(*words, stack=("--local",))
    copied: set[str] = set()

    def answer(operation: str, parameters: Any) -> Any:
        if operation == "RestoreTableToPointInTime":
            copied.add(parameters["TargetTableName"])
        if operation == "DescribeTable" and parameters["TableName"] in copied:
            return {"Table": {"TableStatus": "ACTIVE"}}
        return stack_in_aws(operation, parameters)

    with watched(answer) as made:
        result = Operator().plain("--stack-name", name, "--json", *words, *yes)
    assert result.exit_code == 0, result.output
    assert planned
    assert_same(planned, made)


@pytest.mark.usefixtures("no_network")
def test_people_see_the_plan_and_no_result() -> None:
    result = Operator().plain("--local", "alarms", "subscribe", "https://ops.example", "--dry-run")
    assert result.exit_code == 0
    assert "Subscribe" in result.stdout
    assert result.stderr == "This was a dry run: nothing was changed.\n"


@pytest.mark.usefixtures("table")
def test_a_call_that_nobody_thought_about_is_not_made() -> None:
    with recorded(), pytest.raises(TypeError, match="sqs:CreateQueue"):
        boto3.client("sqs").create_queue(QueueName="new")
    assert "QueueUrls" not in boto3.client("sqs").list_queues()
