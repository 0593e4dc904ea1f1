"""Whether a webhook's signature is valid, as a receiver checks it (Standard Webhooks 1.0.0)."""

import hmac
import re
from collections.abc import Collection, Mapping
from typing import Final, Literal

from pillarbox.domain.webhooks.endpoint import sign

#: `missing`: a header is absent. `unknown`: no endpoint has the receiver's URL. `stale`: valid, but
#: the time is more than five minutes off, so it may be a replay by a stranger.
type Signature = Literal["valid", "invalid", "stale", "missing", "unknown"]

_TOLERANCE: Final = 300  # seconds
_TIME: Final = re.compile(r"[0-9]{1,12}")
_FIELDS: Final = ("webhook-id", "webhook-timestamp", "webhook-signature")


def check_signature(
    headers: Mapping[str, str], body: bytes, secrets: Collection[str], now: float
) -> Signature:
    """Check a POST.

    Args:
        headers: by lower-case name.
        body: the octets of the body.
        secrets: those of the endpoints with the receiver's URL; any of them may have signed.
        now: the time in seconds.
    """
    event_id, timestamp, signatures = (headers.get(name, "") for name in _FIELDS)
    if not (event_id and timestamp and signatures):
        return "missing"
    if not secrets:
        return "unknown"
    expected = [sign(secret, event_id, timestamp, body).encode() for secret in secrets]
    given = signatures.encode("latin-1").split()
    is_signed = any(hmac.compare_digest(one, other) for one in given for other in expected)
    if not is_signed or not _TIME.fullmatch(timestamp):
        return "invalid"
    return "valid" if abs(now - int(timestamp)) <= _TOLERANCE else "stale"
