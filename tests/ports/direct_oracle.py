"""botocore as the oracle of the direct client: both make a call of one server over real sockets."""

import base64
import json
import random
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from types import SimpleNamespace
from typing import Any, Final
from unittest import mock
from zlib import crc32

from botocore import auth, endpoint, handlers
from botocore.awsrequest import AWSRequest
from botocore.credentials import ReadOnlyCredentials
from botocore.exceptions import BotoCoreError, ClientError
from botocore.model import Shape
from botocore.retries.standard import ExponentialBackoff

from pillarbox.adapters import direct
from pillarbox.adapters.aws import WITH_RETRIES, make_client, use_direct_client
from pillarbox.adapters.direct import OPERATIONS, CallLimits, DirectClient
from pillarbox.adapters.sdk import sdk_session
from tests.integration.webhooks.receivers import read_request

REGION: Final = "eu-west-1"
CREDENTIALS: Final = ReadOnlyCredentials("AKIDEXAMPLE", "secret/+", "session//token==", None)
VARIABLES: Final = {
    "AWS_ACCESS_KEY_ID": CREDENTIALS.access_key,
    "AWS_SECRET_ACCESS_KEY": CREDENTIALS.secret_key,
    "AWS_SESSION_TOKEN": CREDENTIALS.token,
    "AWS_DEFAULT_REGION": REGION,
    "AWS_LAMBDA_FUNCTION_NAME": "send",
    "_X_AMZN_TRACE_ID": "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8",
}
#: A read that the server does not answer ends soon.
IMPATIENT: Final = CallLimits(read_timeout=0.5)
#: What both clients send. The SDK's own headers say how often it tried, and no service needs them.
_HEADERS: Final = (
    *("content-type", "x-amz-target", "x-amzn-query-mode", "x-amz-security-token", "host"),
    *("path", "x-amz-invocation-type"),
    *("user-agent", "accept-encoding", "content-length", "x-amzn-trace-id"),
)
_TOKEN: Final = "11111111-2222-3333-4444-555555555555"

#: A read of an item.
GET: Final = ("get_item", {"TableName": "t", "Key": {"pk": {"S": "a"}}})

#: Answers a request on a connection; returns whether the server keeps the connection open.
type Act = Callable[[socket.socket], bool]


def reply(status: int, body: bytes, *, checksum: bool = False, **headers: str) -> bytes:
    fields = {"content-length": str(len(body))} | (
        {"x-amz-crc32": str(crc32(body))} if checksum else {}
    )
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value)
    return f"HTTP/1.1 {status} Text\r\n{lines}\r\n".encode() + body


def sends(response: bytes, *, stays: bool = True) -> Act:
    """Send these octets, and close unless it stays."""

    def act(connection: socket.socket) -> bool:
        connection.sendall(response)
        return stays

    return act


def resets(response: bytes = b"") -> Act:
    """Send these octets, and reset the connection."""

    def act(connection: socket.socket) -> bool:
        connection.sendall(response)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False

    return act


