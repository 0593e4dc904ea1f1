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
    console.print(f"Starting the stack{beside} …")
    if is_first:
        console.print("The first start takes a minute longer.")


def show(
    console: Console,
    state: dict[str, Any],
    log: Path,
    build: DashboardBuild | None = None,
) -> None:
    """Print the addresses, the keys and a curl command that sends a first email.

    Args:
        console: the console to print on.
        state: the content of stack.json.
        log: the file that the engine and the functions log to.
        build: the build of the dashboard; its link is printed when it has ended.
    """
    console.print("\n[bold]Pillarbox is ready[/]\n")
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
        "SMTP": f"{state['smtp']['host']}:{state['smtp']['port']}, user apikey",
        "Inbox": state["inbox_url"],
        "Webhooks": state["webhook"]["url"],
        "Log": str(log),
        "Live key": state["keys"]["live"],
        "  free plan": state["keys"]["live_free"],
        "Preview key": state["keys"]["preview"],
        "Template": state["template_id"],
    }.items():
        _print_fact(console, name, text)
    console.print("\nSend a first email:\n")
    console.out(first_email(state["base_url"], state["keys"]["live"]), highlight=False)
    console.print("\nPrograms find all this after:\n")
    console.out(f"source {shlex.quote(str(log.parent / 'env'))}", highlight=False)
    console.print("\n[dim]Press Ctrl-C to stop. The next start is empty and has the same keys.[/]")


def _print_fact(console: Console, name: str, text: str) -> None:
    console.print(Text.assemble((f"{name:<11}", "dim"), "  ", text), soft_wrap=True)


def _show_end(
    console: Console, state: dict[str, Any], build: DashboardBuild, ended: asyncio.Task[bool]
) -> None:
    """Say that the dashboard is ready, or why it is not; say nothing while the stack stops."""
    if ended.cancelled():
        return
    if ended.result():
        console.print("\nThe dashboard is ready:\n")
    else:
        failure = f"\nThe dashboard was not built: {build.reason}\nTry again with: make dashboard"
        console.out(failure, highlight=False)
        if not dashboard.is_built():
            return
        console.print("\nAn older build of it is there:\n")
    console.out(state["dashboard_link"], highlight=False)


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
