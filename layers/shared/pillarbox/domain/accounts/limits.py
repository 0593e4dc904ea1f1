"""How many things of a kind an account can have.

Without such limits one account could make the lists of its things too long to read in one request.
"""

from typing import Final

from pillarbox.domain.errors import ServiceError

#: API keys that are not revoked, and revoked ones that stay in the list: emails name their key.
MAX_KEYS: Final = 100
MAX_REVOKED_KEYS: Final = 400
#: Management keys that members and keys may create in a day: owners get an email about each.
MAX_ADDED_MANAGEMENT_KEYS: Final = 50
#: Members, invited ones included.
MAX_MEMBERS: Final = 100
#: Templates with a draft, so all that were begun or edited in the dashboard.
MAX_TEMPLATES: Final = 200
#: The versions of one template that are kept, with the published one.
MAX_VERSIONS: Final = 100
#: Domains: one account cannot use up what SES allows for all, 10,000.
MAX_DOMAINS: Final = 20
#: Domains that an account may add in a day, removed ones included.
MAX_ADDED_DOMAINS: Final = 20
MAX_ENDPOINTS: Final = 10
#: Days for which the content of emails may be kept.
MAX_KEEP: Final = 90
#: After how many days the records of emails can be deleted. No email waits for so long.
MIN_RECORD_DAYS: Final = 90
MAX_RECORD_DAYS: Final = 3_650


def limit_exceeded(code: str, limit: int, things: str) -> ServiceError:
    """Return the error for an account that has so many things of a kind."""
    message = f"An account can have at most {limit} {things}."
    return ServiceError(code, message, details={"limit": limit})
