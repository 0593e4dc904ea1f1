"""The commands `pillarbox domain …`."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Any

import typer

from admin.api_commands import ApiCommand
from admin.connection import StackConnection, connected
from admin.progress import progress
from admin.tables import Record, to_text
from pillarbox.application.accounts.domains import Domain
from pillarbox.http.accounts.replies import CheckedRecord

app = typer.Typer(no_args_is_help=True, help="Sending domains and their DNS records.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The domain, such as shop.example.")]


@app.command("add")
def add(
    ctx: typer.Context,
    name: Name,
    *,
    route53: Annotated[
        bool,
        typer.Option(
            "--route53", help="Create missing records in the hosted zone of this AWS account."
        ),
    ] = False,
    mail_from: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="Bounces go to LABEL.NAME; the default label is mail."),
    ] = None,
) -> None:
    """Add a domain to SES, and show the DNS records that it needs.

    With --route53 the command creates missing records. It never changes an existing
    record: if one differs, the output says how to change it. You can run it again.

    Example: `pillarbox domain add shop.example --route53`
    """
    connection = connected(ctx)
    _show(
        connection, connection.wiring.domains.add(name, mail_from=mail_from, create_records=route53)
    )


@app.command("show")
def show(ctx: typer.Context, name: Name) -> None:
    """Show a domain's status at SES, and which of its records exist in DNS.

    Example: `pillarbox domain show shop.example`
    """
    connection = connected(ctx)
    _show(connection, connection.wiring.domains.show(name))


@app.command("verify")
def verify(
    ctx: typer.Context,
    name: Name,
    *,
    wait: Annotated[
        bool, typer.Option("--wait", help="Check again until it is verified or the time is over.")
    ] = False,
    minutes: Annotated[int, typer.Option(min=1, max=4320, help="With --wait: how long.")] = 30,
) -> None:
    """Check whether SES has found the DNS records. The exit code is 1 if it has not.

    SES searches on its own for 72 hours after you add the domain. If SES also mails bounces
    and complaints to the senders (feedbackMail), the command switches that off.

    Example: `pillarbox domain verify shop.example --wait`
    """
    connection = connected(ctx)
    with progress("Waiting for SES to find the records"):
        domain = connection.wiring.domains.wait(name, timedelta(minutes=minutes if wait else 0))
    _show(connection, domain)
    if not domain.verified:
        raise typer.Exit(1)


def _show(connection: StackConnection, domain: Domain) -> None:
    identity = domain.identity
    summary: Record = {
        "domain": identity.name,
        "verified": domain.verified,
        "dkim": identity.dkim,
        "mailFrom": identity.mail_from,
        "mailFromStatus": identity.mail_from_status,
        "feedbackMail": identity.mails_feedback,
    }
    records = [CheckedRecord.of(check) for check in domain.records]
    connection.show({**summary, "records": [*records]} if connection.json else summary)
    if not connection.json:
        _print_records(records)


def _print_records(records: Sequence[dict[str, Any]]) -> None:
    """Print columns without a frame, so that copied text contains no added line breaks."""
    rows = [
        [*map(to_text, (one["dns"]["status"], one["type"], one["host"], one["value"]))]
        for one in records
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    typer.echo()
    for row, record in zip(rows, records, strict=True):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        typer.echo("  ".join(cells).rstrip())
        if advice := record["dns"]["advice"]:
            typer.echo(f"{' ' * widths[0]}  {record['purpose']}: {to_text(advice)}")


ApiCommand(operation_id="list_domains", columns=("domain", "status", "checkedAt")).add_to(
    app, "domain", "list"
)
ApiCommand(
    operation_id="change_domain", arguments=("receive",), options={"receiveNames": "--for"}
).add_to(app, "domain", "receive")
