"""The text that the local stack prints when it is ready.

What people copy is printed outside of any box and without line breaks, however long it is: a
terminal then wraps it only for the eye.
"""

import asyncio
import json
import shlex
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from local import dashboard
from local.dashboard_build import DashboardBuild


def show_start(console: Console, build: DashboardBuild | None, *, is_first: bool) -> None:
    """Print what a start does until the stack is ready. The first one installs packages."""
    beside = "" if build is None else ", and building the dashboard beside it"
    longer = ", for about a minute" if is_first else ""
    console.print(f"Starting the stack{beside}{longer} …")


def show(
    console: Console,
    state: dict[str, Any],
    log: Path,
    build: DashboardBuild | None = None,
) -> None:
    """Print the addresses, a key and a curl command that sends a first email: 20 lines in all.

    `stack.json` beside the log has the other keys.

    Args:
        console: the console to print on.
        state: the content of stack.json.
        log: the file that the engine and the functions log to.
        build: the build of the dashboard; its link is printed when it has ended.
    """
    console.print("[bold]Pillarbox is ready[/]")
    if build is not None:
        _print_fact(console, "Dashboard", "is being built; its link follows")
        build.ended.add_done_callback(lambda ended: _show_end(console, state, build, ended))
    elif dashboard.is_built():
        _print_fact(console, "Dashboard", state["dashboard_link"])
    else:
        _print_fact(console, "Dashboard", "is not built; see why with: make dashboard")
    for name, text in {
        "API": f"{state['base_url']}/api/v1",
        "Reference": f"{state['base_url']}/docs",
        "Inbox": state["inbox_url"],
        "SMTP": f"{state['smtp']['host']}:{state['smtp']['port']}, user apikey",
        "Live key": state["keys"]["live"],
    }.items():
        _print_fact(console, name, text)
    console.print()
    console.out(first_email(state["base_url"], state["keys"]["live"]), highlight=False)
    console.print()
    console.out(f"source {shlex.quote(str(log.parent / 'env'))}", highlight=False)
    console.print("[dim]Press Ctrl-C to stop. The next start is empty and has the same keys.[/]")


def _print_fact(console: Console, name: str, text: str) -> None:
    console.print(Text.assemble((f"{name:<11}", "dim"), "  ", text), soft_wrap=True)


def _show_end(
    console: Console, state: dict[str, Any], build: DashboardBuild, ended: asyncio.Task[bool]
) -> None:
    """Say that the dashboard is ready, or why it is not; say nothing while the stack stops."""
    if ended.cancelled():
        return
    if not ended.result():
        failure = f"\nThe dashboard was not built: {build.reason}\nTry again with: make dashboard"
        console.out(failure, highlight=False)
        if not dashboard.is_built():
            return
        console.print("An older build of it is there.")
    console.print()
    _print_fact(console, "Dashboard", state["dashboard_link"])


def first_email(base_url: str, key: str) -> str:
    """Return a curl command that sends a first email; its lines fit a terminal of 80 columns."""
    return (
        f"curl {base_url}/api/v1/emails \\\n"
        f"  -H 'X-API-Key: {key}' \\\n"
        "  -H 'Content-Type: application/json' \\\n"
        '  -d \'{"to": "you@example.com", "starterTemplate": "welcome",\n'
        '       "variables": {"name": "Ada"}}\''
    )


def first_endpoint(base_url: str, inbox_url: str, key: str) -> str:
    """Return a curl command that creates a webhook endpoint for a receiver, named RECEIVER."""
    body = {"url": f"{inbox_url}/hooks/RECEIVER", "types": ["*"]}
    return (
        f"curl {base_url}/api/v1/webhooks \\\n"
        f"  -H 'X-API-Key: {key}' \\\n"
        "  -H 'Content-Type: application/json' \\\n"
        f"  -d '{json.dumps(body)}'"
    )
