"""A table in memory with the keys of the template, and a local stack around it."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from socketserver import ThreadingUDPServer
from typing import Any
from urllib.parse import parse_qsl

import boto3
import pytest
import uvicorn
from botocore.client import BaseClient

from admin.aws import kept_table, stacks
from local.ses.account import StoredAccount
from local.ses.app import ses_app
from local.ses.store import MailStore
from pillarbox.adapters import sdk
from pillarbox.adapters.dynamodb.service_address import DynamoServiceAddress
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.management_api import HttpApiProbe
from pillarbox.domain.errors import Json
from pillarbox.settings import Settings
from pillarbox.wiring import utc_now
from tests.aws import create_table, emulated_aws, forget_wiring
from tests.contract.client import Api
from tests.fakes import builders
from tests.integration.admin.aws_stubs import Stubs
from tests.integration.admin.name_server import Answers
from tests.integration.admin.operator_command import Operator
from tests.integration.admin.rights import Judge
from tests.integration.admin.stand_in_servers import MAPPING
from tests.servers import running
from tests.stack import PATIENCE

TABLE = "pillarbox-table"
CREDENTIALS = "pillarbox-credentials"
SPOOL = "pillarbox-spool"
API_URL = "https://mail.example"
SETTINGS = Settings({"PILLARBOX_TABLE": TABLE, "PILLARBOX_CREDENTIALS_TABLE": CREDENTIALS})


def _once(make: Callable[..., Any]) -> Callable[..., Any]:
    made = cache(lambda _environment, *which, **more: make(*which, **more))

    def client(*which: Any, **more: Any) -> Any:
        environment = {name: text for name, text in os.environ.items() if name.startswith("AWS_")}
        return made(frozenset(environment.items()), *which, **more)

    return client


_client, _sdk_client = _once(boto3.client), _once(sdk.make_sdk_client)


_request = HttpApiProbe.request


def ask_functions(
    probe: HttpApiProbe,
    method: str,
    path: str,
    *,
    key: str | None = None,
    body: Json = None,
    headers: Mapping[str, str] | None = None,
) -> tuple[int, Json]:
    """Answer a request to the API in this process, as its functions do; others are made."""
    if probe._base != f"{API_URL}/api":
        return _request(probe, method, path, key=key, body=body, headers=headers)
    path, _sign, query = path.removeprefix("/v1").partition("?")
    text = None if body is None else json.dumps(body)
    answer = Api(key).raw(method, path, text, headers, query=dict(parse_qsl(query)))
    return answer.status, answer.json if answer.text else None


def create_stack(name: str, parameters: Mapping[str, Any] | None = None, **outputs: str) -> None:
    """Create a stack with a topic for alarms, and with outputs, in emulated AWS."""
    body = {
        "Parameters": parameters or {},
        "Resources": {"AlarmTopic": {"Type": "AWS::SNS::Topic"}},
        "Outputs": {output: {"Value": value} for output, value in outputs.items()},
    }
    boto3.client("cloudformation").create_stack(StackName=name, TemplateBody=json.dumps(body))


@pytest.fixture
def topic(table: Table) -> str:
    """The topic of the stack `pillarbox-dev` in emulated AWS."""
    assert table.name
    create_stack("pillarbox-dev")
    resource = boto3.client("cloudformation").describe_stack_resource(
        StackName="pillarbox-dev", LogicalResourceId="AlarmTopic"
    )
    arn: str = resource["StackResourceDetail"]["PhysicalResourceId"]
    return arn


@pytest.fixture
def deployed(table: Table, credentials: Table) -> str:
    """The stack `pillarbox-dev`, which has both tables, in emulated AWS."""
    create_stack("pillarbox-dev", TableName=table.name, CredentialsTableName=credentials.name)
    return "pillarbox-dev"


@pytest.fixture
def table() -> Iterator[Table]:
    """A table in an in-process AWS; the environment is restored afterwards."""
    before = dict(os.environ)
    for name in [name for name in os.environ if name.startswith(("AWS_", "PILLARBOX_"))]:
        del os.environ[name]
    os.environ.update(
        AWS_ACCESS_KEY_ID="test",
        AWS_SECRET_ACCESS_KEY="test",
        AWS_DEFAULT_REGION="us-east-1",
    )
    with emulated_aws():
        create_table(TABLE)
        create_table(CREDENTIALS)
        yield Table(TABLE)
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def shared(table: Table, monkeypatch: pytest.MonkeyPatch) -> Table:
    """The table, for tests that share their clients: a command makes dozens, in 4 ms each.

    Not for dry runs, whose hooks a shared client would keep.
    """
    monkeypatch.setattr(boto3, "client", _client)
    monkeypatch.setattr(sdk, "make_sdk_client", _sdk_client)
    return table


@pytest.fixture
def credentials(table: Table) -> Table:
    assert table.name == TABLE
    return Table(CREDENTIALS)


class _SesOfTest:
    """Answers with the local SES of the test that runs."""

    app: Any

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app(scope, receive, send)


@pytest.fixture(scope="package")
def ses_server() -> Iterator[tuple[str, _SesOfTest]]:
    """One server for all tests, so that they share the clients of its address."""
    served = _SesOfTest()
    config = uvicorn.Config(
        served,
        "127.0.0.1",
        0,
        lifespan="off",
        log_level="critical",
        access_log=False,
        timeout_keep_alive=600,  # a client that waited for longer would find its connection closed
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    (listener,) = server.servers[0].sockets
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", served
    server.should_exit = True
    thread.join(PATIENCE)


@pytest.fixture
def ses(ses_server: tuple[str, _SesOfTest]) -> Iterator[tuple[str, MailStore]]:
    """The local SES, with its address."""
    mailbox = MailStore(account=StoredAccount(review="GRANTED"))

    async def emit(_record: Any) -> None:
        """These tests send no mail, so there are no events."""

    url, served = ses_server
    served.app = ses_app(mailbox, emit)
    yield url, mailbox
    assert not mailbox.unknown_operations, "the command calls what the stand-in has no row for"


@pytest.fixture(scope="session")
def name_server() -> Iterator[str]:
    # It runs as long as its worker, and so should wake rarely.
    with running(ThreadingUDPServer(("127.0.0.1", 0), Answers), pause=0.5) as (host, port):
        yield f"{host}:{port}"


@pytest.fixture(autouse=True)
def judge(monkeypatch: pytest.MonkeyPatch) -> Judge:
    """Refuse a call of a command that its policy does not allow (`pillarbox policy`)."""
    judge = Judge()
    client: Any = BaseClient
    emit = client._emit_api_params

    def judged(self: Any, api_params: Any, operation_model: Any, context: Any) -> Any:
        judge.check(operation_model, api_params)
        return emit(self, api_params, operation_model, context)

    monkeypatch.setattr(client, "_emit_api_params", judged)
    return judge


@pytest.fixture
def mailbox(
    shared: Table,
    ses: tuple[str, MailStore],
    name_server: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> MailStore:
    """The local SES of a stack that has a state file."""
    boto3.client("s3").create_bucket(Bucket=SPOOL)
    environment = {
        "PILLARBOX_STACK": "pillarbox",
        "PILLARBOX_API_URL": API_URL,
        "PILLARBOX_CONFIGURATION_SET": "pillarbox",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL_SESV2": ses[0],
        "PILLARBOX_DNS_SERVERS": name_server,
        "PILLARBOX_TABLE": shared.name,
        "PILLARBOX_CREDENTIALS_TABLE": CREDENTIALS,
        "PILLARBOX_SPOOL_BUCKET": SPOOL,
        "PILLARBOX_WEBHOOKS_QUEUE_URL": boto3.client("sqs").create_queue(QueueName="webhooks")[
            "QueueUrl"
        ],
        "PILLARBOX_LOCAL_WEBHOOKS": "true",
        "PILLARBOX_RECEIVED_MAPPING": MAPPING,
    }
    silent = {"POWERTOOLS_LOG_LEVEL": "CRITICAL", "POWERTOOLS_SERVICE_NAME": "silent"}
    functions = builders.environment() | environment | silent
    for name, text in functions.items():
        monkeypatch.setenv(name, text)
    forget_wiring()
    monkeypatch.setattr(HttpApiProbe, "request", ask_functions)
    DynamoServiceAddress(shared, utc_now).store(environment["PILLARBOX_API_URL"])
    (tmp_path / "stack.json").write_text(json.dumps({"environment": environment}))
    monkeypatch.setenv("PILLARBOX_STATE_DIR", str(tmp_path))
    return ses[1]


@pytest.fixture
def run(mailbox: MailStore) -> Operator:
    assert mailbox.identities() == {}
    return Operator()


@pytest.fixture
def account(run: Operator) -> str:
    made: str = run("account", "create", "--name", "Shop", "--plan", "standard")["id"]
    return made


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stubs]:
    stubs = Stubs()
    for module in (kept_table, stacks):
        monkeypatch.setattr(module, "_POLL_SECONDS", 0)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setattr(boto3, "client", stubs.client)
    monkeypatch.setattr(boto3.Session, "client", lambda _, service: stubs.client(service))
    yield stubs
    stubs.assert_asked()
