"""The CPU of accepting one email over HTTP, with five calls to the local engine.

    .venv/bin/python -m benchmarks.accept_cpu [--instructions | FOLDER…]

It measures this checkout with both clients of DynamoDB and SQS, and the checkouts in other folders
with their default, each in a process of its own with the same Python. The processes take turns, so
the load of the machine is the same for all, and the ratio to botocore says more than the
milliseconds. With `--instructions` valgrind counts
those of both clients instead, with prepared responses and without system calls.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

import boto3

from benchmarks.accepting import MAIL
from benchmarks.cold_start import LAYER, PYTHON, instructions, prepare
from local.engine import Engine
from pillarbox.adapters.dynamodb import records
from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.accounts.key import ANYONE, AgentSettings, Confirmation
from pillarbox.settings import Settings
from tests.aws import create_table
from tests.fakes import builders
from tests.stack import free_port

ROOT: Final = Path(__file__).parent.parent
_TURNS: Final = 200
#: Accepts emails. AWS is the server below, and no name server responds.
_ACCEPT: Final = """
import json, os
from types import SimpleNamespace
import app
from pillarbox.adapters.dns import DnsMailDomains
from pillarbox.application.ports import DomainVerdict

DnsMailDomains.look_up = lambda _, domains: dict.fromkeys(domains, DomainVerdict.ACCEPTS)
context = SimpleNamespace(
    aws_request_id="1", function_name="f", memory_limit_in_mb=1024, invoked_function_arn="arn"
)
for _ in range(int(os.environ["EMAILS"])):
    answer = app.lambda_handler(json.loads(os.environ["EVENT"]), context)
    assert answer["statusCode"] == 200, answer
"""
#: Gives each operation of AWS its prepared response, and prints its port first.
_SERVER: Final = """
import json, re, socketserver, sys

answers = json.loads(sys.argv[1])

class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        while line := self.rfile.readline():
            head = line
            while head[-4:] != b"\\r\\n\\r\\n":
                head += self.rfile.readline()
            self.rfile.read(int(re.search(rb"(?i)content-length: (\\d+)", head)[1]))
            operation = re.search(rb"(?i)x-amz-target: \\w+\\.(\\w+)", head)[1].decode()
            body = json.dumps(answers.get(operation, {})).encode()
            self.wfile.write(b"HTTP/1.1 200 OK\\r\\ncontent-type: application/x-amz-json-1.0\\r\\n"
                b"x-amzn-requestid: 1\\r\\ncontent-length: %d\\r\\n\\r\\n" % len(body) + body)

class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

with Server(("127.0.0.1", 0), Handler) as server:
    print(server.server_address[1], flush=True)
    server.serve_forever()
"""

#: At each line on its standard input it accepts five emails, and prints the milliseconds of one.
_PROGRAM: Final = """
import json, os, sys, time
from types import SimpleNamespace
import app
from pillarbox.adapters.dns import DnsMailDomains
from pillarbox.application.ports import DomainVerdict

event, emails = sys.argv[1], 5
context = SimpleNamespace(
    aws_request_id="1", function_name="f", memory_limit_in_mb=1024, invoked_function_arn="arn"
)
DnsMailDomains.look_up = lambda _, domains: dict.fromkeys(domains, DomainVerdict.ACCEPTS)
output = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the log goes there
for _ in sys.stdin:
    events = [json.loads(event) for _ in range(emails)]
    for one in events:
        one["multiValueHeaders"]["Idempotency-Key"] = [str(time.time_ns())]
    before = time.process_time()
    answers = [app.lambda_handler(one, context) for one in events]
    print((time.process_time() - before) * 1000 / emails, file=output, flush=True)
    assert all(answer["statusCode"] == 200 for answer in answers), answers
