"""What a function loads at a cold start: each import is time that a caller waits."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.fakes import builders

ROOT = Path(__file__).parents[2]
ENGINES = {"jinja2", "dns"}
#: What `boto3`, pydantic and the packages of Powertools would load, and no function uses.
UNUSED = {"boto3", "pydantic", "pydantic_core.core_schema"}
#: What the functions need that call more services than DynamoDB, Lambda and SQS.
SDK = {"botocore.session", "urllib3"}
#: What Powertools would load for other services, for traces and for metrics.
RESOLVERS = {
    "asyncio",
    "aws_lambda_powertools.event_handler.appsync",
    "aws_lambda_powertools.event_handler.openapi.merge",
    "aws_lambda_powertools.metrics",
    "aws_lambda_powertools.tracing",
    "aws_lambda_powertools.utilities.data_classes.s3_event",
}
#: What only those that count messages or send them need.
HISTORY = {"pillarbox.application.history.queries", "pillarbox.domain.messages.statistics"}
EMAIL = {"pillarbox.domain.messages.mail"}
SESSIONS = {"pillarbox.domain.sign_in.session"}
#: With it a function connects to SQS before its first request.
QUEUES = {"pillarbox.adapters.sqs.batches"}

#: With these a function makes what it needs when it is imported, as in Lambda.
LAMBDA = builders.environment() | {
    "AWS_LAMBDA_FUNCTION_NAME": "function",
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    # Nothing listens there: a function whose loading reaches no service still loads.
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
}

#: Prints, for each function, the modules that are loaded after its import.
IMPORT_ALL = """
import runpy, sys
for path in sys.argv[1:]:
    runpy.run_path(path)
    print(*sys.modules)
"""

#: Functions, with what they do not load. Those of a row share a process, so each may load what
#: those before it may: one that loads too much fails, and so do the others after it.
ROWS: list[dict[str, set[str]]] = [
    {
        "send_email send_batch": {"jinja2"} | SDK | RESOLVERS | SESSIONS | HISTORY,
        "mcp": {"jinja2"} | SDK | RESOLVERS | SESSIONS,
        "issue_preview_key": {"jinja2"} | SDK,
    },
    {
        "get_message delete_template list_starter_templates": ENGINES
        | SDK
        | RESOLVERS
        | {"pydantic_core._pydantic_core"},
        "get_template": {"dns", "pydantic_core._pydantic_core"} | SDK | RESOLVERS,
        "preview_starter_template": {"dns"} | SDK | RESOLVERS,
    },
    {
        "read_webhooks sign_in manage_domains manage_account manage_keys create_account passkeys": (
            ENGINES | SDK | RESOLVERS | HISTORY | EMAIL | QUEUES
        ),
        "manage_members": ENGINES | SDK | RESOLVERS | HISTORY,
        "get_analytics get_overview list_messages list_templates operate": ENGINES
        | SDK
        | RESOLVERS,
        "mail_code record_feedback": ENGINES | SDK,
    },
    {"write_webhooks": ENGINES | SDK | RESOLVERS | EMAIL},
    {"edit_templates": SDK | RESOLVERS | {"dns", "css_inline", "mrml"}},
    {"deliver_message": {"dns", "asyncio", "aws_lambda_powertools.tracing"}},
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: next(iter(row)))
def test_a_function_loads_what_it_needs(
    row: dict[str, set[str]], subtests: pytest.Subtests
) -> None:
    """Loading a function in Lambda brings neither another one's libraries nor what few need."""
    assert all(later <= before for before, later in pairwise(row.values()))
    not_loaded = {name: unneeded for names, unneeded in row.items() for name in names.split()}
    paths = [str(ROOT / "functions" / function / "app.py") for function in not_loaded]
    lines = run(IMPORT_ALL, *paths, **LAMBDA).splitlines()
    for function, line in zip(not_loaded, lines, strict=True):
        with subtests.test(function):
            loaded = set(line.split())
            assert "pillarbox" in loaded
            assert not loaded & (not_loaded[function] | UNUSED)


def test_the_clients_of_a_send_load_no_sdk() -> None:
    loaded = modules(
        "import os;"
        "os.environ |= dict.fromkeys(('AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'), 'a');"
        "os.environ['AWS_DEFAULT_REGION'] = 'eu-west-1';"
        "from pillarbox.adapters.aws import make_client, use_direct_client;"
        "use_direct_client(on=True); make_client('dynamodb'); make_client('sqs')"
    )
    assert "pillarbox.adapters.direct" in loaded
    assert loaded.isdisjoint(UNUSED | SDK)


def test_validation_loads_nothing_more() -> None:
    script = (
        "from pillarbox.domain.errors import ValidationFailed;"
        "from pillarbox.http.messages.wire import SendEmailRequest;"
        "from pillarbox.http.wire import validate;"
        "validate(SendEmailRequest, {'to': 'a', 'html': 'b', 'subject': 'c'});"
        "failed = False\n"
        "try: validate(SendEmailRequest, {'to': 5, 'htm': 'b', 'attachments': [{}]})\n"
        "except ValidationFailed: failed = True\n"
        "assert failed"
    )
    loaded = modules(script)
    assert "pydantic_core._pydantic_core" in loaded
    assert loaded.isdisjoint(UNUSED | SDK)


def test_the_api_and_the_consumers_load_in_one_process() -> None:
    loaded = modules("import pillarbox.http.app, pillarbox.consumer")
    assert "aws_lambda_powertools.utilities.data_classes.sqs_event" in loaded


def modules(script: str) -> set[str]:
    """Return the modules that a script loads in a new process."""
    return set(run(f"{script}\nimport sys; print(*sys.modules)").split())


def run(script: str, *arguments: str, **variables: str) -> str:
    """Return what a script writes in a new process that has the layer."""
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env={"PYTHONPATH": str(ROOT / "layers" / "shared"), **variables},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_light_imports() -> None:
    script = (
        "import sys, pillarbox.rendering.starters, pillarbox.rendering.values,"
        " pillarbox.rendering.saved;"
        "print({'jinja2', 'css_inline', 'selectolax'} & set(sys.modules))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert shown.stdout == "set()\n"
