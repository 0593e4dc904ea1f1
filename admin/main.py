"""The operator's command line: `pillarbox`."""

from typing import Annotated, Any

import typer
from botocore.exceptions import BotoCoreError, ClientError
from typer.core import TyperGroup

from admin import (
    accounts,
    alarms,
    apply,
    deploy,
    doctor,
    domains,
    edge,
    keys,
    messages,
    policy,
    queues,
    ready,
    recipients,
    relay,
    restore,
    senders,
    sending,
    ses,
    stats,
    suppressions,
    team,
    teardown,
    templates,
    up,
    version,
    webhooks,
)
from admin.connection import StackConnection
from pillarbox.adapters.aws import refusal
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.settings import SettingError


class _Commands(TyperGroup):
    """The commands. A failure goes to stderr and sets the exit code."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401  typer does not export the type of its Context
        try:
            return super().invoke(ctx)
        except ServiceError as error:
            self._fail(ctx, error)
        except SettingError as error:
            message = f"{error}: the stack is older than this command. Deploy this version first."
            self._fail(ctx, ServiceError("service_unavailable", message))
        except ClientError as error:
            self._fail(ctx, ServiceError("service_unavailable", refusal(error)))
        except BotoCoreError as error:
            self._fail(ctx, ServiceError("service_unavailable", f"Cannot call AWS: {error}"))
        except typer.TyperException as error:
            # A text of pydantic, which converts values for typer.
            said = error.message.removeprefix("Value error, ")
            error.message = said.replace("Input should be", "must be")
            # typer shows usage errors well to people; programs get JSON.
            if not isinstance(ctx.obj, StackConnection) or not ctx.obj.json:
                raise
            usage = FieldError("", error.format_message(), "usage")
            self._fail(ctx, ValidationFailed(usage), error.exit_code)

    def _fail(self, ctx: typer.Context, error: ServiceError, code: int = 1) -> None:
        connection: StackConnection = ctx.obj
        connection.show_error(error)
        raise typer.Exit(code)


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(accounts.app, name="account")
app.add_typer(keys.app, name="key")
app.add_typer(domains.app, name="domain")
app.add_typer(senders.app, name="sender")
app.add_typer(templates.app, name="template")
app.add_typer(messages.app, name="message")
app.add_typer(recipients.app, name="recipient")
app.add_typer(suppressions.app, name="suppression")
app.add_typer(webhooks.app, name="webhook")
app.add_typer(team.dashboard, name="dashboard")
app.add_typer(team.members, name="member")
app.add_typer(team.operators, name="operator")
app.add_typer(sending.app, name="sending")
app.add_typer(ses.app, name="ses")
app.add_typer(team.sign_ups, name="signup")
app.add_typer(stats.app, name="stats")
app.add_typer(queues.app, name="queue")
app.add_typer(alarms.app, name="alarms")
app.add_typer(edge.app, name="edge")
app.add_typer(relay.app, name="relay")
app.add_typer(restore.app, name="restore")
app.command("apply")(apply.apply)
app.command("doctor")(doctor.doctor)
app.command("capacity")(doctor.capacity)
app.command("ready")(ready.ready)
app.command("teardown")(teardown.teardown)
app.command("deploy")(deploy.deploy)
app.command("up")(up.up)
app.command("policy")(policy.show)


def _show_version(requested: bool) -> None:  # noqa: FBT001  typer's form of a callback
    if requested:
        typer.echo(version())
        raise typer.Exit


@app.callback()
def pillarbox(
    ctx: typer.Context,
    *,
    local: Annotated[
        bool, typer.Option("--local", help="Use the local stack of `make up` or `pillarbox up`.")
    ] = False,
    stack_name: Annotated[
        str, typer.Option(help="The CloudFormation stack in AWS to use, without --local.")
    ] = "pillarbox",
    json: Annotated[
        bool,
        typer.Option("--json", help="Print JSON for programs; errors use the API's error format."),
    ] = False,
    version: Annotated[  # noqa: ARG001  its callback ends the command
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Operate a Pillarbox stack: accounts, keys, senders, messages, queues and more.

    Global options come before the command. The exit code is 0 on success, 1 if something
    failed (stderr says why), and 2 if the command line is wrong.

    Example: `pillarbox --local --json account create --name Shop --plan standard`
    """
    ctx.obj = StackConnection(stack_name=None if local else stack_name, json=json)
