"""One run of the command: which stack it speaks to, and how it answers."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import boto3
import typer
from botocore.exceptions import BotoCoreError
from rich.console import Console
from rich.table import Table
from rich.text import Text

from admin.views import label, to_text
from pillarbox.domain.errors import Json, ServiceError

_ROOT: Final = Path(__file__).parents[1]
#: The settings that the command needs, and the stack's outputs that say them.
_SETTINGS: Final = {
    "PILLARBOX_TABLE": "TableName",
    "PILLARBOX_JOBS_QUEUE_URL": "JobsQueueUrl",
    "PILLARBOX_JOBS_DEAD_LETTERS_URL": "JobsDeadLettersUrl",
    "PILLARBOX_EVENTS_QUEUE_URL": "EventsQueueUrl",
    "PILLARBOX_EVENTS_DEAD_LETTERS_URL": "EventsDeadLettersUrl",
    "PILLARBOX_CONFIGURATION_SET": "ConfigurationSetName",
    "PILLARBOX_PREVIEW_SENDER": "PreviewSender",
    "PILLARBOX_API_URL": "ApiUrl",
}
#: Those that the stack's parameters say.
_PARAMETERS: Final = {"PILLARBOX_DELIVERY_CONCURRENCY": "DeliveryConcurrency"}
#: Columns of a table that no terminal bounds: enough for ids in one piece.
_WIDE: Final = 200

type Record = Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class StackSession:
    """A stack in AWS by its name, or the local one (None); tables, or JSON."""

    stack_name: str | None
    json: bool

    @property
    def local(self) -> bool:
        """Whether this is about the local stack."""
        return self.stack_name is None

    def connect(self) -> None:
        """Point the settings of this process at the stack.

        Raises:
            ServiceError: `service_unavailable`, when it does not run or is none.
        """
        if self.stack_name is None:
            settings = _local_settings()
            # What the user has set leads to AWS, or to another stack.
            for name in [name for name in os.environ if name.startswith(("AWS_", "PILLARBOX_"))]:
                del os.environ[name]
        else:
            settings = _settings_of(self.stack_name)
        os.environ.update(settings)

    def show(self, record: Record, *, hint: str | None = None) -> None:
        """Show one thing; the hint is for people and no part of it."""
        if self.json:
            typer.echo(json.dumps(record, indent=2))
            return
        table = Table(box=None, show_header=False, pad_edge=False)
        table.add_column(style="bold")
        table.add_column(overflow="fold")
        for name, value in record.items():
            table.add_row(label(name), Text(to_text(value)))
        _print(table)
        if hint:
            Console(stderr=True).print(Text(hint, style="yellow"))

    def show_list(
        self, items: Sequence[Record], columns: Sequence[str], more: Record | None = None
    ) -> None:
        """Show a list: whole in JSON, as `items` with `more` beside; some columns to people."""
        if self.json:
            typer.echo(json.dumps({"items": [*items], **(more or {})}, indent=2))
            return
        if not items:
            Console(stderr=True).print("None.")
            return
        table = Table()
        for column in columns:
            table.add_column(label(column), overflow="fold")
        for item in items:
            table.add_row(*(Text(to_text(item[column])) for column in columns))
        _print(table)

    def show_error(self, error: ServiceError) -> None:
        """Say on stderr what went wrong."""
        if self.json:
            typer.echo(json.dumps({"error": error.envelope()}, indent=2), err=True)
            return
        typer.echo(f"{error.message}{_cause(error)}", err=True)


def connected(ctx: typer.Context) -> StackSession:
    """The session of a command, with the stack reached.

    Raises:
        ServiceError: `service_unavailable`.
    """
    session: StackSession = ctx.obj
    session.connect()
    return session


def _print(table: Table) -> None:
    terminal = sys.stdout.isatty()
    Console(width=None if terminal else _WIDE, highlight=False).print(table)


def _cause(error: ServiceError) -> str:
    """What the SDK said, such as that there are no credentials: an operator can mend that."""
    return f" ({error.__cause__})" if isinstance(error.__cause__, BotoCoreError) else ""


def _local_settings() -> dict[str, str]:
    state = Path(os.environ.get("PILLARBOX_STATE_DIR") or _ROOT / ".local")
    try:
        found = json.loads((state / "stack.json").read_text())
    except FileNotFoundError:
        raise ServiceError(
            "service_unavailable", "The local stack is not running: start it with `make up`."
        ) from None
    settings: dict[str, str] = found["environment"]
    # The rest is for looking at the whole; the first two mean nothing here.
    settings |= {"PILLARBOX_STACK": "local", "PILLARBOX_DELIVERY_CONCURRENCY": "1"}
    if "base_url" in found:
        settings["PILLARBOX_API_URL"] = found["base_url"]
    if smtp := found.get("smtp"):
        settings["PILLARBOX_RELAY"] = f"{smtp['host']}:{smtp['port']}"
        settings["SSL_CERT_FILE"] = smtp["certificate"]  # nobody has signed it
    return settings


def _settings_of(stack_name: str) -> dict[str, str]:
    (stack,) = boto3.client("cloudformation").describe_stacks(StackName=stack_name)["Stacks"]
    outputs = {
        item.get("OutputKey"): item.get("OutputValue", "") for item in stack.get("Outputs", [])
    }
    if "TableName" not in outputs:
        raise ServiceError(
            "service_unavailable",
            f"The stack {stack_name} is not a deployed Pillarbox stack. Check --stack-name.",
        )
    parameters = {
        item.get("ParameterKey"): item.get("ParameterValue", "")
        for item in stack.get("Parameters", [])
    }
    settings = {name: outputs[output] for name, output in _SETTINGS.items() if output in outputs}
    settings |= {name: parameters[each] for name, each in _PARAMETERS.items() if each in parameters}
    if "RelayAddress" in outputs:
        settings["PILLARBOX_RELAY"] = f"{parameters['RelayName']}:587"
    return {**settings, "PILLARBOX_STACK": stack_name}
