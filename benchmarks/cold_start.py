"""The cost of a cold start in instructions, which do not depend on the load of the machine.

    .venv/bin/python -m benchmarks.cold_start [FUNCTION…]

It needs valgrind and a running local stack (`make up`). Without a name it measures all functions of
the stack, which takes half an hour. Each has its variables of the stack, handles its sample of
`events/`, and calls AWS over TLS. The environment has only what the layer and the runtime have,
compiled beforehand.

There are two figures, because Lambda loads the handler's module with a whole processor, and gives
a request the share that belongs to the function's memory (docs/decisions/aws.md, "Loading").
"""

import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from http.server import ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from threading import Thread
from time import time
from typing import Any, Final
from urllib.parse import urlsplit

import boto3

from admin.connection import sdk_pointed_at
from admin.local_stack import read_local_stack
from local import relay
from local.samples import camel_case, sample_event, values_of
from local.seed import OWNER
from pillarbox.settings import Settings
from pillarbox.wiring import Wiring
from tests.fakes import builders
from tests.servers import Handler

ROOT: Final = Path(__file__).parent.parent
ENVIRONMENT: Final = ROOT / ".local" / "cold-start"
PYTHON: Final = ENVIRONMENT / "bin" / "python"
LAYER: Final = ENVIRONMENT / "layer"

#: Million instructions of the first request, at most.
_GOAL: Final = 20
_GOALS: Final = {"deliver_message": 60}
_LOAD: Final = "import app"
_FIRST: Final = """
import json, os
from types import SimpleNamespace
import app

context = SimpleNamespace(
    aws_request_id="1", function_name="f", memory_limit_in_mb=1024, invoked_function_arn="arn",
    get_remaining_time_in_millis=lambda: 300_000,
)
answer = app.lambda_handler(json.loads(os.environ["EVENT"]), context)
with open(os.environ["ANSWER"], "w") as file:
    json.dump(answer, file)
"""
#: The email whose job `deliver_message` gets.
_CODE: Final = {"app_name": "Shop", "otp_code": "123456", "expiry_minutes": "10"}


def prepare() -> None:
    """Create the runtime's environment and the layer's folder, with every file compiled."""
    uv = str(ROOT / ".uv" / "bin" / "uv")
    source = ROOT / "layers" / "shared"
    _run(uv, "venv", "--clear", ENVIRONMENT)
    install = (uv, "pip", "install", "--python", PYTHON)
    _run(*install, "--compile-bytecode", f"boto3=={version('boto3')}")
    shutil.rmtree(LAYER, ignore_errors=True)
    _run(*install, "--target", LAYER, "-r", source / "requirements.txt")
    _run(PYTHON, source / "trim_sdk.py", LAYER)
    _run(PYTHON, "-m", "compileall", "-q", LAYER, source, ROOT / "functions")


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def instructions(program: str, *path: Path, **variables: str) -> int:
    """Count the instructions that a program executes, in millions."""
    process = subprocess.run(
        [
            *("valgrind", "--tool=cachegrind", "--cache-sim=no"),
            "--cachegrind-out-file=/dev/null",
            *(PYTHON, "-c", program),
        ],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))} | variables,
        check=True,
        capture_output=True,
        text=True,
    )
    collected = re.search(r"I +refs: +([\d,]+)", process.stderr)
    if collected is None:
        raise RuntimeError(process.stderr)
    return int(collected[1].replace(",", "")) // 1_000_000


class _Tls(Handler):
    """Takes requests over TLS and passes them on to a server of the stack."""

    protocol_version = "HTTP/1.1"
    target = ""

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        # The server takes requests to itself only.
        headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        server = http.client.HTTPConnection(self.target)
        server.request(self.command, self.path, body, headers)
        response = server.getresponse()
        answer = response.read()
        self.send_response_only(response.status)
        for name, value in response.getheaders():
            if name.lower() not in {"content-length", "connection", "transfer-encoding"}:
                self.send_header(name, value)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _pass_on  # noqa: N815  http.server


