"""Read the request for an account, without what the other requests of operators load."""

from typing import Final

from pillarbox.domain.accounts.account import Plan
from pillarbox.http.query import one_of
from pillarbox.http.wire import HEADER_TEXT, WireModel, optional, required, text

#: In characters; an address may be longer before its labels become A-labels.
_MAX_ADDRESS: Final = 1_016


class CreateAccountRequest(WireModel):
    """A new account, without senders and keys."""

    name = required(text(least=1), pattern=HEADER_TEXT, maxLength=128)
    """A name for people."""
    plan = required(one_of(Plan))
    """The account's plan."""
    contact = optional(text(least=1, most=_MAX_ADDRESS))
    """Where the service writes to the account's owner."""
