"""The option `--ses-plan` of `pillarbox deploy`, and its check before a deployment."""

from collections.abc import Iterator

import typer

from admin.aws.ses_plan import SesAccountPlan
from admin.confirm import confirm
from admin.connection import StackConnection
from admin.use_cases import ses_plans
from admin.use_cases.ses_plans import SesPlan
from pillarbox.application.operator.checks import Finding, Verdict
from pillarbox.domain.errors import ServiceError


def check(plans: SesAccountPlan) -> Iterator[Finding]:
    """Show the plan. A deployment needs no right to see it."""
    try:
        yield from ses_plans.check_plan(plans.read())
    except ServiceError as error:
        remedy = "Allow ses:GetAccount, and the plan of SES is shown here."
        yield Finding("plan", Verdict.WARN, error.message, remedy)


def change(
    connection: StackConnection, plans: SesAccountPlan, wanted: SesPlan, region: str, *, yes: bool
) -> None:
    """Change the plan after a question, unless it is in force or comes next month."""
    before, name = plans.read(), wanted.value.upper()
    if name == (before.following or before.current):
        when = "next month" if before.following else "already"
        typer.echo(f"The SES plan is {wanted.value} {when}.", err=True)
        return
    question = (
        f"Change the SES plan from {ses_plans.describe(before.current)} to"
        f" {ses_plans.describe(name)}? It counts for all that this AWS account sends in {region}."
    )
    confirm(connection, question, yes=yes)
    plans.change(wanted)
    after = plans.read()
    now = f"The SES plan is {ses_plans.describe(after.current)} now."
    later = f" Next month it is {ses_plans.describe(after.following)}." if after.following else ""
    typer.echo(now + later, err=True)
