"""The commands `pillarbox key …`."""

import sys
from datetime import UTC, datetime
from getpass import getpass
from typing import Annotated, Final

import typer

from admin.connection import Account, connected
from admin.tables import Record
from admin.use_cases.agents import agent_settings
from pillarbox.application.accounts.keys import KeyLimits
from pillarbox.domain.accounts.key import (
    DEFAULT_PER_DAY,
    OPERATOR_SCOPES,
    SCOPES,
    ApiKey,
    Confirmation,
    Preset,
)
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.http.accounts.replies import KeyItem, NewKey

app = typer.Typer(no_args_is_help=True, help="API keys.")

#: No key is longer, and a wrong file may be.
_MAX_INPUT: Final = 1_000


_Preview = Annotated[
    bool,
    typer.Option("--preview", help="Create a preview key, which only sends starter templates."),
]
_SelfService = Annotated[
    bool,
    typer.Option(
        "--self-service",
        help="With --preview, for a key that strangers get: its emails are tests with sample"
        " values, each to one recipient.",
    ),
]
_Scopes = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SCOPE",
        help=f"With --preset custom; repeat it for more scopes: {', '.join(sorted(SCOPES))}; in an"
        f" account that operates, {' and '.join(sorted(OPERATOR_SCOPES))} too.",
    ),
]
_Expires = Annotated[
    datetime | None,
    typer.Option(help="With --preset: from when on it does not work, in UTC."),
]
_Sources = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CIDR",
        help="With --preset: the addresses that it works from, such as 192.0.2.0/24; repeat it.",
    ),
]
_Agent = Annotated[
    bool,
    typer.Option(
        "--agent",
        help="With --preset, for a key that an AI agent uses: the options below limit it on"
        " every route.",
    ),
]
_AgentRecipients = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ADDRESS|DOMAIN",
        help="With --agent, required: the only recipients. Repeat it for more; '*' allows"
        " every address.",
    ),
]
_AgentConfirmation = Annotated[
    Confirmation | None,
    typer.Option(
        help="With --agent: who confirms each send. ask: the user of the agent, and the key sends"
        " over the MCP server only; that is the default. owner: each email waits until an owner"
        " of the account releases it in the dashboard. off: no one."
    ),
]
_AgentPerDay = Annotated[
    int | None,
    typer.Option(
        metavar="MESSAGES",
        help=f"With --agent: the daily limit of the key; {DEFAULT_PER_DAY} by default.",
    ),
]


@app.command("create")
def create(  # noqa: PLR0913  one parameter for each option
    ctx: typer.Context,
    *,
    account: Account,
    name: Annotated[str, typer.Option(help="A display name, 1 to 128 characters.")],
    preview: _Preview = False,
    self_service: _SelfService = False,
    preset: Annotated[
        Preset | None, typer.Option(help="Create a live key with the scopes of this preset.")
    ] = None,
    scope: _Scopes = None,
    expires: _Expires = None,
    source: _Sources = None,
    agent: _Agent = False,
    agent_recipient: _AgentRecipients = None,
    agent_confirmation: _AgentConfirmation = None,
    agent_per_day: _AgentPerDay = None,
) -> None:
    """Create a key and show it. Save it now: it is stored only as a digest.

    Free plans do not allow the marketing:campaigns scopes, so the presets marketing and
    analytics need a paid plan.

    Example: `pillarbox key create --account qh4ybvcvbqzk --name web --preset send`

    For an agent: `… --name claude --preset send --agent --agent-recipient ann@example.com`
    """
    if preview == (preset is not None):
        raise typer.BadParameter("use exactly one of them", param_hint="'--preview' / '--preset'")
    if self_service and not preview:
        raise typer.BadParameter("needs --preview", param_hint="'--self-service'")
    if agent and preview:
        raise typer.BadParameter("needs --preset", param_hint="'--agent'")
    of_agent = (agent_confirmation, agent_per_day)
    if not agent and (agent_recipient, *of_agent) != (None, None, None):
        raise typer.BadParameter("need --agent", param_hint="'--agent-…'")
    settings = agent_settings(agent_recipient or (), *of_agent) if agent else None
    connection = connected(ctx)
    if preset is not None:
        until = expires.replace(tzinfo=expires.tzinfo or UTC) if expires else None
        limits = KeyLimits(until, tuple(source or ()))
        issued = connection.wiring.api_keys.issue_live(
            account, name, preset, scope or (), settings, limits=limits
        )
    elif scope:
        error = FieldError(
            "scope", "is only for the preset custom; a preview key has fixed scopes", "not_allowed"
        )
        raise ValidationFailed(error)
    else:
        issued = connection.wiring.api_keys.issue_preview(account, name, self_service=self_service)
    connection.show(
        {**_view(issued.record, None), **NewKey.of(issued)},
        hint="Save the key now: it cannot be shown a second time.",
    )


@app.command("list")
def list_all(ctx: typer.Context, *, account: Account) -> None:
    """List an account's keys, oldest first, including revoked ones.

    lastUsedAt is when a key last sent an email, to within about an hour.

    Example: `pillarbox key list --account qh4ybvcvbqzk`
    """
    connection = connected(ctx)
    keys = connection.wiring.api_keys.of_account(account)
    last_uses = connection.wiring.key_uses.last_uses(account)
    connection.show_list(
        [_view(key, last_uses.get(key.key_id)) for key in keys],
        (
            *("id", "name", "ending", "type", "selfService", "preset", "scopes", "agent"),
            *("createdAt", "lastUsedAt", "revokedAt"),
        ),
    )


@app.command("find")
def find(ctx: typer.Context) -> None:
    """Say which key a text is. The text is read from standard input, never from the command line.

    In a terminal the command asks for it, and does not show what you type or paste. The key is
    printed and logged nowhere. lastUsedAt is when it last sent an email, to within about an hour.

    Example: `pillarbox key find < leaked.txt`
    """
    connection = connected(ctx)
    text = getpass("The key (not shown): ") if sys.stdin.isatty() else sys.stdin.read(_MAX_INPUT)
    key = connection.wiring.api_keys.find(text.strip())
    last_use = connection.wiring.key_uses.last_use(key.account_id, key.key_id)
    connection.show(
        _view(key, last_use),
        hint=None if key.revoked_at else f"Revoke it: pillarbox key revoke {key.key_id}",
    )


@app.command("revoke")
def revoke(
    ctx: typer.Context,
    key_id: Annotated[
        str, typer.Argument(metavar="KEY_ID", help="The key's id, not the key itself.")
    ],
) -> None:
    """Revoke a key with those that it created. They stop at once, and this cannot be undone.

    Example: `pillarbox key revoke key_qh4ybvcvbqzkkbkzysxg`
    """
    connection = connected(ctx)
    key = connection.wiring.api_keys.revoke(key_id)
    connection.show(_view(key, connection.wiring.key_uses.last_use(key.account_id, key.key_id)))


def _view(key: ApiKey, last_used_at: datetime | None) -> Record:
    """Return a key as the HTTP API does, with what only operators ask for."""
    return {
        **KeyItem.of(key, last_used_at=last_used_at),
        "accountId": key.account_id,
        "selfService": key.self_service,
    }
