"""The cost of a cold start in instructions, which do not depend on the load of the machine.

    .venv/bin/python -m benchmarks.cold_start    (valgrind must be installed)

Each function is imported and creates its first client, as its first request does. The
environment has only what the layer and the runtime have, compiled beforehand. The floor is an
interpreter with the runtime's boto3 and the same clients.

The last column also has the first request, so that no work hides behind the first client. AWS
responds inside botocore and no name server responds, so it has no connection.
"""

import json
import os
import re
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from benchmarks.accepting import MAIL
from pillarbox.adapters.dynamodb import records
from pillarbox.domain.accounts.agent import ANYONE, AgentSettings, Confirmation
from pillarbox.domain.accounts.key import KeyType, new_key_text
from tests.fakes import builders

ROOT: Final = Path(__file__).parent.parent
ENVIRONMENT: Final = ROOT / ".local" / "cold-start"
PYTHON: Final = ENVIRONMENT / "bin" / "python"
LAYER: Final = ENVIRONMENT / "layer"

_FLOOR_TWO: Final = "import boto3; boto3.client('dynamodb'); boto3.client('sqs')"
_FLOOR_ONE: Final = "import boto3; boto3.client('dynamodb')"

_SENDING: Final = "services().single_send; services().table.client; services().jobs._sqs"
_READING: Final = "services().authentication; services().table.client"
_SESSION: Final = "services().session_authentication; services().table.client"
_CALLER: Final = "services().caller_authentication; services().table.client"

#: The first client of each function, its floor and its goal. A function of the dashboard also
#: creates the use case of the page that calls it.
PROGRAMS: Final = {
    "send_email": (_SENDING, _FLOOR_TWO, 1.25),
    "mcp": (_SENDING, _FLOOR_TWO, 1.25),
    "get_message": (f"services().message_lookup; {_READING}", _FLOOR_ONE, 1.15),
    "list_starter_templates": (_READING, _FLOOR_ONE, 1.15),
    "preview_starter_template": (_READING, _FLOOR_ONE, 1.15),
    "sign_in": ("services().sign_in; services().credentials.client", _FLOOR_ONE, 1.25),
    "mail_code": (
        "services().code_mail.send_mail.jobs._sqs; services().credentials.client",
        _FLOOR_TWO,
        1.25,
    ),
    "create_account": (f"services().sign_up; {_SESSION}", _FLOOR_ONE, 1.25),
    "manage_account": (
        f"services().accounts; services().account_usage; {_SESSION}",
        _FLOOR_ONE,
        1.25,
    ),
    "manage_members": (f"services().account_members; {_SESSION}", _FLOOR_ONE, 1.25),
    "manage_keys": (f"services().api_keys; services().key_uses; {_SESSION}", _FLOOR_ONE, 1.25),
    "manage_domains": (f"services().account_domains; {_SESSION}", _FLOOR_ONE, 1.25),
    "edit_templates": (f"services().template_editing; {_SESSION}", _FLOOR_ONE, 1.25),
    "operate": (
        "services().account_list; services().operator_authentication; services().table.client",
        _FLOOR_ONE,
        1.25,
    ),
    "read_webhooks": (f"services().webhook_queries; {_CALLER}", _FLOOR_ONE, 1.25),
    "write_webhooks": (f"services().webhooks; {_CALLER}", _FLOOR_ONE, 1.25),
}

#: What every function finds in its environment, and the switches that the functions above read.
SETTINGS: Final = builders.environment() | {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "eu-west-1",
    "POWERTOOLS_SERVICE_NAME": "benchmark",
    "POWERTOOLS_METRICS_NAMESPACE": "Pillarbox",
    "PILLARBOX_WEBHOOKS": "on",
    "PILLARBOX_SIGN_UP": "open",
    "PILLARBOX_PLAN_OF_NEW_ACCOUNTS": "free",
}


