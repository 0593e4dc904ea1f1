"""Roles of users in an account, and what each may do."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from pillarbox.domain.accounts.key import (
    EMAILS_READ,
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


#: Permissions that no key has.
KEYS_MANAGE: Final = "keys:manage"
SUPPRESSIONS_READ: Final = "suppressions:read"
SUPPRESSIONS_WRITE: Final = "suppressions:write"
MEMBERS_READ: Final = "members:read"
MEMBERS_WRITE: Final = "members:write"
ACCOUNT_READ: Final = "account:read"
ACCOUNT_WRITE: Final = "account:write"
DOMAINS_READ: Final = "domains:read"
DOMAINS_WRITE: Final = "domains:write"
#: Only operators of the service have it. No role contains it.
OPERATE: Final = "service:operate"

_VIEWER: Final = frozenset({EMAILS_READ, TEMPLATES_READ, WEBHOOKS_READ}) | {
    SUPPRESSIONS_READ,
    MEMBERS_READ,
    ACCOUNT_READ,
    DOMAINS_READ,
}
_AUTHOR: Final = _VIEWER | {TEMPLATES_WRITE}
_DEVELOPER: Final = _AUTHOR | {WEBHOOKS_WRITE, KEYS_MANAGE, SUPPRESSIONS_WRITE, DOMAINS_WRITE}
_OWNER: Final = _DEVELOPER | {MEMBERS_WRITE, ACCOUNT_WRITE}
#: The scopes of a session by the role of its user. No role sends: a session only reads emails.
ROLE_SCOPES: Final[Mapping[Role, frozenset[str]]] = {
    Role.OWNER: _OWNER,
    Role.DEVELOPER: _DEVELOPER,
    Role.AUTHOR: _AUTHOR,
    Role.VIEWER: _VIEWER,
}
