"""Connections that stay open between requests (HTTP/1.1, RFC 9112), with botocore's exceptions."""

import os
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from select import POLLIN, poll
from typing import Any, BinaryIO, Final, NamedTuple, Self

import botocore
from botocore import exceptions as sdk

from pillarbox.adapters.aws import CallLimits

#: What botocore trusts, too.
AUTHORITIES: Final = Path(botocore.__file__).with_name("cacert.pem")
#: Variables with which only botocore finds the endpoint or the way to it.
_ONLY_BOTOCORE: Final = (
    "AWS_PROFILE AWS_DEFAULT_PROFILE AWS_ACCOUNT_ID"
    " AWS_IGNORE_CONFIGURED_ENDPOINT_URLS AWS_USE_FIPS_ENDPOINT AWS_USE_DUALSTACK_ENDPOINT"
    " HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy"
)
#: The longest line of a response, as in `http.client`.
_LINE: Final = 65536
_LATE, _CLOSED = sdk.ReadTimeoutError, sdk.ConnectionClosedError


class Endpoint(NamedTuple):
    """Where requests to a service of a region go."""

    service: str
    region: str
    url: str

    @classmethod
    def find(cls, service: str) -> Self | None:
        """Return the endpoint that the environment names; None if only botocore can find it."""
        region = os.environ.get("AWS_DEFAULT_REGION", "")
        # The isolated partitions and the European cloud have domains of their own.
        if not region or "iso" in region or region.startswith("eusc-"):
            return None
        if any(map(os.environ.get, _ONLY_BOTOCORE.split())):
            return None
        domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
        url = (
            os.environ.get(f"AWS_ENDPOINT_URL_{service.upper()}")
            or os.environ.get("AWS_ENDPOINT_URL")
            or f"https://{service}.{region}.{domain}"
        ).rstrip("/")
        is_plain = url.count("/") == 2 and not {*url} & {*"@[?#"}  # noqa: PLR2004  scheme and host
        return cls(service, region, url) if is_plain else None

    @property
    def host(self) -> str:
        """The host with its port, unless that is the scheme's own."""
        scheme, _, host = self.url.partition("://")
        return host.removesuffix(":443" if scheme == "https" else ":80")


class Response(NamedTuple):
    """The response to a request; names of headers are in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class AwsConnection:
    """A connection to an endpoint, for one request at a time.

    Args:
        endpoint: where to connect.
        limits: how long it may take to open, and each part of a response.

    Raises:
        BotoCoreError: it did not come about.
    """

    def __init__(self, endpoint: Endpoint, limits: CallLimits) -> None:
        self._url = endpoint.url
        scheme, _, address = endpoint.url.partition("://")
        host, _, port = address.partition(":")
        with _errors(self._url, sdk.ConnectTimeoutError, sdk.EndpointConnectionError):
            target = host, int(port or (443 if scheme == "https" else 80))
            self._socket = socket.create_connection(target, limits.connect_timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if scheme == "https":
            with _errors(self._url, _LATE, _CLOSED):
                self._socket = _tls().wrap_socket(self._socket, server_hostname=host)
        self._socket.settimeout(limits.read_timeout)
        self._readable = poll()
        self._readable.register(self._socket, POLLIN)
        self._reusable = True

    @property
    def reusable(self) -> bool:
        """Whether another request may be sent: the server neither closed it nor sent more."""
        return self._reusable and not self._readable.poll(0)

    def close(self) -> None:
        """Close it, whatever it waits for."""
        self._socket.close()

    def __del__(self) -> None:  # of an idle one, if nobody has the client any more
        with suppress(AttributeError):  # it did not come about
            self.close()

    def exchange(self, request: bytes) -> Response:
        """Send a request once, and read the response.

        Raises:
            BotoCoreError: there is no response; the service may have handled the request.
        """
        self._reusable = False
        # A server may respond before it has read all, and close: the response counts.
        with _errors(self._url, _CLOSED, _CLOSED), suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(request)
        with _errors(self._url, _LATE, _CLOSED), self._socket.makefile("rb") as reader:
            version, code, *_ = reader.readline(_LINE).split(None, 2)
            headers = _read_headers(reader)
            # The services send no response of another kind, so one is as good as lost.
            if not (version.startswith(b"HTTP/") and len(code) == 3 and code >= b"200"):  # noqa: PLR2004
                raise ValueError(f"{version!r} {code!r} starts no response")
            if "transfer-encoding" in headers:
                raise ValueError("the response has no length")
            length = int(headers.get("content-length", -1))
            body = reader.read(length)  # to the end, if there is no length
        stays = headers.get("connection", "").lower() != "close" and version == b"HTTP/1.1"
        self._reusable = stays and len(body) == length
        return Response(int(code), headers, body)


@contextmanager
def _errors(url: str, timeout: type[Exception], other: type[Exception]) -> Iterator[None]:
    """Raise botocore's error: that of a time-out, that of TLS, or another one."""
    try:
        yield
    except (OSError, ValueError) as error:
        kinds = (TimeoutError, timeout), (ssl.SSLError, sdk.SSLError), (Exception, other)
        kind: Any = next(kind for of, kind in kinds if isinstance(error, of))
        raise kind(endpoint_url=url, error=error) from error


def _read_headers(reader: BinaryIO) -> dict[str, str]:
    lines = iter(lambda: reader.readline(_LINE).decode("latin-1").rstrip("\r\n"), "")
    parts = (line.partition(":") for line in lines)
    return {name.strip().lower(): value.strip() for name, _, value in parts}


@cache
def _tls() -> ssl.SSLContext:
    """Return what verifies certificates and names; reading the authorities takes a while."""
    chosen = os.environ.get("AWS_CA_BUNDLE") or os.environ.get("REQUESTS_CA_BUNDLE")
    return ssl.create_default_context(cafile=chosen or AUTHORITIES)