"""


def main() -> None:
    """Print a table in Markdown."""
    if sys.argv[1:] == ["--instructions"]:
        print_instructions()
    else:
        asyncio.run(measure([*map(Path, sys.argv[1:])]))


async def measure(checkouts: list[Path]) -> None:
    """Start the engine and a process for each checkout and client, and let them take turns."""
    measured = [(ROOT, "botocore"), (ROOT, "direct"), *((other, "") for other in checkouts)]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        async with engine_with_key(Path(folder)) as key:
            os.environ["POWERTOOLS_SERVICE_NAME"] = "benchmark"
            event = json.dumps(post(key, MAIL))
            handlers = [
                stack.enter_context(start(checkout, event, client)) for checkout, client in measured
            ]
            turns = [[take_turn(handler) for handler in handlers] for _ in range(_TURNS)]
    # Other processes, which empty the caches, can only add: so the tenth that took least.
    figures = [statistics.quantiles(spent, n=10)[0] for spent in zip(*turns, strict=True)]
    print("| checkout, client | ms of CPU | ratio | median of the turns' ratios |")
    print("|---|---|---|---|")
    for number, (checkout, client) in enumerate(measured):
        median = statistics.median(turn[number] / turn[0] for turn in turns)
        ratio = figures[number] / figures[0]
        print(f"| {checkout} {client} | {figures[number]:.2f} | {ratio:.2f} | {median:.2f} |")


@asynccontextmanager
async def engine_with_key(folder: Path) -> AsyncIterator[str]:
    """Run the engine with tables, queues, an account and its key; yield the key's text."""
    engine = Engine(folder, free_port(), {"AUTH": "false"})
    await engine.start()
    try:
        os.environ.update(engine.aws_environment, AWS_DEFAULT_REGION="eu-west-1")
        tables = {"table": "pillarbox", "credentials_table": "pillarbox-credentials"}
        for table in tables.values():
            create_table(table)
        queues = {
            name: boto3.client("sqs").create_queue(QueueName=name)["QueueUrl"]
            for name in ("jobs_queue_url", "urgent_jobs_queue_url")
        }
        os.environ.update(builders.environment("functions", **tables, **queues))
        text = builders.key_text()
        items = {
            "table": records.account_item(builders.account(plan=Plan.ENTERPRISE)),
            "credentials_table": records.key_item(builders.api_key(text)),
        }
        for name, item in items.items():
            boto3.client("dynamodb").put_item(TableName=tables[name], Item=item)
        yield text
    finally:
        await engine.stop()


def post(key: str, body: object) -> dict[str, Any]:
    """Return the event of a POST request, as API Gateway sends it."""
    headers = {"User-Agent": "shop/1.0", "X-API-Key": key}
    return {
        "resource": "/v1/emails",
        "path": "/v1/emails",
        "httpMethod": "POST",
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "pathParameters": None,
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "requestContext": {"requestId": "benchmark", "stage": "api"},
        "body": json.dumps(body),
        "isBase64Encoded": False,
    }


def agent_variables() -> dict[str, str]:
    """Return the variables of a function, with an event of an agent's key and AWS's answers."""
    text = builders.key_text()
    agent = AgentSettings(recipients=(ANYONE,), confirmation=Confirmation.OFF)
    items = [
        records.account_item(builders.account()),
        records.key_item(builders.api_key(text, agent=agent)),
    ]
    answers = {
        "BatchGetItem": {"Responses": {Settings(builders.environment()).table: items}},
        "UpdateItem": {"Attributes": {"used": {"N": "1"}}},
    }
    return builders.environment() | {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "POWERTOOLS_SERVICE_NAME": "benchmark",
        "EVENT": json.dumps(post(text, MAIL)),
        "ANSWERS": json.dumps(answers),
    }


def print_instructions() -> None:
    """Print the instructions of one email of an agent: the difference between 30 and 10."""
    prepare()
    variables = agent_variables()
    path = (ROOT / "functions" / "send_email", ROOT / "layers" / "shared", LAYER)
    server = subprocess.Popen([PYTHON, "-c", _SERVER, variables["ANSWERS"]], stdout=subprocess.PIPE)
    with server:
        port = cast("IO[bytes]", server.stdout).readline().decode().strip()
        variables |= {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
        of_botocore = 0.0
        for client in ("botocore", "direct"):
            chosen = variables | {Settings.aws_client.variable: client}
            less, more = (
                instructions(_ACCEPT, *path, **chosen, EMAILS=str(count)) for count in (10, 30)
            )
            count = (more - less) / 20
            of_botocore = of_botocore or count
            print(f"| {client} | {count:.2f} M | {count / of_botocore:.2f} |", flush=True)
        server.kill()


def start(checkout: Path, event: str, client: str) -> subprocess.Popen[str]:
    """Start a process with the handler of a checkout; it ends when its standard input does."""
    variables = {Settings.aws_client.variable: client} if client else {}
    path = (checkout / "functions" / "send_email", checkout / "layers" / "shared")
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, event],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))} | variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def take_turn(handler: subprocess.Popen[str]) -> float:
    """Let a process accept some emails, and return the milliseconds of CPU of one."""
    commands, answers = cast("IO[str]", handler.stdin), cast("IO[str]", handler.stdout)
    print(file=commands, flush=True)
    return float(answers.readline())


if __name__ == "__main__":
    main()
