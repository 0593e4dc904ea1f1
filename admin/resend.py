"""The command `pillarbox message resend`."""

from collections import Counter
from enum import StrEnum
from typing import Annotated, Final

import typer

from admin.confirm import confirm, require_yes
from admin.connection import StackConnection, connected
from admin.messages import message_row
from admin.progress import progress
from admin.tables import Record, print_lines
from admin.times import HELP, parse_time
from admin.use_cases.send_again import CopyOutcome, ResendPlan, ResendSelection
from pillarbox.domain.messages.message import Message, Status
from pillarbox.wiring import utc_now

#: Why an email is not sent again, for people. Programs get the name.
REASONS: Final = {
    "is_copy": "copies of other emails",
    "stopped": "that were canceled, or stopped with their key or account",
    "sent_again": "sent again before",
    "not_kept": "whose content is not kept, or not any more",
    "uncertain": "that may have been sent (--uncertain sends them)",
    "partly_sent": "that went to some of their recipients",
}


class ResendStatus(StrEnum):
    """The statuses of emails that did not arrive."""

    FAILED = "failed"
    BOUNCED = "bounced"


def resend(  # noqa: PLR0913  one parameter for each option
    ctx: typer.Context,
    *,
    since: Annotated[str, typer.Option(metavar="TIME", help=f"The start of the range: {HELP}")],
    until: Annotated[
        str, typer.Option(metavar="TIME", help="The end of the range; by default now.")
    ] = "0m",
    status: Annotated[
        ResendStatus, typer.Option(help="What became of the emails.")
    ] = ResendStatus.FAILED,
    account: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The account's id; without it, all accounts."),
    ] = None,
    uncertain: Annotated[
        bool,
        typer.Option("--uncertain", help="Also those that SES may have sent: some people get two."),
    ] = False,
    again_since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Also those whose copies were made before TIME; without it, never twice.",
        ),
    ] = None,
    rate: Annotated[float, typer.Option(min=0.1, max=100, help="The most emails in a second.")] = 5,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be sent, and send nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Send without asking.")] = False,
) -> None:
    """Send the kept content of emails that failed again, each as a new email.

    The command counts, asks, and then sends to the same recipients, as `POST
    /api/v1/emails/{id}/resend` does: with the account's quota and present suppressions. For that
    it makes a key of each account, which it revokes at the end.

    An email is sent again once, also if you run the command again: what has a copy is left out,
    for ever. To send one more copy on purpose, name a time with `--again-since`: copies that were
    made before it do not count.

    Example: `pillarbox message resend --status failed --since 2h --dry-run`
    """
    connection = connected(ctx)
    if not dry_run:
        require_yes(connection, yes=yes)
    now = utc_now()
    selection = ResendSelection(
        status=Status(status.value),
        since=parse_time("since", since, now),
        until=parse_time("until", until, now),
        again_since=None if again_since is None else parse_time("again-since", again_since, now),
        uncertain=uncertain,
    )
    with progress("Reading", "messages") as report:
        plan = connection.wiring.bulk_resend.plan(account, selection, report)
    _tell(connection, plan)
    if dry_run or not plan.copies:
        _show(connection, plan, [_row(copy.message) for copy in plan.copies], [])
        if dry_run:
            connection.note("This was a dry run: nothing was sent.")
        return
    confirm(connection, f"Send {_count(len(plan.copies), 'email')} again?", yes=yes)
    outcomes: list[CopyOutcome] = []
    try:
        with progress("Sending", "emails", total=len(plan.copies)) as report:
            outcomes.extend(connection.wiring.bulk_resend.run(plan, rate, report))
    finally:
        _show(connection, plan, [_outcome(one) for one in outcomes], outcomes)
    if any(one.error for one in outcomes):
        raise typer.Exit(1)


def _tell(connection: StackConnection, plan: ResendPlan) -> None:
    accounts = len({copy.message.account_id for copy in plan.copies})
    of_accounts = _count(accounts, "account")
    connection.note(f"{_count(len(plan.copies), 'email')} of {of_accounts} can be sent again.")
    for reason, count in plan.left_out.most_common():
        connection.note(f"Left out: {count:,} {REASONS[reason]}.")


def _show(
    connection: StackConnection,
    plan: ResendPlan,
    rows: list[Record],
    outcomes: list[CopyOutcome],
) -> None:
    refused = Counter(one.error for one in outcomes if one.error)
    sent = len(outcomes) - refused.total()
    connection.show_list(
        rows,
        ("messageId", "copyId", "error", "createdAt", "recipients", "subject"),
        {
            "selected": len(plan.copies),
            "sent": sent,
            "leftOut": {reason: plan.left_out[reason] for reason in REASONS},
            "refused": dict(refused),
        },
        draw=print_lines,
    )
    if outcomes:
        connection.note(f"{_count(sent, 'email')} sent again, {refused.total():,} refused.")


def _outcome(outcome: CopyOutcome) -> Record:
    return {**_row(outcome.message), "copyId": outcome.copy_id, "error": outcome.error}


def _row(message: Message) -> Record:
    """Return what find shows of a message, with what became of its copy."""
    return {**message_row(message), "copyId": None, "error": None}


def _count(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'' if count == 1 else 's'}"
