"""Why a recipient's server refused an email: a code from its enhanced status code (RFC 3463)."""

import re
from collections.abc import Mapping
from typing import Final

#: The codes, and what they mean in plain words.
BOUNCE_MEANINGS: Final[Mapping[str, str]] = {
    "mailbox_unknown": "The recipient's server has no such mailbox.",
    "domain_unknown": "The recipient's domain does not exist or takes no mail.",
    "address_refused": "The recipient's server refused the address.",
    "mailbox_moved": "The mailbox has moved, and the server gave no new address.",
    "mailbox_disabled": "The mailbox exists and does not accept mail.",
    "mailbox_full": "The mailbox is full.",
    "mailbox_refused": "The mailbox does not accept this mail.",
    "sender_refused": "The recipient's server refused the sender's address.",
    "message_too_large": "The email is larger than the recipient's server accepts.",
    "server_refused": "The recipient's server does not accept mail now.",
    "server_unreachable": "The recipient's server could not be reached.",
    "routing_failed": "The email went in a circle between servers, or found no way.",
    "gave_up": "The recipient's server did not accept the email in the time allowed.",
    "protocol_error": "The recipient's server did not understand the sending server.",
    "content_refused": "The recipient's server refused the content of the email.",
    "policy_refused": "The recipient's server refused the email by its policy, such as for spam.",
    "authentication_failed": "The recipient's server refused the email because SPF, DKIM or DMARC"
    " failed.",
    "deferred": "The recipient's server put the email off, and it was not delivered later.",
}

#: Subject and detail of the status code -> the code. A detail of None stands for all others.
_CODES: Final[Mapping[tuple[int, int | None], str]] = {
    (1, 1): "mailbox_unknown",
    (1, 2): "domain_unknown",
    (1, 6): "mailbox_moved",
    (1, 7): "sender_refused",
    (1, 8): "sender_refused",
    (1, 10): "domain_unknown",  # RFC 7505: a null MX
    (1, None): "address_refused",
    (2, 1): "mailbox_disabled",
    (2, 2): "mailbox_full",
    (2, 3): "message_too_large",
    (2, None): "mailbox_refused",
    (3, 4): "message_too_large",
    (3, None): "server_refused",
    (4, 1): "server_unreachable",
    (4, 2): "server_unreachable",
    (4, 7): "gave_up",
    (4, None): "routing_failed",
    (5, None): "protocol_error",
    (6, None): "content_refused",
    # RFC 7372, and RFC 8616 for the last one.
    **dict.fromkeys(
        ((7, detail) for detail in (20, 21, 22, 23, 24, 26, 29, 30)), "authentication_failed"
    ),
    (7, None): "policy_refused",
}
#: RFC 3463 section 2. In a text it follows the reply code, so that no version or IP address counts.
_STATUS: Final = r"[45]\.(\d{1,3})\.(\d{1,3})"
_IN_TEXT: Final = rf"\b[45]\d\d[ -]#?({_STATUS})(?![.\d])"
#: A temporary failure with one of these names its cause better than `deferred` does.
_TEMPORARY: Final = frozenset({"mailbox_full", "mailbox_disabled", "gave_up"})


def bounce_code(status: str | None, diagnostic: str | None) -> str | None:
    """Return the code of a refusal; None if no status code says more than that it failed.

    Args:
        status: the field Status of the report (RFC 3464 section 2.3.4).
        diagnostic: the server's reply, which is believed first, since it is nearer to the cause.
    """
    found = re.search(_IN_TEXT, diagnostic or "")
    for text in (found[1] if found else None, status):
        if text and (code := _code(text)):
            return code
    return None


def _code(status: str) -> str | None:
    match = re.fullmatch(_STATUS, status.strip())
    if match is None:
        return None
    subject, detail = int(match[1]), int(match[2])
    code = _CODES.get((subject, detail)) or _CODES.get((subject, None))
    if status.startswith("4") and code not in _TEMPORARY:
        return "deferred" if code or subject == 0 else None
    return code
