"""The addresses to which webhooks may be sent.

The service calls URLs that its tenants choose, so a URL must not lead into a private network
(server-side request forgery). This module says which URLs have the right form. Whether the host's
addresses are public, `domain.public_address` says.
"""

import re
from dataclasses import dataclass
from typing import Final

#: In characters.
MAX_URL: Final = 2048
HTTPS_PORT: Final = 443
#: Below it, only 443 is allowed: the others belong to services such as SMTP.
LEAST_OTHER_PORT: Final = 1024
_MAX_PORT: Final = 65535
#: RFC 1035 section 2.3.4.
_MAX_NAME: Final = 253

_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
#: A last label that does not begin with a letter would make the name an IPv4 address for some
#: programs: `127.1`, `0x7f.1`.
_NAME: Final = rf"(?:{_LABEL}\.)+(?=[a-z]){_LABEL}"
#: What a program may read as an address: numbers, also hexadecimal ones, or IPv6 in brackets.
_ADDRESS: Final = r"(?:0x[0-9a-f]*|[0-9]+)(?:\.(?:0x[0-9a-f]*|[0-9]*))*|\[.*"
_PORT: Final = r"[1-9][0-9]{0,4}"
#: The characters of RFC 3986, without the fragment's.
_TARGET: Final = r"[/?][A-Za-z0-9._~:/?@!$&'()*+,;=%\[\]-]*"
_LOCAL_HOST: Final = "127.0.0.1"


class WebhookUrlError(ValueError):
    """Webhooks cannot be sent to this URL; the text says why, and continues `The URL …`."""


@dataclass(frozen=True, slots=True)
class WebhookUrl:
    """A URL in its parts. `is_local` is true for the local stack's `http://127.0.0.1:PORT/…`."""

    host: str
    port: int
    #: The path and the query.
    target: str
    is_local: bool = False


def parse_webhook_url(text: str, *, allow_local: bool = False) -> WebhookUrl:
    """Return the parts of a URL that webhooks may be sent to.

    Every parser must read the URL in the same way, so only one plain form is accepted: `https`, a
    host name of ASCII letters, digits and hyphens, perhaps a port, and a path.

    Args:
        allow_local: also accept `http://127.0.0.1:PORT/…`, as the local stack does.
    """
    if len(text) > MAX_URL:
        raise WebhookUrlError(f"must not be longer than {MAX_URL} characters")
    if not text.isascii() or not text.isprintable() or " " in text:
        raise WebhookUrlError(
            "must be printable ASCII without blanks: write the host as xn--… and encode the rest"
        )
    scheme, separator, rest = text.partition("://")
    authority = re.split(r"[/?#\\]", rest, maxsplit=1)[0]
    target = rest[len(authority) :] or "/"
    is_local = allow_local and scheme == "http"
    if not separator or (scheme.lower() != "https" and not is_local):
        raise WebhookUrlError("must begin with https://")
    if "@" in authority:
        raise WebhookUrlError("must not contain a user name or a password")
    host, colon, port = authority.partition(":")
    _check_host(host.lower(), is_local=is_local)
    if not re.fullmatch(_TARGET, target):
        raise WebhookUrlError("must not have a fragment or characters that a URL must encode")
    number = _port(port, is_local=is_local) if colon or is_local else HTTPS_PORT
    return WebhookUrl(host.lower(), number, target if target[0] == "/" else f"/{target}", is_local)


def _check_host(host: str, *, is_local: bool) -> None:
    if is_local:
        if host == "localhost":
            raise WebhookUrlError("must have the host 127.0.0.1: localhost may be another address")
        if host != _LOCAL_HOST:
            raise WebhookUrlError("must begin with https://, or with http://127.0.0.1:")
        return
    if re.fullmatch(_ADDRESS, host):
        raise WebhookUrlError("must have a host name, not an IP address")
    if len(host) > _MAX_NAME or not re.fullmatch(_NAME, host):
        raise WebhookUrlError("must have a full host name, such as hooks.example.com")


def _port(text: str, *, is_local: bool) -> int:
    port = int(text) if re.fullmatch(_PORT, text) else 0
    if not 0 < port <= _MAX_PORT:
        raise WebhookUrlError(f"must have a port from 1 to {_MAX_PORT}")
    if port != HTTPS_PORT and port < LEAST_OTHER_PORT and not is_local:
        raise WebhookUrlError(
            f"must have the port {HTTPS_PORT}, or one from {LEAST_OTHER_PORT} to {_MAX_PORT}"
        )
    return port
