"""The commands `pillarbox restore …`."""

from collections import Counter
from datetime import datetime
from itertools import chain
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

_MOST_TABLES: Final = 2
_DEPLOY: Final = "The stack has its tables. Now deploy the rest: pillarbox deploy --environment …"

app = typer.Typer(
    no_args_is_help=True, help="Bring back rows of the tables, or a stack with its kept tables."
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
        bool, typer.Option("--keep-copy", help="Do not delete the copies of the tables at the end.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Restore without asking.")] = False,
) -> None:
    """Bring back rows that the tables had at a time in the last 35 days and lack now.

    Accounts, keys, suppressions and templates come back; a row that exists stays as it is. So
    do keys that were revoked, but keys of an account that you deleted on purpose work again.

    DynamoDB first makes a copy of each whole table, which takes twenty minutes or more. If the
    command is interrupted, run it again with the same exact time: it finds the copies.

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
    copies = _copies(session, moment)
    exact = moment.isoformat()
    session.note(f"DynamoDB copies the tables as they were at {exact}.")
    with progress("Waiting for the copies, which takes twenty minutes or more"):
        for copy in copies:
            copy.wait()
    with progress("Comparing the copies with the tables"):
        counts = sum((copy.count_missing(choice) for copy in copies), Counter[tuple[str, str]]())
    if not session.json:
        session.show_list(
            [
                {"accountId": account_id, "kind": kind, "missingRows": number}
                for (account_id, kind), number in sorted(counts.items())
            ],
            ("accountId", "kind", "missingRows"),
        )
    restored = 0
    agreed = not counts or agrees(session, "Put these rows back?", yes=yes)
    if counts and agreed:
        with progress("Restoring", "rows", total=counts.total()) as report:
            for number in chain.from_iterable(copy.put_missing(choice) for copy in copies):
                restored += number
                report(restored)
    if not keep_copy:
        for copy in copies:
            copy.delete()
    if not agreed:
        state = "is kept" if keep_copy else "is deleted"
        named = " ".join(f"The copy {copy.name} {state}." for copy in copies)
        session.note(f"Nothing was restored. {named}")
        raise typer.Abort
    session.show(
        {
            "at": exact,
            "restoredRows": restored,
            "copy": " ".join(copy.name for copy in copies) if keep_copy else None,
        },
        hint="Now correct the statistics of each account: pillarbox stats rebuild --account ID"
        if messages and restored
        else None,
    )


def _copies(session: StackSession, moment: datetime) -> list[TableCopy]:
    """Let DynamoDB copy both tables; before there was a second one, the first had the keys."""
    table, identities = session.wiring.table, session.wiring.identities
    copies = [TableCopy(table, moment, identities)]
    if identities.name != table.name:
        of_identities = TableCopy(identities, moment)
        if of_identities.is_possible():
            copies.append(of_identities)
    for copy in copies:
        copy.request()
    return copies


@app.command("stack")
def stack(
    ctx: typer.Context,
    tables: Annotated[
        list[str],
        typer.Argument(
            metavar="TABLES", help="The tables that the old stack kept: Table, then Identities."
        ),
    ],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Create the stack without asking.")] = False,
) -> None:
    """Create a stack with the tables that a deleted stack left. Then deploy it.

    The new stack has only the tables at first. `pillarbox deploy` adds the rest, and finds the
    accounts, keys and history in them. A stack of an older release left one table.

    Example: `pillarbox restore stack pillarbox-Table-1MRWQ7 pillarbox-Identities-8KX2`
    """
    session: StackSession = ctx.obj
    name = require_aws(session)
    existing = stacks.describe(name)
    if existing is not None and existing.status == "IMPORT_COMPLETE":
        _show_stack(session, name, kept_table.imported_tables(existing.stack_id))
        return
    # An import that was interrupted leaves a stack in review, without resources.
    if existing is not None and existing.status != "REVIEW_IN_PROGRESS":
        message = f"{name} exists already ({existing.status}). Tear it down first."
        raise ValidationFailed(FieldError("--stack-name", message, "not_allowed"))
    if len(tables) > _MOST_TABLES:
        raise typer.BadParameter("a stack has two tables", param_hint="TABLES")
    described = {table: kept_table.describe(table) for table in tables}
    if len(tables) == 1 and kept_table.need_identities(tables[0]):
        message = f"the API keys are not in {tables[0]}: name the table Identities too"
        raise ValidationFailed(FieldError("TABLES", message, "required"))
    confirm(session, f"Create the stack {name} over these tables?", yes=yes)
    with progress("Importing the tables"):
        kept_table.import_into(name, described)
    _show_stack(session, name, tables)


def _show_stack(session: StackSession, name: str, tables: list[str]) -> None:
    named = dict(zip(("table", "identities"), tables, strict=False))
    session.show({"stack": name, **named}, hint=_DEPLOY)
