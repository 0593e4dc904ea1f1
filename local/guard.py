"""Keeps web pages in the developer's browser, and other programs, away from the local servers.

A server on the loopback interface is reachable from every page that the browser shows. This module
is used in the stack's process and in the engine's: it imports only the standard library.
"""

import hmac
import json
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from typing import Any, Final
from urllib.parse import parse_qs
from uuid import uuid4

type Scope = Mapping[str, Any]
type Receive = Callable[[], Awaitable[Any]]
type Send = Callable[[Any], Awaitable[None]]
type App = Callable[[Any, Receive, Send], Awaitable[None]]

#: The header in which the edge sends the access key id: its requests are not signed for AWS.
KEY_HEADER: Final = "x-pillarbox-access-key-id"
#: Before the name of a field that a browser sent to the edge. The functions get its plain name.
BROWSER_PREFIX: Final = "x-pillarbox-browser-"

_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_PORT: Final = re.compile(r":\d+\Z")
_DEFAULT_PORT: Final = 80
_CREDENTIAL: Final = re.compile(r"AWS4-HMAC-SHA256 (?:.*[ ,])?Credential=([^/,\s]+)/")
#: The fields that every browser adds to requests from a page (Fetch, and Fetch Metadata).
_BROWSER: Final = re.compile(r"origin|sec-fetch-.*")
_REFUSED: Final = 403
_MESSAGE: Final = (
    "The local stack takes no requests of web pages, and AWS calls only with its keys."
)


class LoopbackHost:
    """Passes requests to this server by a name that it has, and refuses all others (DNS rebinding).

    It always has the names of the loopback address, with its own port.
    """

    def __init__(self, app: App, port: int, names: Collection[str] = ()) -> None:
        """Guard an application.

        Args:
            app: what answers the requests that pass.
            port: the server's port.
            names: more names, with any port: a container's ports may have others outside. The
                application sees such a request under the loopback name.
        """
        self._app = app
        self._hosts = {f"{name}:{port}" for name in _LOOPBACK}
        if port == _DEFAULT_PORT:
            self._hosts.update(_LOOPBACK)
        self._names = names
        self._own = f"{_LOOPBACK[0]}:{port}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "lifespan":
            hosts = [host.lower() for host in _values(scope, "host")]
            if len(hosts) != 1 or not (hosts[0] in self._hosts or self._is_named(hosts[0])):
                await _refuse(scope, send)
                return
            if hosts[0] not in self._hosts:
                scope = {**scope, "headers": [*self._renamed(scope, hosts[0])]}
        await self._app(scope, receive, send)

    def _renamed(self, scope: Scope, host: str) -> Iterator[tuple[bytes, bytes]]:
        """Yield the headers under the loopback name, also the origin of the server's own pages."""
        yield b"host", self._own
        origin = f"http://{host}".encode()
        for name, value in scope["headers"]:
            if name.lower() == b"origin" and value.lower() == origin:
                yield name, b"http://" + self._own
            elif name.lower() != b"host":
                yield name, value

    def _is_named(self, host: str) -> bool:
        return _PORT.sub("", host) in self._names


class SameOrigin:
    """Passes requests of the server's own pages and of programs that are not browsers.

    It also passes the opening of a page, such as a click on a link, because the page that the link
    is on cannot read what opens.
    """

    def __init__(self, app: App, images: str = "(?!)") -> None:
        """Guard an application behind a `LoopbackHost`.

        Args:
            app: what answers the requests that pass.
            images: a pattern of paths whose images a sandboxed frame may show: its requests come
                from no origin. The paths must be impossible to guess. By default there are none.
        """
        self._app = app
        self._images = re.compile(images)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan" or (scope["type"] == "http" and self._passes(scope)):
            await self._app(scope, receive, send)
        else:
            await _refuse(scope, send)

    def _passes(self, scope: Scope) -> bool:
        if _is_opening(scope):
            return True
        if _use(scope) == ("GET", "no-cors", "image") and self._images.fullmatch(scope["path"]):
            return True
        host = next(_values(scope, "host"), "")
        return all(origin == f"http://{host}" for origin in _values(scope, "origin")) and all(
            site in {"same-origin", "none"} for site in _values(scope, "sec-fetch-site")
        )


