"""The JSON of the responses about signing up, as `sign_up_replies.py` writes it.

As in `reply_types.py`, the OpenAPI document is made from these types, and no function loads them.
"""

from typing import Annotated, Literal, TypedDict

from pydantic import Field

from pillarbox.domain.sign_in.sign_up import SignUpStatus
from pillarbox.http.messages.reply_types import Timestamp
from pillarbox.http.sign_in.reply_types import ChosenAccount


class ChallengeItem(TypedDict):
    """A challenge in version 1 of the protocol of ALTCHA."""

    algorithm: Literal["SHA-256"]
    challenge: Annotated[
        str, Field(description="The hash of the salt followed by the number, in hex.")
    ]
    maxnumber: Annotated[int, Field(description="The number is from 0 to this one.")]
    salt: str
    signature: str


class SignUpItem(TypedDict):
    """What the user of a session can do to get an account."""

    status: Annotated[
        SignUpStatus,
        Field(
            description="`available`: the user can create an account; `on_approval`: can ask the"
            " operator for one; `pending`: has asked; `refused`: was refused; `created`: has"
            " created one; `closed`: cannot create one."
        ),
    ]
    challenge: Annotated[
        ChallengeItem | None,
        Field(description="The proof of work for `available` and `on_approval`."),
    ]
    account: Annotated[
        ChosenAccount | None, Field(description="The account that this request has created.")
    ]


class PendingSignUp(TypedDict):
    """A user who asks for an account."""

    email: str
    name: Annotated[str, Field(description="Of the account.")]
    askedAt: Timestamp


class PendingList(TypedDict):
    """The users who wait for the operator, the oldest request first."""

    items: list[PendingSignUp]
