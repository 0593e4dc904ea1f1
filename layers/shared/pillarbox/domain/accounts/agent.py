"""What limits an API key that an agent uses: a program that a language model steers.

The limits hold on every route. Otherwise the agent could avoid them with another request.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.address import domain_of, mailbox_key
from pillarbox.domain.errors import Json, ServiceError

#: In a list of recipients: every address.
ANYONE: Final = "*"
#: The entries that a list of recipients may have: they are read with each request.
MAX_ENTRIES: Final = 100
#: The daily limit of a key that is created without one.
DEFAULT_PER_DAY: Final = 100


class Confirmation(StrEnum):
    """Who confirms each send of a key."""

    #: The user of the agent, over MCP.
    ASK = "ask"
    #: An owner of the account: each email waits until one releases it in the dashboard.
    OWNER = "owner"
    OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """The limits of an agent's key.

    `recipients` are addresses and domains in lower case, or `ANYONE`. A domain does not include
    its subdomains. `per_day` is the number of messages of the key; its recipients a day follow
    from it as those of an account do.
    """

    recipients: tuple[str, ...]
    confirmation: Confirmation = Confirmation.ASK
    per_day: int = DEFAULT_PER_DAY

    @property
    def limits(self) -> Limits:
        """Return the limits of the key's own quota."""
        return Limits(per_minute=None, per_day=self.per_day, per_month=None, of_key=True)

    def check_recipients(self, addresses: Iterable[str]) -> None:
        """Refuse parsed addresses that are not in the list.

        Raises:
            ServiceError: `recipient_not_allowed`; `details.recipients` lists each.
        """
        refused: list[Json] = [
            {"address": address, "reason": "not_allowed"}
            for address in addresses
            if not self._allows(address)
        ]
        if refused:
            raise ServiceError(
                "recipient_not_allowed",
                "This key may not send to every address of this email; nothing was sent. The"
                " operator sets a key's recipients when creating it.",
                details={"recipients": refused},
            )

    def _allows(self, address: str) -> bool:
        return not {ANYONE, mailbox_key(address), domain_of(address)}.isdisjoint(self.recipients)


def confirmation_required() -> ServiceError:
    """Return the error of a send that needs a confirmation and has none."""
    return ServiceError(
        "confirmation_required",
        "A person must confirm each send of this key, and only the MCP server can ask. Nothing"
        " was sent.",
    )


def owner_required(message: str) -> ServiceError:
    """Return the error of what only an owner of the account can do, with how."""
    return ServiceError("confirmation_required", message)
