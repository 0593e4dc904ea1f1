"""AWS's signature, version 4, of a POST request to `/` (docs.aws.amazon.com, SigV4)."""

import hmac
from collections.abc import Mapping
from hashlib import sha256
from time import gmtime, strftime
from typing import Final, NamedTuple

_ALGORITHM: Final = "AWS4-HMAC-SHA256"


class AccessKey(NamedTuple):
    """An access key; temporary ones have a session token."""

    access_key: str
    secret_key: str
    token: str | None


class Signer:
    """Signs requests to one service of one region. It keeps the key that it derives for a day."""

    def __init__(self, service: str, region: str) -> None:
        self._scope = (region, service, "aws4_request")
        self._derived: tuple[tuple[str, str], bytes] = ("", ""), b""

    def sign(
        self, headers: Mapping[str, str], body: bytes, credentials: AccessKey
    ) -> dict[str, str]:
        """Return the headers of a request with the time, the token and the signature.

        Args:
            headers: those to sign, among them `host`, with names in small letters.
            body: the request's.
            credentials: the caller's.
        """
        now = strftime("%Y%m%dT%H%M%SZ", gmtime())
        signed = {**headers, "x-amz-date": now}
        if credentials.token:
            signed["x-amz-security-token"] = credentials.token
        lines = "".join(f"{name}:{signed[name]}\n" for name in sorted(signed))
        names = ";".join(sorted(signed))
        request = f"POST\n/\n\n{lines}\n{names}\n{sha256(body).hexdigest()}"
        scope = "/".join((now[:8], *self._scope))
        text = f"{_ALGORITHM}\n{now}\n{scope}\n{sha256(request.encode()).hexdigest()}"
        key = self._key(now[:8], credentials.secret_key)
        signature = hmac.digest(key, text.encode(), "sha256").hex()
        signed["authorization"] = (
            f"{_ALGORITHM} Credential={credentials.access_key}/{scope},"
            f" SignedHeaders={names}, Signature={signature}"
        )
        return signed

    def _key(self, day: str, secret: str) -> bytes:
        source, key = self._derived
        if source != (day, secret):
            key = f"AWS4{secret}".encode()
            for part in (day, *self._scope):
                key = hmac.digest(key, part.encode(), "sha256")
            self._derived = (day, secret), key  # one assignment: other threads see all or nothing
        return key
