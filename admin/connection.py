"""One run of the command: the stack that it works on, and how it shows results."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Final

import boto3
import typer
from botocore.exceptions import BotoCoreError
from rich.console import Console
from rich.text import Text

from admin.local_stack import read_local_stack
from admin.tables import Record, print_list, print_record
from admin.wiring import OperatorWiring
from pillarbox.adapters.sdk import sdk_session
from pillarbox.domain.errors import ServiceError, ValidationFailed
from pillarbox.settings import PREFIX, Settings, read_stack

#: Columns of a table that no terminal limits: wide enough to keep ids on one line.
_WIDE: Final = 200
#: The port of the deployed relay.
_RELAY_PORT: Final = 587


@dataclass(slots=True, kw_only=True)
class StackConnection:
    """A command's stack, in AWS by its name or the local one (None), and how it shows results."""

    stack_name: str | None
    json: bool
    #: Whether the results of a dry run are hidden: they would say what did not happen.
    rehearses: bool = False
    #: The stack's use cases, once they are connected.
    wiring: OperatorWiring = field(init=False, repr=False)

    @property
    def local(self) -> bool:
        """Whether this is about the local stack."""
        return self.stack_name is None

    def connect(self) -> None:
        """Read the settings of the stack, and wire its use cases."""
        settings = _local_settings() if self.stack_name is None else _aws_settings(self.stack_name)
        self.wiring = OperatorWiring(settings)

    def show(self, record: Record, *, hint: str | None = None) -> None:
        """Show one record. The hint goes to people only."""
        if self.rehearses:
            return
        if self.json:
            typer.echo(json.dumps(record, indent=2))
            return
        print_record(_console(), record)
        if hint:
            self.note(hint)

    def note(self, text: str) -> None:
        """Tell people something that is not the result."""
        if not self.json and not self.rehearses:
            Console(stderr=True, highlight=False).print(Text(text, style="yellow"), soft_wrap=True)

    def show_list(
        self,
        items: Sequence[Record],
        columns: Sequence[str],
        more: Record | None = None,
        *,
        draw: Callable[[Console, Sequence[Record], Sequence[str]], None] = print_list,
    ) -> None:
        """Show a list: whole in JSON, with `more` beside `items`; some columns in a table.

        In a dry run people see it too: it is what the run would work on.
        """
        if self.json and self.rehearses:
            return
        if self.json:
            typer.echo(json.dumps({"items": [*items], **(more or {})}, indent=2))
            return
        if not items:
            Console(stderr=True).print("None.")
            return
        draw(_console(), items, columns)

    def show_error(self, error: ServiceError) -> None:
        if self.json:
            typer.echo(json.dumps({"error": error.envelope()}, indent=2), err=True)
            return
        typer.echo(f"{error.message}{_cause(error)}", err=True)
        if isinstance(error, ValidationFailed):
            for other in error.errors[1:]:
                typer.echo(f"{other.field}: {other.message}", err=True)


def connected(ctx: typer.Context) -> StackConnection:
    connection: StackConnection = ctx.obj
    connection.connect()
    return connection


def _account(ctx: typer.Context, account: str) -> str:
    """Return an account's id; on the local stack, unless it is given, that of the live key."""
    if not account and isinstance(ctx.obj, StackConnection) and ctx.obj.local:
        return str(read_local_stack()["accounts"]["live"])
    if not account:
        raise typer.BadParameter("give an id of `pillarbox account list`")
    return account


Account = Annotated[
    str,
    typer.Option(
        metavar="ID",
        default_factory=str,
        show_default=False,
        callback=_account,
        help="The account's id. With --local it may be left out: that of the live key.",
    ),
]


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else _WIDE, highlight=False)


def _cause(error: ServiceError) -> str:
    """Return the SDK's reason, such as missing credentials, which an operator can fix."""
    return f" ({error.__cause__})" if isinstance(error.__cause__, BotoCoreError) else ""


def _local_settings() -> Settings:
    """Read what the local stack wrote down, and point the SDK at that stack."""
    stack = read_local_stack()
    variables: dict[str, str] = stack["environment"]
    # For the doctor, which skips the check of the rate here.
    variables[Settings.emails_per_second.variable] = "40"
    if smtp := stack.get("smtp"):
        variables[Settings.relay.variable] = f"{smtp['host']}:{smtp['port']}"
        variables["SSL_CERT_FILE"] = smtp["certificate"]  # self-signed
    point_sdk(variables)
    return Settings(variables)


def point_sdk(variables: Mapping[str, str]) -> None:
    """Set those of these variables that libraries read themselves, and no others of AWS.

    The user's own lead to AWS or to another stack. docs/decisions/tools.md says why these go
    through the environment.
    """
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ.update(
        (name, text) for name, text in variables.items() if not name.startswith(PREFIX)
    )


@contextmanager
def sdk_pointed_at(variables: Mapping[str, str]) -> Iterator[None]:
    """Let the SDK use these variables within a `with` block; give the environment back after it."""
    before = dict(os.environ)
    sdk_session.cache_clear()  # it keeps the credentials that it was made with
    point_sdk(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        sdk_session.cache_clear()


def _aws_settings(stack_name: str) -> Settings:
    """Read the outputs and parameters of a stack; the user's variables give the rest."""
    (stack,) = boto3.client("cloudformation").describe_stacks(StackName=stack_name)["Stacks"]
    outputs = {
        item.get("OutputKey", ""): item.get("OutputValue", "") for item in stack.get("Outputs", [])
    }
    if Settings.table.output not in outputs:
        raise ServiceError(
            "service_unavailable",
            f"The stack {stack_name} is not a deployed Pillarbox stack: it has no output TableName."
            " Check --stack-name.",
        )
    parameters = {
        item.get("ParameterKey", ""): item.get("ParameterValue", "")
        for item in stack.get("Parameters", [])
    }
    variables = read_stack(outputs, parameters) | {Settings.stack.variable: stack_name}
    if "RelayAddress" in outputs:
        variables[Settings.relay.variable] = f"{parameters['RelayName']}:{_RELAY_PORT}"
    return Settings(os.environ | variables)