#: Handles one request. AWS responds with what the variable ANSWERS has for an operation.
_REQUEST: Final = """
import json, os
from types import SimpleNamespace
import app, botocore.httpsession
from botocore.awsrequest import AWSResponse

answers = json.loads(os.environ["ANSWERS"])

def send(_, request):
    operation = request.headers["X-Amz-Target"]
    operation = operation.decode() if isinstance(operation, bytes) else operation
    response = AWSResponse(request.url, 200, {}, None)
    response._content = json.dumps(answers.get(operation.split(".")[1], {})).encode()
    return response

botocore.httpsession.URLLib3Session.send = send
context = SimpleNamespace(
    aws_request_id="1", function_name="f", memory_limit_in_mb=1024, invoked_function_arn="arn"
)
answer = app.lambda_handler(json.loads(os.environ["EVENT"]), context)
assert answer["statusCode"] == 200, answer
"""
#: So that a look-up is made and ends at once.
_NO_NAME_SERVER: Final = """
import dns.exception, dns.resolver

def resolve(*_, **__):
    raise dns.exception.Timeout

dns.resolver.Resolver.resolve = resolve
"""


def post(key: str, body: object, path: str = "/v1/emails") -> dict[str, Any]:
    """Return the event of a POST request, as API Gateway sends it."""
    headers = {"User-Agent": "shop/1.0", "X-API-Key": key}
    return {
        "resource": path,
        "path": path,
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


def first_requests() -> dict[str, tuple[str, dict[str, str]]]:
    """Return a program and its variables for each function that parses a body."""
    text = new_key_text(builders.ACCOUNT, KeyType.LIVE)
    # Without a confirmation, which would need a second request to the MCP server.
    agent = AgentSettings(recipients=(ANYONE,), confirmation=Confirmation.OFF)
    key = builders.api_key(text, agent=agent)
    items = [records.account_item(builders.account()), records.key_item(key)]
    answers = {
        "BatchGetItem": {"Responses": {SETTINGS["PILLARBOX_TABLE"]: items}},
        "UpdateItem": {"Attributes": {"used": {"N": "1"}}},
    }
    preview = post(text, {"variables": MAIL["variables"]}, "/v1/starter-templates/{slug}/preview")
    preview |= {"pathParameters": {"slug": "password_reset"}}
    rpc = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call = rpc | {"params": {"name": "send_email", "arguments": MAIL}}
    return {
        "mcp": (_NO_NAME_SERVER + _REQUEST, _variables(post(text, call, "/v1/mcp"), answers)),
        "send_email": (_NO_NAME_SERVER + _REQUEST, _variables(post(text, MAIL), answers)),
        "preview_starter_template": (_REQUEST, _variables(preview, answers)),
    }


def _variables(event: dict[str, Any], answers: dict[str, Any]) -> dict[str, str]:
    return {"EVENT": json.dumps(event), "ANSWERS": json.dumps(answers)}


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
            *("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"),
            *(PYTHON, "-c", program),
        ],
        env=os.environ | SETTINGS | {"PYTHONPATH": os.pathsep.join(map(str, path))} | variables,
        check=True,
        capture_output=True,
        text=True,
    )
    collected = re.search(r"Collected : (\d+)", process.stderr)
    if collected is None:
        raise RuntimeError(process.stderr)
    return int(collected[1]) // 1_000_000


def main() -> None:
    """Print the figures as a table."""
    prepare()
    empty = instructions("pass")
    floors = {floor: instructions(floor) for floor in (_FLOOR_ONE, _FLOOR_TWO)}
    print(f"an empty interpreter: {empty} M; the floors: {sorted(floors.values())} M\n")
    print("| function | M instructions | floor | ratio | goal | with the first request |")
    print("|---|---|---|---|---|---|")
    requests = first_requests()
    counts: dict[str, int] = {}
    for name, (first_client, floor, goal) in PROGRAMS.items():
        path = (ROOT / "functions" / name, ROOT / "layers" / "shared", LAYER)
        program = f"import app; from pillarbox.wiring import services; {first_client}"
        count = instructions(program, *path)
        counts[name] = count
        ratio = (count - empty) / (floors[floor] - empty)
        more = ""
        if name in requests:
            program, variables = requests[name]
            more = f"{instructions(program, *path, **variables)}"
        print(f"| {name} | {count} | {floors[floor]} | {ratio:.2f} | {goal} | {more} |")
    of_sends = counts["mcp"] / counts["send_email"]
    print(f"\nthe cold start of mcp is {of_sends:.3f} of that of send_email; the goal is 1.05")


if __name__ == "__main__":
    main()
