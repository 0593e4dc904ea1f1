"""`pillarbox domain …`."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

import typer

from admin.session import StackSession, connected
from admin.views import View, written
from pillarbox.application.accounts.domains import Domain

app = typer.Typer(no_args_is_help=True, help="The domains that mail comes from, and their DNS.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The domain, such as shop.example.")]


@app.command("add")
def add(
    ctx: typer.Context,
    name: Name,
    *,
    route53: Annotated[
        bool,
        typer.Option(
            "--route53", help="Create what is missing in the hosted zone of this AWS account."
        ),
    ] = False,
    mail_from: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="Bounces go to LABEL.NAME; mail, if not given."),
    ] = None,
) -> None:
    """Make a domain known to SES, and show the DNS records that it needs.

    With --route53 they are created. A record that is there is never changed: where
    it differs, you are told what to make of it. The command may be run again.

    Example: `pillarbox domain add shop.example --route53`
    """
    session = connected(ctx)
    _show(session, session.wiring.domains.add(name, mail_from=mail_from, create_records=route53))


@app.command("show")
def show(ctx: typer.Context, name: Name) -> None:
    """Show what SES says of a domain, and which of its records the DNS has.

    Example: `pillarbox domain show shop.example`
    """
    session = connected(ctx)
    _show(session, session.wiring.domains.show(name))


@app.command("verify")
def verify(
    ctx: typer.Context,
    name: Name,
    *,
    wait: Annotated[
        bool, typer.Option("--wait", help="Look again until it is verified or time is over.")
    ] = False,
    minutes: Annotated[int, typer.Option(min=1, max=4320, help="With --wait: so long.")] = 30,
) -> None:
    """Say whether SES has found the records; the exit code is 1 when it has not.

    SES looks by itself, for 72 hours from when the domain was added.

    Example: `pillarbox domain verify shop.example --wait`
    """
    session = connected(ctx)
    domain = session.wiring.domains.wait(name, timedelta(minutes=minutes if wait else 0))
    _show(session, domain)
    if not domain.verified:
        raise typer.Exit(1)


def _show(session: StackSession, domain: Domain) -> None:
    identity = domain.identity
    about: View = {
        "domain": identity.name,
        "verified": domain.verified,
        "dkim": identity.dkim,
        "mailFrom": identity.mail_from,
        "mailFromStatus": identity.mail_from_status,
    }
    records: list[View] = [
        {
            "for": each.record.purpose,
            "type": each.record.type,
            "name": each.record.name,
            "value": each.record.value,
            "state": each.state.value,
            "advice": each.advice or None,
        }
        for each in domain.records
    ]
    session.show({**about, "records": [*records]} if session.json else about)
    if not session.json:
        _print_records(records)


def _print_records(records: Sequence[View]) -> None:
    """Columns without a frame: what is copied from them has no line breaks of the terminal's."""
    columns = ("state", "type", "name", "value")
    widths = [max(len(written(record[column])) for record in records) for column in columns]
    typer.echo()
    for record in records:
        cells = (
            written(record[column]).ljust(width)
            for column, width in zip(columns, widths, strict=True)
        )
        typer.echo("  ".join(cells).rstrip())
        if record["advice"]:
            typer.echo(f"{' ' * widths[0]}  {record['for']}: {written(record['advice'])}")
