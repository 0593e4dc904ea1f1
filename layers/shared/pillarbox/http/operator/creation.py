"""Read the request for an account, without what the other requests of operators load."""

from typing import Final

from pillarbox.domain.accounts.account import Plan
from pillarbox.http.query import one_of
from pillarbox.http.wire import WireModel, optional, required, text

#: In characters; an address may be longer before its labels become A-labels.
_MAX_ADDRESS: Final = 1_016


class CreateAccountRequest(WireModel):
    """A new account, without senders and keys."""

    name = required(text(least=1))
    plan = required(one_of(Plan))
    contact = optional(text(least=1, most=_MAX_ADDRESS))
