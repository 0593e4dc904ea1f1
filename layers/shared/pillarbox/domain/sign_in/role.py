"""Roles of users in an account, and what each may do."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from pillarbox.domain.accounts.key import (
    ACCOUNT_READ,
    ACCOUNT_WRITE,
    DOMAINS_READ,
    DOMAINS_WRITE,
    DRAFTS_READ,
    DRAFTS_WRITE,
    EMAILS_CONTENT,
    EMAILS_READ,
    EMAILS_SEND,
    KEYS_READ,
    KEYS_WRITE,
    MEMBERS_READ,
    MEMBERS_WRITE,
    SCOPES,
    SENDERS_WRITE,
    SUPPRESSIONS_READ,
    SUPPRESSIONS_WRITE,
    TEMPLATES_READ,
    TEMPLATES_WRITE,
    WEBHOOKS_READ,
    WEBHOOKS_WRITE,
)


class Role(StrEnum):
    """What a user is in an account, from the most rights to the fewest."""

    OWNER = "owner"
    DEVELOPER = "developer"
    AUTHOR = "author"
    VIEWER = "viewer"


#: Only operators of the service have it. No role and no key contains it.
OPERATE: Final = "service:operate"

_VIEWER: Final = frozenset({EMAILS_READ, TEMPLATES_READ, DRAFTS_READ, WEBHOOKS_READ}) | {
    SUPPRESSIONS_READ,
    MEMBERS_READ,
    ACCOUNT_READ,
    DOMAINS_READ,
}
_AUTHOR: Final = _VIEWER | {TEMPLATES_WRITE, DRAFTS_WRITE}
_DEVELOPER: Final = _AUTHOR | {
    *(
        EMAILS_SEND,
        EMAILS_CONTENT,
        WEBHOOKS_WRITE,
        KEYS_READ,
        KEYS_WRITE,
        SUPPRESSIONS_WRITE,
        DOMAINS_WRITE,
        SENDERS_WRITE,
    )
}
_OWNER: Final = _DEVELOPER | {MEMBERS_WRITE, ACCOUNT_WRITE}
#: The scopes of a session by the role of its user. No session sends: the routes that do take keys
#: only. With `EMAILS_SEND` it changes emails that wait.
ROLE_SCOPES: Final[Mapping[Role, frozenset[str]]] = {
    Role.OWNER: _OWNER,
    Role.DEVELOPER: _DEVELOPER,
    Role.AUTHOR: _AUTHOR,
    Role.VIEWER: _VIEWER,
}


def rights_of(role: Role) -> frozenset[str]:
    """Return the scopes that a member has, alone or by a key that it creates for itself."""
    scopes = ROLE_SCOPES[role]
    return scopes & SCOPES | (SCOPES if KEYS_WRITE in scopes else frozenset())
