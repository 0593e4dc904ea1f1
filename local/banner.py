"""The text that the local stack prints when it is ready."""

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.table import Table

from local.dashboard import DIST


def show(console: Console, state: dict[str, Any], log: Path, *, keep: bool) -> None:
    """Print the addresses, the keys and a curl command that sends a first email.

    Args:
        console: the console to print on.
        state: the content of stack.json.
        log: the file that the engine and the functions log to.
        keep: whether the next start has this run's messages.
    """
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim")
    facts.add_column(overflow="fold")
    if DIST.exists():
        facts.add_row("Dashboard", state["dashboard_link"])
    facts.add_row("API", f"{state['base_url']}/api/v1")
    facts.add_row("Reference", f"{state['base_url']}/docs")
    facts.add_row("SMTP", f"{state['smtp']['host']}:{state['smtp']['port']}, user apikey")
    facts.add_row("Inbox", state["inbox_url"])
    facts.add_row("Webhooks", state["webhook"]["url"])
    facts.add_row("Log", str(log))
    facts.add_row("")
    facts.add_row("Live key", state["keys"]["live"])
    facts.add_row("  free plan", state["keys"]["live_free"])
    facts.add_row("Preview key", state["keys"]["preview"])
    facts.add_row("Template", state["template_id"])
    console.print(Panel(facts, title="Pillarbox is ready", title_align="left", expand=False))
    console.print("Send a first email:\n")
    # Printed without markup and line breaks, so that it can be pasted.
    console.out(first_email(state["base_url"], state["keys"]["live"]), highlight=False)
    console.out(f"\nPrograms find all this after: source {log.parent / 'env'}", highlight=False)
    next_start = "has these messages" if keep else "is empty and has the same keys"
    console.print(f"\n[dim]Press Ctrl-C to stop. The next start {next_start}.[/]")


def first_email(base_url: str, key: str) -> str:
    """Return a curl command that sends a first email."""
    email = {"to": "you@example.com", "starterTemplate": "welcome", "variables": {"name": "Ada"}}
    return (
        f"curl {base_url}/api/v1/emails \\\n"
        f"  -H 'X-API-Key: {key}' \\\n"
        "  -H 'Content-Type: application/json' \\\n"
        f"  -d '{json.dumps(email)}'"
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
