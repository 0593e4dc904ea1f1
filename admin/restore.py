"""The commands `pillarbox restore …`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

import typer

from admin import times
from admin.aws import example_stack, kept_table, stacks
from admin.aws.live_rows import LiveRows, decoded, replacement, row_key
from admin.aws.table_copy import TableCopy, read_row
from admin.confirm import agrees, confirm, require_aws, require_yes
from admin.connection import StackConnection
from admin.dry_run import DryRun, dry_run
from admin.progress import progress
from admin.use_cases.restore import (
    REPLACED,
    RESTORED,
    Choice,
    LeftOut,
    differences,
)
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import Item
from pillarbox.domain.errors import FieldError, Json, ValidationFailed
from pillarbox.wiring import utc_now

_TABLES: Final = 2
#: The name of the new stack in a dry run without AWS.
_NEW_EXAMPLE: Final = f"{example_stack.NAME}-restored"
_DEPLOY: Final = "The stack has its tables. Now deploy the rest: pillarbox deploy --environment …"

app = typer.Typer(
    no_args_is_help=True, help="Bring back rows of the tables, or a stack with its kept tables."
)


_At = Annotated[str, typer.Option(metavar="TIME", help=times.HELP)]
_Accounts = Annotated[
    list[str] | None,
    typer.Option(metavar="ID", help="An account to restore; may be repeated."),
]
_Replace = Annotated[
    tuple[str, str] | None,
    typer.Option(
        metavar="KIND ID",
        help="With one --account: only this row, also if there is one, which is then replaced."
        f" KIND: {', '.join(sorted(REPLACED))}.",
    ),
]


@app.command("rows")
def rows(  # noqa: PLR0913  one parameter for each option
    ctx: typer.Context,
    *,
    at: _At,
    account: _Accounts = None,
    all_accounts: Annotated[
        bool, typer.Option("--all-accounts", help="Restore every account.")
    ] = False,
    messages: Annotated[
        bool, typer.Option("--messages", help="Messages too, if they are older than two days.")
    ] = False,
    replace: _Replace = None,
    keep_copy: Annotated[
        bool, typer.Option("--keep-copy", help="Do not delete the copies of the tables at the end.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Restore without asking.")] = False,
    rehearse: DryRun = False,
) -> None:
    """Bring back rows that the tables had at a time in the last 35 days and lack now.

    A row that exists stays as it is, unless --replace names it. So do keys that were revoked. But
    what was removed on purpose since then works again: keys and webhook endpoints of an account,
    and the access of its members. The command says which rows it leaves out, and why. Nothing that
    comes back is announced to webhook endpoints.

    DynamoDB first makes a copy of each whole table, which takes twenty minutes or more. If the
    command is interrupted, run it again with the same exact time: it finds the copies.

    Example: `pillarbox restore rows --at 2026-11-20T09:00 --account qh4ybvcvbqzk`
    """
    if bool(account) == all_accounts:
        raise typer.BadParameter("say --account or --all-accounts", param_hint="'rows'")
    if replace and len(account or ()) != 1:
        raise typer.BadParameter("needs one --account", param_hint="--replace")
    connection: StackConnection = ctx.obj
    if not rehearse:
        require_aws(connection)
        require_yes(connection, yes=yes)
    key = row_key(replace[0], account[0], replace[1]) if replace and account else None
    with dry_run(connection, wanted=rehearse) as without_aws:
        connection.connect()
        now = utc_now()
        moment = times.parse_time("--at", at, now).replace(microsecond=0)
        copies, requested = _copied(connection, moment)
        # A dry run makes no copies, so their rows are unknown; the example without AWS has rows.
        known = not (rehearse and requested) or without_aws
        run = _Restore(
            connection=connection,
            live=LiveRows(connection.wiring.table, connection.wiring.credentials, now),
            copies=copies,
            choice=Choice(
                accounts=frozenset(account or ()),
                messages=messages,
                now=now,
                users=frozenset(user for copy in copies for user in copy.members(account or ())),
            ),
            yes=yes or rehearse,
        )
        result = run.finish(key if known else None, keep_copy=keep_copy)
        connection.show(
            {"at": moment.isoformat(), **result},
            hint="Now correct the statistics of each account: pillarbox stats rebuild --account ID"
            if (messages or (key and keys.is_message(key))) and result["restoredRows"]
            else None,
        )
    if not known:
        connection.note("Only the copies tell which rows are missing: each is one more PutItem.")


def _copied(connection: StackConnection, moment: datetime) -> tuple[list[TableCopy], bool]:
    """Return both tables as they were at a time, and whether a copy had to be requested."""
    copies = _copies(connection, moment)
    requested = [copy.request() for copy in copies]
    connection.note(f"DynamoDB copies the tables as they were at {moment.isoformat()}.")
    with progress("Waiting for the copies, which takes twenty minutes or more"):
        for copy in copies:
            copy.wait()
    return copies, any(requested)


def _copies(connection: StackConnection, moment: datetime) -> list[TableCopy]:
    """Return the copies of both tables, each of which there is or can be."""
    wiring = connection.wiring
    copies = [TableCopy(each, moment) for each in (wiring.table, wiring.credentials)]
    for copy in copies:
        copy.check()
    return copies


@dataclass(frozen=True, slots=True, kw_only=True)
class _Restore:
    """One run over copies that exist."""

    connection: StackConnection
    live: LiveRows
    copies: list[TableCopy]
    choice: Choice
    yes: bool

    def finish(self, key: Item | None, *, keep_copy: bool) -> dict[str, Json]:
        """Replace the row of a key, or put missing rows back; then delete the copies."""
        agreed, result = self._replace(key) if key else self._put_missing()
        names = [copy.name for copy in self.copies]
        if not keep_copy:
            for copy in self.copies:
                copy.delete()
        if not agreed:
            state = "is kept" if keep_copy else "is deleted"
            named = " ".join(f"The copy {name} {state}." for name in names)
            self.connection.note(f"Nothing was restored. {named}")
            raise typer.Abort
        return result | {"copy": " ".join(names) if keep_copy else None}

    def _put_missing(self) -> tuple[bool, dict[str, Json]]:
        """Show which rows are missing, and put them back if the operator agrees.

        Return whether the operator agreed, and the result.
        """
        connection, left_out = self.connection, Counter[LeftOut]()
        counts: Counter[tuple[str, str]] = Counter()
        with progress("Comparing the copies with the tables"):
            for items in self._missing(left_out):
                rows = map(read_row, items)
                counts.update((row.account_id, RESTORED[row.kind].name) for row in rows)
        if not connection.json:
            connection.show_list(
                [
                    {"accountId": account_id or None, "kind": kind, "missingRows": number}
                    for (account_id, kind), number in sorted(counts.items())
                ],
                ("accountId", "kind", "missingRows"),
            )
        stays_away = sorted(left_out.items(), key=lambda pair: (pair[0].name, pair[0].reason))
        for one, number in stays_away:
            connection.note(f"Not restored: {one.name} ({number:,}), {one.reason}.")
        agreed = not counts or agrees(connection, "Put these rows back?", yes=self.yes)
        restored = 0
        if agreed:
            with progress("Restoring", "rows", total=counts.total()) as report:
                for items in self._missing(Counter()):
                    restored += self.live.put_all(items)
                    report(restored)
        reasons: list[Json] = [
            {"kind": one.name, "rows": number, "reason": one.reason} for one, number in stays_away
        ]
        result: dict[str, Json] = {"restoredRows": restored}
        return agreed, result | ({"leftOut": reasons} if connection.json else {})

    def _replace(self, key: Item) -> tuple[bool, dict[str, Json]]:
        """Show what one row loses, and give it its former state if the operator agrees.

        Return whether the operator agreed, and the result.
        """
        then = next((row for copy in self.copies if (row := copy.get(key))), None)
        refused = None
        if then and keys.is_message(key):
            refused = self.choice.refused_message(read_row(then))
        if then is None or refused:
            why = refused.reason if refused else "was not there then"
            named = " ".join(copy.name for copy in self.copies)
            message = f"{why}. The copies stay until you delete them: {named}"
            raise ValidationFailed(FieldError("--replace", message, "not_found"))
        now = self.live.get(key)
        former = replacement(now, then) if now else then
        changes = [*differences(decoded(now) if now else {}, decoded(former))]
        if not self.connection.json:
            self.connection.show_list(
                [{"attribute": one.attribute, "now": one.now, "then": one.then} for one in changes],
                ("attribute", "now", "then"),
            )
        if not changes:
            return True, {"restoredRows": 0}
        question = "Replace what is there now?" if now else "Put this row back?"
        agreed = agrees(self.connection, question, yes=self.yes)
        restored = 0
        if agreed and now:
            self.live.replace(now, former)
            restored = 1
        elif agreed:
            restored = self.live.put_all([then])
        return agreed, {"restoredRows": restored}

    def _missing(self, left_out: Counter[LeftOut]) -> Iterator[Sequence[Item]]:
        for copy in self.copies:
            for items in copy.wanted(self.choice, left_out):
                if missing := self.live.missing(items):
                    yield missing


@app.command("stack")
def stack(
    ctx: typer.Context,
    tables: Annotated[
        list[str],
        typer.Argument(
            metavar="TABLES", help="The tables that the old stack kept: Table, then Credentials."
        ),
    ],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Create the stack without asking.")] = False,
    rehearse: DryRun = False,
) -> None:
    """Create a stack with the tables that a deleted stack left. Then deploy it.

    The new stack has only the tables at first. `pillarbox deploy` adds the rest, and finds the
    accounts, keys and history in them.

    Example: `pillarbox restore stack pillarbox-Table-1MRWQ7 pillarbox-Credentials-8KX2`
    """
    connection: StackConnection = ctx.obj
    with dry_run(connection, wanted=rehearse, example=_NEW_EXAMPLE):
        _create_stack(connection, tables, yes=yes or rehearse)


def _create_stack(connection: StackConnection, tables: list[str], *, yes: bool) -> None:
    name = require_aws(connection)
    existing = stacks.describe(name)
    if existing is not None and existing.status == "IMPORT_COMPLETE":
        _show_stack(connection, name, kept_table.imported_tables(existing.stack_id))
        return
    # An import that was interrupted leaves a stack in review, without resources.
    if existing is not None and existing.status != "REVIEW_IN_PROGRESS":
        message = f"{name} exists already ({existing.status}). Tear it down first."
        raise ValidationFailed(FieldError("--stack-name", message, "not_allowed"))
    if len(tables) != _TABLES:
        raise typer.BadParameter("name Table and Credentials of the stack", param_hint="TABLES")
    described = {table: kept_table.describe(table) for table in tables}
    confirm(connection, f"Create the stack {name} over these tables?", yes=yes)
    kept_table.forget_address(tables[0])
    with progress("Importing the tables"):
        kept_table.import_into(name, described)
    _show_stack(connection, name, tables)


def _show_stack(connection: StackConnection, name: str, tables: list[str]) -> None:
    named = dict(zip(("table", "credentials"), tables, strict=False))
    connection.show({"stack": name, **named}, hint=_DEPLOY)
