"""POST requests to addresses that tenants choose, only to public hosts and within a deadline.

The standard library's HTTP client follows no redirects, reads no proxy from the environment, keeps
no cookies and asks for no compression. This module adds the connection, and the time it may take.
"""

import re
import ssl
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cached_property
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse
from io import BufferedReader, RawIOBase
from ipaddress import ip_address
from pathlib import Path
from socket import create_connection, socket
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import botocore
import dns.exception
import dns.resolver

from pillarbox.adapters.dns import MAX_WAIT, Unanswered, make_resolver
from pillarbox.application.webhooks.ports import PostResult
from pillarbox.domain.public_address import is_public
from pillarbox.domain.webhooks.url import HTTPS_PORT, WebhookUrl, WebhookUrlError, parse_webhook_url

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: For one POST in all, in seconds: DNS, connection, TLS, request and response.
DEADLINE: Final = 8.0
#: For the connection to one address, in seconds, so that there is time to try another.
_CONNECT: Final = 3.0
#: In octets: of a response's body, and of a response.
MAX_BODY: Final = 1024
_MAX_RESPONSE: Final = 32 * 1024
#: In characters: what the owner of an endpoint sees of an error response.
MAX_SHOWN: Final = 256
#: More than any caller waits.
_MAX_RETRY_AFTER: Final = timedelta(days=7)
_USER_AGENT: Final = "Pillarbox-Webhooks/1"
#: The authorities that the AWS SDK trusts: they are in the layer, and each release pins them.
AUTHORITIES: Final = Path(botocore.__file__).with_name("cacert.pem")

#: Returns the seconds that are left, and raises TimeoutError at the end.
type _TimeLeft = Callable[[], float]
type Connect = Callable[[tuple[str, int], float], socket]


class HttpsWebhookPoster:
    """Implements `webhooks.ports.WebhookPoster`; several threads can use one.

    Args:
        allow_local: also post to `http://127.0.0.1:PORT/…`, as the local stack does.
        authorities: the PEM file of the certificate authorities to trust.
        deadline: for one POST in all, in seconds.
        clock: returns seconds that only increase.
        connect: connects to an address and a port within so many seconds.
    """

    def __init__(  # noqa: PLR0913  tests replace each
        self,
        servers: tuple[str, ...] = (),
        *,
        allow_local: bool = False,
        authorities: Path = AUTHORITIES,
        deadline: float = DEADLINE,
        clock: Callable[[], float] = monotonic,
        connect: Connect = create_connection,
    ) -> None:
        self._servers = servers
        self._allow_local = allow_local
        self._authorities = authorities
        self._deadline = deadline
        self._clock = clock
        self._connect = connect
        #: Only checks of new URLs heed it: a POST has a reason to ask again.
        self._unanswered = Unanswered(clock)

    @cached_property
    def _resolver(self) -> dns.resolver.Resolver:
        return make_resolver(self._servers)

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Checks chain, time and name of a certificate."""
        context = ssl.create_default_context(cafile=self._authorities)
        context.set_alpn_protocols(["http/1.1"])
        return context

    def check(self, url: str) -> str | None:
        """Check a URL's form and its host's addresses; return what is wrong: `must …`."""
        try:
            parsed = parse_webhook_url(url, allow_local=self._allow_local)
            if parsed.host in self._unanswered:
                raise _no_answer()
            self._addresses(parsed, self._time_left())
        except WebhookUrlError as error:
            return str(error)
        return None

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> PostResult:
        """POST a body; return within the deadline. Every failure is a result."""
        left = self._time_left()
        try:
            parsed = parse_webhook_url(url, allow_local=self._allow_local)
            with closing(self._connected(parsed, left)) as connected:
                return _exchange(_TimedSocket(connected, left), parsed, headers, body)
        except WebhookUrlError as error:
            reason = f"the URL {error}"
        except TimeoutError:
            reason = f"no response within {self._deadline:g} seconds"
        except ssl.SSLCertVerificationError as error:
            reason = f"TLS failed: {error.verify_message}"
        except ssl.SSLError:
            reason = "TLS failed"
        except OSError as error:
            reason = f"the connection failed: {error.strerror or error}"
        except HTTPException:
            reason = "the response is not HTTP"
        return PostResult(status_code=None, error=reason)

    def _time_left(self) -> _TimeLeft:
        end = self._clock() + self._deadline

        def left() -> float:
            if (seconds := end - self._clock()) <= 0:
                raise TimeoutError
            return seconds

        return left

    def _addresses(self, url: WebhookUrl, left: _TimeLeft) -> list[str]:
        """Return the host's addresses, IPv4 first, which are all public."""
        if url.is_local:
            return [url.host]
        found = [*self._records(url.host, "A", left), *self._records(url.host, "AAAA", left)]
        if not found:
            raise WebhookUrlError("must have a host name that has an address")
        if not all(is_public(ip_address(address)) for address in found):
            # A tenant in AWS must not learn what the operator's name servers answer.
            cause = (
                f"; for this stack's DNS {url.host} is {found[0]}. Use http://127.0.0.1:PORT/…"
                if self._allow_local
                else ""
            )
            raise WebhookUrlError(f"must have a host name whose addresses are all public{cause}")
        return found

    def _records(self, host: str, kind: str, left: _TimeLeft) -> list[str]:
        """Return the addresses at the end of the host's CNAME chain."""
        wait = min(left(), MAX_WAIT)
        try:
            answer = self._resolver.resolve(f"{host}.", kind, search=False, lifetime=wait)
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            return []
        except dns.exception.DNSException:
            self._unanswered.add(host)
            raise _no_answer() from None
        return [record.to_text() for record in answer]

    def _connected(self, url: WebhookUrl, left: _TimeLeft) -> socket:
        """Connect to one of the checked addresses, with TLS for the host's name."""
        connected = self._connect_to_one(self._addresses(url, left), url.port, left)
        if url.is_local:
            return connected
        try:
            connected.settimeout(left())
            return self._tls.wrap_socket(connected, server_hostname=url.host)
        except BaseException:
            connected.close()
            raise

    def _connect_to_one(self, addresses: list[str], port: int, left: _TimeLeft) -> socket:
        """Return the first connection that succeeds, or raise the error of the last."""
        for address in addresses[:-1]:
            with suppress(OSError):
                return self._connect((address, port), min(left(), _CONNECT))
        return self._connect((addresses[-1], port), left())


