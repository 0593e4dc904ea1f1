"""The cost of a cold start in instructions, which do not depend on the load of the machine.

    .venv/bin/python -m benchmarks.cold_start [FUNCTION…]    (valgrind must be installed)

Without a name it measures all of `functions/`, which takes half an hour. Each function is imported
and creates its first client, as its first request does. The environment has only what the layer
and the runtime have, compiled beforehand. The floor is an interpreter with the runtime's boto3 and
the same clients.

The last column also has the first request, so that no work hides behind the first client. AWS
responds inside the client and no name server responds, so it has no connection.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from benchmarks.accepting import MAIL
from pillarbox.adapters.dynamodb import records
from pillarbox.domain.accounts.key import ANYONE, AgentSettings, Confirmation, KeyType, new_key_text
from tests.fakes import builders

ROOT: Final = Path(__file__).parent.parent
ENVIRONMENT: Final = ROOT / ".local" / "cold-start"
PYTHON: Final = ENVIRONMENT / "bin" / "python"
LAYER: Final = ENVIRONMENT / "layer"

_FLOOR_TWO: Final = "import boto3; boto3.client('dynamodb'); boto3.client('sqs')"
_FLOOR_ONE: Final = "import boto3; boto3.client('dynamodb')"

_TABLE: Final = "services().table.client"
_CALLER: Final = f"services().caller_authentication; {_TABLE}"
_SESSION: Final = f"services().session_authentication; {_TABLE}"
_QUEUE: Final = "services().jobs._sqs"
#: One reads the rate, and one sends.
_SES: Final = "d = services().delivery; d.mailer._ses; d.rate._read_rate.__self__._ses"

#: The first clients of each function and its floor: those that have a queue have two. A function of
#: the dashboard also creates the use case of the page that calls it.
PROGRAMS: Final = {
    "aggregate_stats": (f"services().aggregation; {_TABLE}", _FLOOR_ONE),
    "announce_events": (f"services().announcement; {_TABLE}; {_QUEUE}", _FLOOR_TWO),
    "change_message": (f"services().changes; {_CALLER}; {_QUEUE}", _FLOOR_TWO),
    "create_account": (f"services().sign_up; {_SESSION}", _FLOOR_ONE),
    "delete_account": (
        f"services().account_deletion; services().operator_authentication; {_TABLE}",
        _FLOOR_ONE,
    ),
    "delete_template": (f"services().template_library; {_CALLER}", _FLOOR_ONE),
    "deliver_message": (f"{_SES}; {_TABLE}; {_QUEUE}", _FLOOR_TWO),
    "edit_templates": (f"services().template_editing; {_SESSION}", _FLOOR_ONE),
    "enqueue_due": (f"services().due_mail; services().due_tasks; {_TABLE}", _FLOOR_ONE),
    "get_analytics": (f"services().history_queries; {_CALLER}", _FLOOR_ONE),
    "get_me": (f"services().caller_lookup; {_TABLE}", _FLOOR_ONE),
    "get_message": (f"services().message_lookup; services().authentication; {_TABLE}", _FLOOR_ONE),
    "get_template": (f"services().template_library; {_CALLER}", _FLOOR_ONE),
    "issue_preview_key": (f"services().preview_keys; {_TABLE}", _FLOOR_ONE),
    "list_messages": (f"services().history_queries; {_CALLER}", _FLOOR_ONE),
    "list_starter_templates": (f"services().authentication; {_TABLE}", _FLOOR_ONE),
    "list_templates": (f"services().template_library; {_CALLER}", _FLOOR_ONE),
    "mail_code": (
        "services().code_mail.send_mail.jobs._sqs; services().credentials.client",
        _FLOOR_TWO,
    ),
    "manage_account": (f"services().accounts; services().account_usage; {_SESSION}", _FLOOR_ONE),
    "manage_domains": (f"services().account_domains; {_SESSION}", _FLOOR_ONE),
    "manage_keys": (f"services().api_keys; services().key_uses; {_SESSION}", _FLOOR_ONE),
    "manage_members": (f"services().account_members; {_SESSION}", _FLOOR_ONE),
    "mcp": (f"services().single_send; {_TABLE}; {_QUEUE}", _FLOOR_TWO),
    "operate": (
        f"services().account_list; services().operator_authentication; {_TABLE}",
        _FLOOR_ONE,
    ),
    "passkeys": (f"services().passkeys; {_SESSION}", _FLOOR_ONE),
    "post_webhooks": (f"services().webhook_worker; {_TABLE}", _FLOOR_ONE),
    "preview_starter_template": (f"services().authentication; {_TABLE}", _FLOOR_ONE),
    "provide_resources": (
        f"services().management_api; services().provisioned_secrets; {_TABLE}",
        _FLOOR_ONE,
    ),
    "read_webhooks": (f"services().webhook_queries; {_CALLER}", _FLOOR_ONE),
    "record_feedback": (f"services().feedback; {_TABLE}", _FLOOR_ONE),
    "resend": (f"services().single_send; {_TABLE}; {_QUEUE}", _FLOOR_TWO),
    "send_batch": (f"services().batch_send; {_TABLE}; {_QUEUE}", _FLOOR_TWO),
    "send_email": (f"services().single_send; {_TABLE}; {_QUEUE}", _FLOOR_TWO),
    "sign_in": ("services().sign_in; services().credentials.client", _FLOOR_ONE),
    "sweep_account": (f"services().sweep; services().sweep_tasks._sqs; {_TABLE}", _FLOOR_TWO),
    "sweep_messages": (f"services().sweep_plan; services().sweep_tasks._sqs; {_TABLE}", _FLOOR_TWO),
    "write_webhooks": (f"services().webhooks; {_CALLER}", _FLOOR_ONE),
}
#: The goals that differ from that of all others.
_GOAL: Final = 1.10
_GOALS: Final = {"send_email": 0.85, "deliver_message": 1.00}

#: What every function finds in its environment, and the switches that the functions above read.
SETTINGS: Final = builders.environment() | {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "eu-west-1",
    "POWERTOOLS_SERVICE_NAME": "benchmark",
    "POWERTOOLS_METRICS_NAMESPACE": "Pillarbox",
    "PILLARBOX_WEBHOOKS": "on",
    "PILLARBOX_SIGN_UP": "open",
}


#: Handles one request. AWS responds with what the variable ANSWERS has for an operation.
_REQUEST: Final = """
import json, os
from types import SimpleNamespace
import app
from pillarbox.adapters.direct import client
from pillarbox.adapters.direct import Response

