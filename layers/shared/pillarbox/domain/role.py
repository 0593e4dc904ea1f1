"""Roles of users in an account, and what each may do."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from pillarbox.domain.key import (
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


#: Scopes of sessions only: no key can have one.
DOMAINS_READ: Final = "domains:read"
DOMAINS_WRITE: Final = "domains:write"

_VIEWER: Final = frozenset({EMAILS_READ, TEMPLATES_READ, WEBHOOKS_READ, DOMAINS_READ})
_AUTHOR: Final = _VIEWER | {TEMPLATES_WRITE}
_DEVELOPER: Final = _AUTHOR | {WEBHOOKS_WRITE, DOMAINS_WRITE}
#: The scopes of a session by the role of its user. No role sends: a session only reads emails.
ROLE_SCOPES: Final[Mapping[Role, frozenset[str]]] = {
    Role.OWNER: _DEVELOPER,
    Role.DEVELOPER: _DEVELOPER,
    Role.AUTHOR: _AUTHOR,
    Role.VIEWER: _VIEWER,
}
