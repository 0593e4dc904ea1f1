"""The commands `pillarbox restore …`."""

from typing import Annotated, Final

import typer

from admin import times
from admin.aws import kept_table, stacks
from admin.aws.table_copy import TableCopy
from admin.confirm import agrees, confirm, require_aws, require_yes
from admin.operations.restore import Choice
from admin.progress import progress
from admin.session import StackSession, connected
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.wiring import utc_now

_DEPLOY: Final = "The stack has its table. Now deploy the rest: pillarbox deploy --environment …"

app = typer.Typer(
    no_args_is_help=True, help="Bring back rows of the table, or a stack with its kept table."
)


@app.command("rows")
def rows(  # noqa: PLR0913  one parameter for each option
    ctx: typer.Context,
    *,
    at: Annotated[str, typer.Option(metavar="TIME", help=times.HELP)],
    account: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="An account to restore; may be repeated."),
    ] = None,
    all_accounts: Annotated[
        bool, typer.Option("--all-accounts", help="Restore every account.")
    ] = False,
    messages: Annotated[
        bool, typer.Option("--messages", help="Messages too, if they are older than two days.")
    ] = False,
    keep_copy: Annotated[
        bool, typer.Option("--keep-copy", help="Do not delete the copy of the table at the end.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Restore without asking.")] = False,
) -> None:
    """Bring back rows that the table had at a time in the last 35 days and lacks now.

    Accounts, keys, suppressions and templates come back; a row that exists stays as it is. So
    do keys that were revoked, but keys of an account that you deleted on purpose work again.

    DynamoDB first makes a copy of the whole table, which takes twenty minutes or more. If the
    command is interrupted, run it again with the same exact time: it finds the copy.

    Example: `pillarbox restore rows --at 2026-11-20T09:00 --account qh4ybvcvbqzk`
    """
    if bool(account) == all_accounts:
        raise typer.BadParameter("say --account or --all-accounts", param_hint="'rows'")
    require_aws(ctx.obj)
    require_yes(ctx.obj, yes=yes)
    session = connected(ctx)
    now = utc_now()
    moment = times.parse_time("--at", at, now).replace(microsecond=0)
    choice = Choice(accounts=frozenset(account or ()), messages=messages, now=now)
    copy = TableCopy(session.wiring.table, moment)
    copy.request()
    exact = moment.isoformat()
    session.note(f"DynamoDB copies the table as it was at {exact}.")
    with progress("Waiting for the copy, which takes twenty minutes or more"):
        copy.wait()
    with progress("Comparing the copy with the table"):
        counts = copy.count_missing(choice)
    if not session.json:
        session.show_list(
            [
                {"accountId": account_id, "kind": kind, "missingRows": number}
                for (account_id, kind), number in sorted(counts.items())
            ],
            ("accountId", "kind", "missingRows"),
        )
    restored = 0
    agreed = not counts or agrees(session, "Put these rows into the table?", yes=yes)
    if counts and agreed:
        with progress("Restoring", "rows", total=counts.total()) as report:
            for number in copy.put_missing(choice):
                restored += number
                report(restored)
    if not keep_copy:
        copy.delete()
    if not agreed:
        state = "is kept" if keep_copy else "is deleted"
        session.note(f"Nothing was restored. The copy {copy.name} {state}.")
        raise typer.Abort
    session.show(
        {
            "at": exact,
            "restoredRows": restored,
            "copy": copy.name if keep_copy else None,
        },
        hint="Now correct the statistics of each account: pillarbox stats rebuild --account ID"
        if messages and restored
        else None,
    )


@app.command("stack")
def stack(
    ctx: typer.Context,
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="The table that the old stack kept.")
    ],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Create the stack without asking.")] = False,
) -> None:
    """Create a stack with the table that a deleted stack left. Then deploy it.

    The new stack has only the table at first. `pillarbox deploy` adds the rest, and finds the
    accounts, keys and history in it.

    Example: `pillarbox --stack-name pillarbox restore stack pillarbox-Table-1MRWQ7`
    """
    session: StackSession = ctx.obj
    name = require_aws(session)
    existing = stacks.describe(name)
    if existing is not None and existing.status == "IMPORT_COMPLETE":
        imported = kept_table.imported_table(existing.stack_id)
        session.show({"stack": name, "table": imported}, hint=_DEPLOY)
        return
    # An import that was interrupted leaves a stack in review, without resources.
    if existing is not None and existing.status != "REVIEW_IN_PROGRESS":
        message = f"{name} exists already ({existing.status}). Tear it down first."
        raise ValidationFailed(FieldError("--stack-name", message, "not_allowed"))
    resource = kept_table.describe(table)
    confirm(session, f"Create the stack {name} over the table {table}?", yes=yes)
    with progress("Importing the table"):
        kept_table.import_into(name, table, resource)
    session.show({"stack": name, "table": table}, hint=_DEPLOY)