answers = json.loads(os.environ["ANSWERS"])

class Connection:
    reusable = True

    def __init__(self, *_):
        pass

    def exchange(self, request):
        operation = request.split(b"x-amz-target: ")[1].split(b"\\r")[0].decode().split(".")[1]
        return Response(200, {}, json.dumps(answers.get(operation, {})).encode())

client.AwsConnection = Connection
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
    functions = sorted(path.parent.name for path in ROOT.glob("functions/*/app.py"))
    if missing := set(functions) ^ PROGRAMS.keys():
        raise SystemExit(f"PROGRAMS and functions/ differ: {', '.join(sorted(missing))}")
    prepare()
    empty = instructions("pass")
    floors = {floor: instructions(floor) for floor in (_FLOOR_ONE, _FLOOR_TWO)}
    print(f"an empty interpreter: {empty} M; the floors: {sorted(floors.values())} M\n")
    print("| function | M instructions | floor | ratio | goal | with the first request |")
    print("|---|---|---|---|---|---|")
    requests = first_requests()
    for name in sys.argv[1:] or functions:
        first_client, floor = PROGRAMS[name]
        path = (ROOT / "functions" / name, ROOT / "layers" / "shared", LAYER)
        program = f"import app; from pillarbox.wiring import services; {first_client}"
        count = instructions(program, *path)
        ratio = (count - empty) / (floors[floor] - empty)
        more = ""
        if name in requests:
            program, variables = requests[name]
            more = f"{instructions(program, *path, **variables)}"
        goal = _GOALS.get(name, _GOAL)
        print(
            f"| {name} | {count} | {floors[floor]} | {ratio:.2f} | {goal:.2f} | {more} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
