"""The commands `pillarbox ses …`: leave SES's sandbox, and ask for higher quotas."""

from typing import Annotated

import typer

from admin.aws import production_access
from admin.confirm import confirm
from admin.connection import StackConnection, connected
from admin.use_cases.domain_checks import dmarc_in_force
from admin.use_cases.production_access import AccessRequest
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed

app = typer.Typer(no_args_is_help=True, help="Leave SES's sandbox, and ask for higher quotas.")


@app.command("request")
def request(  # noqa: PLR0913  what AWS's reviewers want to know
    ctx: typer.Context,
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="The domain that sends.")],
    *,
    website: Annotated[str, typer.Option(help="The site whose users get the emails.")],
    contact: Annotated[
        list[str], typer.Option(metavar="ADDRESS", help="Whom AWS answers; up to four times.")
    ],
    emails: Annotated[
        str,
        typer.Option(help="What is sent, and why people get it, in a sentence or two of your own."),
    ],
    per_day: Annotated[int, typer.Option(min=1, help="The emails of a busy day.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Ask AWS for production access, with a text that says what its reviewers want to know.

    The text has your sentence, and what the service does by itself: DKIM, bounces and complaints,
    unsubscribing. The command shows it first. AWS usually answers within a day, in a support case;
    `pillarbox doctor` shows the state. After a denial read the case, and run the command again with
    what was missing.

    Example: `pillarbox ses request shop.example --website https://shop.example --contact
    ops@shop.example --emails "Receipts and password resets for customers." --per-day 2000`
    """
    connection = connected(ctx)
    provider, domains = connection.wiring.provider, connection.wiring.domains
    status = provider.sending_status()
    if not status.sandbox:
        connection.show({"state": "GRANTED"}, hint="The account can send to everybody already.")
        return
    if status.review == "PENDING":
        message = "AWS still reviews the last request. It answers in a support case."
        raise ServiceError("service_unavailable", message)
    identity = domains.show(domain).identity
    wanted = AccessRequest(
        website=website,
        contacts=tuple(contact),
        emails=emails,
        per_day=per_day,
        domain=identity,
        has_dmarc=bool(dmarc_in_force(domains.dns, identity.name)),
    )
    text = wanted.describe()
    if not connection.json:
        typer.echo(text, err=True)
    confirm(connection, "Send this request to AWS?", yes=yes)
    production_access.ask(wanted)
    shown = {"state": provider.sending_status().review} | (
        {"request": text} if connection.json else {}
    )
    connection.show(shown, hint="AWS answers in a support case.")


@app.command("quota")
def quota(
    ctx: typer.Context,
    *,
    per_second: Annotated[int | None, typer.Option(min=1, help="Recipients a second.")] = None,
    per_day: Annotated[int | None, typer.Option(min=1, help="Recipients in 24 hours.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Ask AWS for a higher sending rate or daily quota, at Service Quotas.

    Example: `pillarbox ses quota --per-second 50 --per-day 200000`
    """
    connection: StackConnection = ctx.obj
    asked = {"per second": per_second, "per day": per_day}
    wanted = {unit: value for unit, value in asked.items() if value is not None}
    if not wanted:
        message = "is needed, or --per-day."
        raise ValidationFailed(FieldError("--per-second", message, "required"))
    what = " and ".join(f"{value:,} recipients {unit}" for unit, value in wanted.items())
    confirm(connection, f"Ask AWS for {what}?", yes=yes)
    connection.show(production_access.ask_for_quotas(wanted))