def _no_answer() -> WebhookUrlError:
    return WebhookUrlError("must have a host name that the DNS finds, and it gives no answer now")


class _TimedSocket:
    """What `http.client` uses of a socket; all of it ends at one time."""

    def __init__(self, connected: socket, left: _TimeLeft) -> None:
        self._connected = connected
        self._left = left

    def sendall(self, data: bytes) -> None:
        """Send data. The method of a TLS socket would start its time anew with each part."""
        unsent = memoryview(data)
        while unsent:
            self._connected.settimeout(self._left())
            unsent = unsent[self._connected.send(unsent) :]

    def makefile(self, _mode: str) -> BufferedReader:
        return BufferedReader(_TimedReader(self._connected, self._left), MAX_BODY)

    def close(self) -> None:
        """Do nothing: the response may still be read."""


class _TimedReader(RawIOBase):
    """Reads until the time is over, and no more than a response may have."""

    def __init__(self, connected: socket, left: _TimeLeft) -> None:
        self._connected = connected
        self._left = left
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        if self._size >= _MAX_RESPONSE:
            raise HTTPException("The response is too long.")
        self._connected.settimeout(self._left())
        size = self._connected.recv_into(buffer)
        self._size += size
        return size


def _exchange(
    connected: _TimedSocket, url: WebhookUrl, headers: Mapping[str, str], body: bytes
) -> PostResult:
    connection = HTTPConnection(url.host)
    connection.auto_open = 0
    timed: Any = connected
    connection.sock = timed
    own = {
        "Host": url.host if url.port == HTTPS_PORT else f"{url.host}:{url.port}",
        "User-Agent": _USER_AGENT,
        "Content-Type": "application/json",
        "Connection": "close",
    }
    connection.request("POST", url.target, body, {**headers, **own})
    response = connection.getresponse()
    is_error = response.status >= HTTPStatus.BAD_REQUEST
    result = PostResult(
        status_code=response.status,
        retry_after=retry_after(response.headers.get("Retry-After", ""), datetime.now(UTC)),
        body=_shown(_read_body(response)) if is_error else "",
    )
    response.close()
    return result


def _read_body(response: HTTPResponse) -> bytes:
    """Return the start of a body: what arrives in time."""
    body = b""
    with suppress(OSError, HTTPException):
        while len(body) < MAX_BODY and (part := response.read1(MAX_BODY - len(body))):
            body += part
    return body


def _shown(body: bytes) -> str:
    """Return the printable characters on one line."""
    text = body.decode("utf-8", "replace")
    words = "".join(char if char.isprintable() else " " for char in text).split()
    return " ".join(words)[:MAX_SHOWN]


def retry_after(text: str, now: datetime) -> timedelta | None:
    """Return the wait that a Retry-After field asks for (RFC 9110 section 10.2.3)."""
    if re.fullmatch(r"[0-9]{1,9}", text):
        wait = timedelta(seconds=int(text))
    else:
        try:
            moment = parsedate_to_datetime(text)
        except (ValueError, OverflowError):
            return None
        wait = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now
    return min(max(wait, timedelta(0)), _MAX_RETRY_AFTER)


def in_threads[R](
    calls: Sequence[Callable[[], R]],
    patience: timedelta | None = None,
    while_running: Callable[[Sequence[int]], None] = lambda _: None,
) -> Sequence[R | Exception]:
    """Implements `webhooks.ports.Parallel`, with a thread for each call."""
    if not calls:
        return []
    with ThreadPoolExecutor(len(calls)) as pool:
        futures = [pool.submit(call) for call in calls]
        running = set(futures)
        while patience is not None and running:
            _, running = wait(futures, patience.total_seconds())
            if running:
                positions = [position for position, f in enumerate(futures) if f in running]
                with suppress(Exception):  # the results of the calls matter more
                    while_running(positions)
    results: list[R | Exception] = []
    for future in futures:
        error = future.exception()
        if error is not None and not isinstance(error, Exception):
            raise error
        results.append(future.result() if error is None else error)
    return results
