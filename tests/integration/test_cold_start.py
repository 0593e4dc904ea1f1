"""What a function loads at a cold start: each import is time that a caller waits."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENGINES = {"jinja2", "dns"}
#: What `boto3`, pydantic and the packages of Powertools would load, and no function uses.
UNUSED = {"boto3", "pydantic", "pydantic_core.core_schema"}
#: The event handlers of other services bring it.
RESOLVERS = {"asyncio", "aws_lambda_powertools.event_handler.appsync"}


@pytest.mark.parametrize(
    ("function", "not_loaded"),
    [
        ("send_email", ENGINES | RESOLVERS),
        ("send_batch", ENGINES | RESOLVERS),
        ("get_message", ENGINES | RESOLVERS | {"pydantic_core._pydantic_core"}),
        ("get_analytics", ENGINES | RESOLVERS),
        ("list_messages", ENGINES | RESOLVERS),
        ("list_templates", ENGINES | RESOLVERS),
        ("get_template", ENGINES | RESOLVERS | {"pydantic_core._pydantic_core"}),
        ("delete_template", ENGINES | RESOLVERS | {"pydantic_core._pydantic_core"}),
        ("read_webhooks", ENGINES | RESOLVERS),
        ("write_webhooks", ENGINES | RESOLVERS),
        ("list_starter_templates", ENGINES | RESOLVERS | {"pydantic_core._pydantic_core"}),
        ("preview_starter_template", ENGINES | RESOLVERS),
        ("sign_in", ENGINES | RESOLVERS),
        ("manage_domains", ENGINES | RESOLVERS),
        ("mail_code", ENGINES),
        ("manage_account", ENGINES | RESOLVERS),
        ("manage_keys", ENGINES | RESOLVERS),
        ("create_account", ENGINES | RESOLVERS),
        ("issue_preview_key", ENGINES),
        ("manage_members", ENGINES | RESOLVERS),
        ("operate", ENGINES | RESOLVERS),
        ("edit_templates", {"dns", "css_inline", "mrml"} | RESOLVERS),
        ("mcp", ENGINES | RESOLVERS | {"pydantic_core._pydantic_core"}),
        ("deliver_message", {"dns"}),
        ("record_feedback", ENGINES),
    ],
)
def test_a_function_loads_what_it_needs(function: str, not_loaded: set[str]) -> None:
    """Importing a function loads neither another one's libraries nor what few requests need."""
    loaded = modules("import app", ROOT / "functions" / function)
    assert "pillarbox" in loaded
    assert loaded.isdisjoint(not_loaded | UNUSED)


def test_validation_loads_nothing_more() -> None:
    """A first body, valid or not, is validated without pydantic's Python part."""
    script = (
        "from pillarbox.domain.errors import ValidationFailed;"
        "from pillarbox.http.models import SendEmailRequest;"
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
