"""The JSON of the responses about preview keys, as `preview_key_replies.py` writes it.

As in `reply_types.py`, the OpenAPI document is made from these types, and no function loads them.
"""

from typing import Annotated, TypedDict

from pydantic import Field

from pillarbox.http.sign_in.sign_up_types import ChallengeItem


class ChallengeOffer(TypedDict):
    """The work that a code needs."""

    challenge: ChallengeItem


class PreviewKeyItem(TypedDict):
    """A new preview key."""

    key: Annotated[str, Field(description="The key. No other response has it.")]
    address: Annotated[str, Field(description="The address that was confirmed.")]
    expiresInDays: Annotated[
        int, Field(description="After so many days without a send, the key does not send any more.")
    ]