def over_tls(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Let the endpoints of AWS speak TLS; return the variables that functions inherit."""
    certificate = relay.self_signed()
    pair, trusted = folder / "pair.pem", folder / "trusted.pem"
    pair.write_bytes(certificate.chain + certificate.key)
    trusted.write_bytes((LAYER / "amazon.pem").read_bytes() + certificate.chain)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pair)
    inherited = ("AWS_", Settings.dns_servers.variable)
    variables = {name: text for name, text in environment.items() if name.startswith(inherited)}
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_SESV2"):
        handler = type("Handler", (_Tls,), {"target": urlsplit(variables[name]).netloc})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        Thread(target=server.serve_forever, daemon=True).start()
        variables[name] = f"https://localhost:{server.server_port}"
    return variables | {"AWS_CA_BUNDLE": str(trusted)}


def deployed_variables() -> dict[str, dict[str, str]]:
    """Return the variables of each function that the stack has, by its name in the template."""
    functions = boto3.client("lambda").list_functions(MaxItems=1000)["Functions"]
    return {
        each["FunctionName"].split("-")[1]: each["Environment"]["Variables"] for each in functions
    }


def event_of(function: str, stack: Mapping[str, Any]) -> str:
    """Return the sample event of a function; what sends a code gets a job or a request of now."""
    if function != "deliver_message":
        sample = sample_event(camel_case(function), values_of(stack))
        now = {"address": OWNER, "at": int(time() * 1000)} if function == "mail_code" else {}
        return json.dumps(json.loads(sample) | now)
    sqs = boto3.client("sqs")
    queue = sqs.create_queue(QueueName=f"cold-start-{os.getpid()}")["QueueUrl"]
    queues = (Settings.jobs_queue_url.variable, Settings.urgent_jobs_queue_url.variable)
    wiring = Wiring(Settings(stack["environment"] | dict.fromkeys(queues, queue)))
    mail = builders.request(starter_template="otp", variables=_CODE, html=None, subject=None)
    wiring.single_send.submit(
        stack["keys"]["live"], mail, None, str, origin=None, request_id="benchmark"
    )
    (job,) = sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=5)["Messages"]
    sqs.delete_message(QueueUrl=queue, ReceiptHandle=job["ReceiptHandle"])
    times = ("SentTimestamp", "ApproximateFirstReceiveTimestamp")
    record = {
        "messageId": "1",
        "receiptHandle": job["ReceiptHandle"],
        "body": job["Body"],
        "attributes": dict.fromkeys(times, str(int(time() * 1000)))
        | {"ApproximateReceiveCount": "1", "SenderId": "benchmark"},
        "messageAttributes": {},
        "md5OfBody": job["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:cold-start",
        "awsRegion": "us-east-1",
    }
    return json.dumps({"Records": [record]})


def main() -> None:
    """Print the figures as a table."""
    prepare()
    stack = read_local_stack()
    print("| function | loading | first request | goal | answer |\n|---|---|---|---|---|")
    with sdk_pointed_at(stack["environment"]), tempfile.TemporaryDirectory() as folder:
        tls, deployed = over_tls(stack["environment"], Path(folder)), deployed_variables()
        answer = Path(folder) / "answer"
        # The stack does not have the function that only CloudFormation invokes.
        names = sorted(path.parent.name for path in ROOT.glob("functions/*/app.py"))
        for name in sys.argv[1:] or [name for name in names if camel_case(name) in deployed]:
            path = (ROOT / "functions" / name, ROOT / "layers" / "shared", LAYER)
            more = {"AWS_LAMBDA_FUNCTION_NAME": name, "ANSWER": str(answer)}
            more["EVENT"] = event_of(name, stack)
            variables = deployed[camel_case(name)] | tls | more
            loading = instructions(_LOAD, *path, **variables)
            first = instructions(_FIRST, *path, **variables) - loading
            given = json.loads(answer.read_text())
            status = given.get("statusCode", given) if given else given
            goal = _GOALS.get(name, _GOAL)
            print(f"| {name} | {loading} | {first} | {goal} | {status} |", flush=True)


if __name__ == "__main__":
    main()
