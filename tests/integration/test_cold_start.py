"""What a function loads at a cold start: each import is time that a caller waits."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENGINES = {"jinja2", "dns"}


@pytest.mark.parametrize(
    ("function", "not_loaded"),
    [
        ("send_email", ENGINES | {"boto3"}),
        ("send_batch", ENGINES | {"boto3"}),
        ("get_message", ENGINES | {"boto3", "pydantic"}),
        ("list_starter_templates", ENGINES | {"boto3", "pydantic"}),
        ("preview_starter_template", ENGINES | {"boto3"}),
        ("deliver_message", {"boto3", "dns", "pydantic"}),
        ("record_feedback", ENGINES | {"boto3", "pydantic"}),
    ],
)
def test_a_function_loads_what_it_needs(function: str, not_loaded: set[str]) -> None:
    """Importing a function loads neither another one's libraries nor what few requests need."""
    loaded = subprocess.run(
        [sys.executable, "-c", "import app, sys; print(*sys.modules)"],
        env={"PYTHONPATH": f"{ROOT / 'functions' / function}:{ROOT / 'layers' / 'shared'}"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert not_loaded.isdisjoint(loaded)


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
