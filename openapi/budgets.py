"""What limits the calls of an operation."""

from collections.abc import Mapping
from typing import Final

from openapi.operations import OPERATIONS

#: By the name of the count, where the service counts itself. `requests` is what all routes have:
#: who names it for an operation says that one call costs little.
BUDGETS: Final[Mapping[str, str]] = {
    "quota": (
        "emails of the account in a minute, day and month, and twice as many refused or rehearsed"
        " ones in a minute"
    ),
    "render": "120 sources of the account compiled or rendered in a minute",
    "draft": "240 drafts of the account in a minute",
    "slow": "60 requests of the account in a minute, together",
    "post": "60 posts of the account in a minute",
    "replayed": "one in a minute for each endpoint",
    "rescheduled": "50 for each message",
    "domains": "20 domains of the account in a day",
    "domain-link": "10 of the account's links in a minute",
    "keys": "50 management keys of the account in a day",
    "invitations": (
        "15 of the account in a day, 5 without a verified sender, and three to one address"
    ),
    "tokens": "60 of the user in a minute",
    "codes": "15 of the address in an hour and 20 of the network, and five tries of each code",
    "passkeys": "60 tries of the user in an hour, and 200 of the network",
    "accounts": "5 of the network in a day, after a proof of work",
    "operators": "calls of the operators of the service, whom it trusts",
    "requests": (
        "the requests a second of the route, and with a firewall those of an address and"
        " a key in a minute; one call reads or changes a bounded number of records"
    ),
}


def budget_rows() -> list[str]:
    """Return the rows of the table of all budgets; that of the routes' rate does not name each."""
    named = {
        name: "`mcp` and every other operation"
        if name == "requests"
        else ", ".join(f"`{one.id}`" for one in OPERATIONS if name in one.budgets)
        for name in BUDGETS
    }
    return [f"| {BUDGETS[name]} | {operations} |" for name, operations in named.items()]
