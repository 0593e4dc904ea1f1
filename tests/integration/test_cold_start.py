"""What a function loads at a cold start: each import is time that a caller waits."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENGINES = {"jinja2", "dns"}
#: What `boto3`, pydantic and the packages of Powertools would load, and no function uses.
UNUSED = {"boto3", "botocore.session", "pydantic", "pydantic_core.core_schema", "urllib3"}
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
SESSIONS = {"pillarbox.domain.sign_in.session", "pillarbox.domain.sign_in.role"}


@pytest.mark.parametrize(
    ("function", "not_loaded"),
    [
        ("send_email", ENGINES | RESOLVERS | SESSIONS | HISTORY),
        ("send_batch", ENGINES | RESOLVERS | SESSIONS | HISTORY),
        ("get_message", ENGINES | RESOLVERS | {"pydantic_core._pydantic_core"}),
        ("get_analytics", ENGINES | RESOLVERS),
        ("list_messages", ENGINES | RESOLVERS),
        ("list_templates", ENGINES | RESOLVERS),
        ("get_template", ENGINES | RESOLVERS | {"pydantic_core._pydantic_core"}),
        ("delete_template", ENGINES | RESOLVERS | {"pydantic_core._pydantic_core"}),
        ("read_webhooks", ENGINES | RESOLVERS | HISTORY | EMAIL),
        ("write_webhooks", ENGINES | RESOLVERS | HISTORY | EMAIL),
        ("list_starter_templates", ENGINES | RESOLVERS | {"pydantic_core._pydantic_core"}),
        ("preview_starter_template", ENGINES | RESOLVERS),
        ("sign_in", ENGINES | RESOLVERS | HISTORY | EMAIL),
        ("manage_domains", ENGINES | RESOLVERS | HISTORY | EMAIL),
        ("mail_code", ENGINES),
        ("manage_account", ENGINES | RESOLVERS | HISTORY | EMAIL),
        ("manage_keys", ENGINES | RESOLVERS | HISTORY | EMAIL),
        ("create_account", ENGINES | RESOLVERS | HISTORY | EMAIL),
        ("issue_preview_key", ENGINES),
        ("manage_members", ENGINES | RESOLVERS | HISTORY | EMAIL),
        ("operate", ENGINES | RESOLVERS),
        ("edit_templates", ENGINES | RESOLVERS | {"css_inline", "mrml"}),
        ("mcp", ENGINES | RESOLVERS | {"pydantic_core._pydantic_core"}),
        ("deliver_message", ENGINES | {"asyncio", "aws_lambda_powertools.tracing"}),
        ("record_feedback", ENGINES),
    ],
)
def test_a_function_loads_what_it_needs(function: str, not_loaded: set[str]) -> None:
    """Importing a function loads neither another one's libraries nor what few requests need."""
    loaded = modules("import app", ROOT / "functions" / function)
    assert "pillarbox" in loaded
    assert loaded.isdisjoint(not_loaded | UNUSED)


def test_the_clients_of_a_send_load_no_sdk() -> None:
    """With our own client the table and the queue of a send need no part of botocore's client."""
    loaded = modules(
        "import os;"
        "os.environ |= dict.fromkeys(('AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'), 'a');"
        "os.environ['AWS_DEFAULT_REGION'] = 'eu-west-1';"
        "from pillarbox.adapters.aws import make_client, use_direct_client;"
        "use_direct_client(on=True); make_client('dynamodb'); make_client('sqs')"
    )
    assert "pillarbox.adapters.direct.connection" in loaded
    assert loaded.isdisjoint(UNUSED)


def test_validation_loads_nothing_more() -> None:
    """A first body, valid or not, is validated without pydantic's Python part."""
    script = (
        "from pillarbox.domain.errors import ValidationFailed;"
        "from pillarbox.http.messages.wire import SendEmailRequest;"
        "from pillarbox.http.validation import validate;"
        "validate(SendEmailRequest, {'to': 'a', 'html': 'b', 'subject': 'c'});"
        "failed = False\n"
        "try: validate(SendEmailRequest, {'to': 5, 'htm': 'b', 'attachments': [{}]})\n"
        "except ValidationFailed: failed = True\n"
        "assert failed"
    )
    loaded = modules(script)
    assert "pydantic_core._pydantic_core" in loaded
    assert loaded.isdisjoint(UNUSED)


def test_the_api_and_the_consumers_load_in_one_process() -> None:
    """A program that has the handlers of the API can also have those of the queues."""
    loaded = modules("import pillarbox.http.app, pillarbox.consumer")
    assert "aws_lambda_powertools.utilities.data_classes.sqs_event" in loaded


def modules(script: str, *path: Path) -> set[str]:
    """Return the modules that a script loads in a new process."""
    return set(
        subprocess.run(
            [sys.executable, "-c", f"{script}\nimport sys; print(*sys.modules)"],
            env={"PYTHONPATH": ":".join(map(str, (*path, ROOT / "layers" / "shared")))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
    )


def test_light_imports() -> None:
    """What accepting a mail imports brings neither template engine nor inliner."""
    script = (
        "import sys, pillarbox.rendering.starters, pillarbox.rendering.values,"
        " pillarbox.rendering.saved;"
        "print({'jinja2', 'css_inline', 'selectolax'} & set(sys.modules))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert shown.stdout == "set()\n"