class SignedRequests:
    """Passes requests that carry this run's access key id and that no page has sent.

    It also passes the opening of a signed link, such as that to the file of an email, because the
    page that the link is on cannot read what opens.

    The id is random and so takes the place of a password: the engine does not check the signatures
    of its root user. The access key ids of the functions' roles begin with it.
    """

    def __init__(self, app: App, access_key_id: str) -> None:
        """Guard an application behind a `LoopbackHost`."""
        self._app = app
        self._access_key_id = access_key_id.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http" and self._passes(scope):
            key_header, prefix = KEY_HEADER.encode(), BROWSER_PREFIX.encode()
            headers = [
                (name.lower().removeprefix(prefix), value)
                for name, value in scope["headers"]
                if name.lower() != key_header
            ]
            await self._app({**scope, "headers": headers}, receive, send)
        else:
            await _refuse(scope, send)

    def _passes(self, scope: Scope) -> bool:
        from_browser = any(_BROWSER.fullmatch(name) for name, _ in _fields(scope))
        if scope["method"] == "OPTIONS" or (from_browser and not _is_opening_content(scope)):
            return False
        size = len(self._access_key_id)
        return any(
            hmac.compare_digest(given.encode()[:size], self._access_key_id)
            for given in _access_key_ids(scope)
        )


_FORM: Final = "application/x-www-form-urlencoded"


class JsonBodies:
    """Passes requests that declare JSON or have no body, as the SDKs send them.

    Those of the query protocol are forms, at the root alone.
    """

    def __init__(self, app: App) -> None:
        """Guard an application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "http" and scope["method"] in {"POST", "PUT", "PATCH"}:
            types = [value.partition(";")[0].strip() for value in _values(scope, "content-type")]
            if types != [_FORM if scope["path"] == "/" else "application/json"]:
                await _refuse(scope, send)
                return
        await self._app(scope, receive, send)


def _is_opening(scope: Scope) -> bool:
    """Return whether a browser opens a page or a file, as by a click on a link."""
    return _use(scope) == ("GET", "navigate", "document")


def _is_opening_content(scope: Scope) -> bool:
    """Return whether it opens a link to kept content, and asks for no action of a service."""
    is_action = b"Action=" in scope["query_string"]
    is_content = any(part in scope["path"] for part in ("/kept/", "/answers/"))
    return is_content and not is_action and _is_opening(scope)


def _use(scope: Scope) -> tuple[str, ...]:
    fetch = (*_values(scope, "sec-fetch-mode"), *_values(scope, "sec-fetch-dest"))
    return (scope["method"], *fetch)


def _access_key_ids(scope: Scope) -> Iterator[str]:
    """Yield the access key ids in a request's signature, in its URL and in our own header."""
    yield from _values(scope, KEY_HEADER)
    for authorization in _values(scope, "authorization"):
        if signed := _CREDENTIAL.match(authorization):
            yield signed[1]
    query = parse_qs(scope["query_string"].decode("latin-1"))
    for credential in query.get("X-Amz-Credential", ()):
        yield credential.partition("/")[0]


def _fields(scope: Scope) -> Iterator[tuple[str, str]]:
    for name, value in scope["headers"]:
        yield name.decode("latin-1").lower(), value.decode("latin-1")


def _values(scope: Scope, name: str) -> Iterator[str]:
    return (value for field, value in _fields(scope) if field == name)


async def _refuse(scope: Scope, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    # The envelope of the API, and what an AWS SDK shows.
    error = {"type": "authorization_error", "code": "client_blocked", "message": _MESSAGE}
    body = json.dumps({"error": error, "__type": "AccessDeniedException", "message": _MESSAGE})
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        (b"x-request-id", str(uuid4()).encode()),
    ]
    await send({"type": "http.response.start", "status": _REFUSED, "headers": headers})
    await send({"type": "http.response.body", "body": body.encode()})