class Server:
    """A server that does to each request what is next in a script; then it answers `{}`."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.script: list[Act] = []
        self.requests: list[bytes] = []
        self.connections = 0
        #: In seconds, after which a new connection without a request is closed.
        self.idle: float | None = None
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                self._open.append(connection)
                thread = threading.Thread(target=self._serve, args=[connection])
                self._threads.append(thread)
                thread.start()

    def _serve(self, plain: socket.socket) -> None:
        connection = plain
        with suppress(OSError, ConnectionResetError):
            if self._tls:
                connection = self._tls.wrap_socket(plain, server_side=True)
                self._open.append(connection)
            connection.settimeout(self.idle)
            stays = True
            while stays:
                request = read_request(connection)
                self.requests.append(request)
                act = self.script.pop(0) if self.script else sends(reply(200, b"{}"))
                stays = act(connection)
        connection.close()

    def wait_until_closed(self) -> None:
        """Wait until each connection was idle for too long."""
        for thread in self._threads[1:]:
            thread.join()

    def close(self) -> None:
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()


@dataclass
class Outcome:
    """What a client makes of a script: results or errors, and what it sent and waited for."""

    results: list[Any] = field(default_factory=list)
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    connections: int = 0
    waits: list[float] = field(default_factory=list)


type Call = tuple[str, Mapping[str, Any]]


@contextmanager
def both_clients(
    variables: dict[str, str], service: str, limits: CallLimits = WITH_RETRIES
) -> Iterator[dict[str, Any]]:
    """Yield a client of each kind, whose waits take no time and are recorded in `waits`."""
    waits: list[float] = []
    half = property(lambda _: lambda: 0.5, lambda _, __: None)
    with (
        mock.patch.dict("os.environ", VARIABLES | variables),
        mock.patch.object(endpoint, "time", SimpleNamespace(sleep=waits.append)),
        mock.patch.object(direct, "sleep", waits.append),
        mock.patch.object(direct, "random", return_value=0.5),
        mock.patch.object(ExponentialBackoff, "_random", half, create=True),
        mock.patch.object(handlers, "uuid", SimpleNamespace(uuid4=lambda: _TOKEN)),
        mock.patch.object(direct, "uuid4", return_value=_TOKEN),
    ):
        sdk_session.cache_clear()
        clients: dict[str, Any] = {"waits": waits}
        for kind in ("botocore", "direct"):
            use_direct_client(on=kind == "direct")
            clients[kind] = make_client(service, limits)
        use_direct_client(on=False)
        assert isinstance(clients["direct"], DirectClient)
        yield clients
        sdk_session.cache_clear()


def run(
    server: Server, client: Any, waits: list[float], calls: Sequence[Call], script: Sequence[Act]
) -> Outcome:
    server.script, server.requests, server.connections = list(script), [], 0
    waits.clear()
    outcome = Outcome()
    for operation, parameters in calls:
        try:
            result = getattr(client, operation)(**parameters)
            outcome.results.append(_without_headers(result))
        except ClientError as error:
            response = _without_headers(error.response)
            outcome.results.append(("ClientError", error.operation_name, response))
        except BotoCoreError as error:
            outcome.results.append(type(error).__name__)
    outcome.requests = [_parse(request) for request in server.requests]
    outcome.connections, outcome.waits = server.connections, [*waits]
    return outcome


@dataclass
class Pair:
    """A client of each kind, and the server that both call."""

    server: Server
    botocore: Any
    direct: DirectClient
    waits: list[float]

    def compare(self, calls: Sequence[Call], script: Sequence[Act]) -> Outcome:
        """Assert that both clients do the same with new connections; return what they do."""
        self.botocore._endpoint.http_session.close()
        self.direct._idle.clear()
        expected = run(self.server, self.botocore, self.waits, calls, script)
        found = run(self.server, self.direct, self.waits, calls, script)
        check(expected, found)
        return found


@contextmanager
def pair(service: str, limits: CallLimits = WITH_RETRIES) -> Iterator[Pair]:
    """Run a server, with a client of each kind."""
    server = Server()
    url = {f"AWS_ENDPOINT_URL_{service.upper()}": f"http://127.0.0.1:{server.port}"}
    try:
        with both_clients(url, service, limits) as clients:
            yield Pair(server, clients["botocore"], clients["direct"], clients["waits"])
    finally:
        server.close()


def check(expected: Outcome, found: Outcome) -> None:
    """Assert that two outcomes are the same, and that each request is signed as botocore signs."""
    for own, of_botocore in zip(found.results, expected.results, strict=True):
        assert own == of_botocore, f"{own} is not {of_botocore}"
    assert found.waits == expected.waits, f"{found.waits} is not {expected.waits}"
    assert found.connections == expected.connections, f"{found} is not {expected}"
    bodies, expected_bodies = ([body for _, body in of.requests] for of in (found, expected))
    assert bodies == expected_bodies, f"{bodies} is not {expected_bodies}"
    for (headers, body), (of_botocore, _) in zip(found.requests, expected.requests, strict=True):
        for name in _HEADERS:
            assert headers.get(name) == of_botocore.get(name), name
        assert headers["authorization"] == signature(headers, body)


def signature(
    headers: Mapping[str, str], body: bytes, credentials: ReadOnlyCredentials = CREDENTIALS
) -> str:
    """Return how botocore signs a request with these headers and this path at its time."""
    path = headers.get("path", "/")
    services = {"x-amzn-query-mode": "sqs", "x-amz-invocation-type": "lambda"}
    service = next((services[name] for name in services if name in headers), "dynamodb")
    sent = datetime.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    own = (
        "authorization",
        "x-amz-date",
        "x-amz-security-token",
        "content-length",
        "accept-encoding",
        "path",
    )
    request = AWSRequest(
        "POST",
        f"http://{headers['host']}{path}",
        {name: text for name, text in headers.items() if name not in own},
        body,
    )
    with mock.patch.object(auth, "get_current_datetime", return_value=sent):
        auth.SigV4Auth(credentials, service, REGION).add_auth(request)
    return str(request.headers["Authorization"])


def _parse(request: bytes) -> tuple[dict[str, str], bytes]:
    head, _, body = request.partition(b"\r\n\r\n")
    line, *lines = head.decode().split("\r\n")
    method, path, version = line.split()
    assert (method, version) == ("POST", "HTTP/1.1")
    fields = (line.partition(": ") for line in lines)
    return {name.lower(): text for name, _, text in fields} | {"path": path}, body


def _without_headers(response: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {
        name: response["ResponseMetadata"].get(name) for name in ("HTTPStatusCode", "RetryAttempts")
    }
    # The product does not read the result of an invocation.
    result = {name: response[name] for name in response.keys() - {"Payload", "StatusCode"}}
    return {**result, "ResponseMetadata": metadata}


@cache
def model(service: str) -> Any:
    return sdk_session().get_service_model(service)


def operations() -> list[tuple[str, str, Any]]:
    """Return service, method and model of each operation whose parameters are sent as JSON."""
    names = {
        service: {name.lower(): name for name in model(service).operation_names}
        for service in ("dynamodb", "sqs")
    }
    return [
        (service, method, model(service).operation_model(names[service][method.replace("_", "")]))
        for service in names
        for method in OPERATIONS[service].split()
    ]


#: No adapter sends or requests the attributes of a message, which alone may be binary in SQS.
_UNUSED: Final = {"MessageAttributes", "MessageSystemAttributes"}
_TEXTS: Final = ("", "B", "a", "S", "ü—✓", '"quoted"\\', "\x00\n\x7f", "😀", "<b>&", " x ")


def value(shape: Shape, rng: random.Random, depth: int = 0) -> Any:
    """Return a random value of a shape of botocore's model."""
    match shape.type_name:
        case "structure":
            members: Any = {n: s for n, s in shape.members.items() if n not in _UNUSED}  # type: ignore[attr-defined]
            if shape.name == "AttributeValue":
                # The service stores no sets of binary values.
                leaves = [n for n in members if n != "BS" and (depth < 6 or n not in {"M", "L"})]
                members = {name: members[name] for name in [rng.choice(leaves)]}
                required = set(members)
            else:
                required = set(shape.required_members)
            return {
                name: value(member, rng, depth + 1)
                for name, member in members.items()
                if name in required or rng.random() < (0.5 if depth < 4 else 0.1)
            }
        case "list":
            return [value(shape.member, rng, depth + 1) for _ in range(rng.randrange(3))]  # type: ignore[attr-defined]
        case "map":
            # DynamoDB takes names of attributes only if they begin so.
            start = "#" if shape.name == "ExpressionAttributeNameMap" else ""
            return {
                start + value(shape.key, rng): value(shape.value, rng, depth + 1)  # type: ignore[attr-defined]
                for _ in range(rng.randrange(3))
            }
        case "string":
            return rng.choice(getattr(shape, "enum", None) or _TEXTS)
        case "blob":
            return rng.randbytes(rng.randrange(5))
        case "boolean":
            return rng.random() < 0.5
        case "integer" | "long":
            return rng.randrange(-5, 10**9)
        case "float" | "double":
            return rng.choice([0.0, 0.5, 1e-7, 1e21, 3.25])
    raise AssertionError(f"no value is defined for {shape.type_name}")


def to_json(content: object) -> bytes:
    return json.dumps(content, default=lambda raw: base64.b64encode(raw).decode()).encode()
