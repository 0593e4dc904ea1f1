"""Finds the local stack: by the variables of its `.local/env`, or by its `stack.json`."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from pillarbox_testing.http import StackNotRunning, get
from pillarbox_testing.inbox import Inbox
from pillarbox_testing.webhooks import Webhooks

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_HELP: Final = """\
Start one with `make up` in your clone of Pillarbox. Then do one of these:
  - in the shell that runs pytest: source CLONE/.local/env
  - in pyproject.toml, under [tool.pytest.ini_options]: pillarbox_state_dir = "CLONE/.local"
  - for a stack in a container: set PILLARBOX_URL, PILLARBOX_INBOX_URL and PILLARBOX_KEY"""
_SMTP_PORT: Final = "5870"


@dataclass(frozen=True)
class Smtp:
    """Where and how to send over SMTP: STARTTLS, then a login."""

    host: str
    port: int
    username: str
    password: str = field(repr=False)
    certificate: str  #: the file to trust; empty if it is not known


@dataclass(frozen=True)
class Pillarbox:
    """A running local stack, its inbox, and the webhooks that its receiver got."""

    url: str  #: without `/api/v1`
    key: str = field(repr=False)
    smtp: Smtp
    inbox: Inbox
    webhooks: Webhooks

    def address(self, name: str = "test") -> str:
        """Return an address that no other test uses."""
        return f"{name}-{secrets.token_hex(4)}@example.com"

    def from_now_on(self, timeout: float) -> Pillarbox:
        """Return the same stack, whose inbox and webhooks leave out what came before."""
        return replace(
            self,
            inbox=self.inbox.from_now_on(timeout),
            webhooks=self.webhooks.from_now_on(timeout),
        )


def find_stack(environment: Mapping[str, str], state: Path) -> Pillarbox:
    """Return the stack of the variables, or else the one of a state directory.

    Raises:
        StackNotRunning: there is none, or it does not answer.
    """
    stack = (
        _of_variables(environment)
        if environment.get("PILLARBOX_URL")
        else _of_state(environment, state)
    )
    if get(f"{stack.url}/healthz") is None:
        raise StackNotRunning(f"{stack.url} is no Pillarbox stack: it has no /healthz.\n{_HELP}")
    return stack


def _of_variables(environment: Mapping[str, str]) -> Pillarbox:
    names = ("PILLARBOX_URL", "PILLARBOX_INBOX_URL", "PILLARBOX_KEY")
    if missing := [name for name in names if not environment.get(name)]:
        raise StackNotRunning(f"PILLARBOX_URL is set, but not {', '.join(missing)}.\n{_HELP}")
    url, inbox_url, key = (environment[name] for name in names)
    smtp = Smtp(
        host=environment.get("SMTP_HOST") or "127.0.0.1",
        port=int(environment.get("SMTP_PORT") or _SMTP_PORT),
        username=environment.get("SMTP_USERNAME") or "apikey",
        password=environment.get("SMTP_PASSWORD") or key,
        certificate=environment.get("NODE_EXTRA_CA_CERTS") or "",
    )
    inbox_url = inbox_url.rstrip("/")
    return Pillarbox(url.rstrip("/"), key, smtp, Inbox(inbox_url), Webhooks(inbox_url))


def _of_state(environment: Mapping[str, str], state: Path) -> Pillarbox:
    path = state.joinpath(environment.get("PILLARBOX_STATE_DIR") or ".", "stack.json")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StackNotRunning(
            f"No Pillarbox stack is running: there is no {path}.\n{_HELP}"
        ) from None
    key, smtp = found["keys"]["live"], found["smtp"]
    return Pillarbox(
        found["base_url"],
        key,
        Smtp(smtp["host"], smtp["port"], "apikey", key, smtp["certificate"]),
        Inbox(found["inbox_url"]),
        Webhooks(found["inbox_url"]),
    )
