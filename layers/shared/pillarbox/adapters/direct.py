"""A client of DynamoDB, Lambda and SQS, for calls that somebody waits for (docs/decisions/aws.md).

It does what botocore does for the same call, and raises botocore's exceptions. What it does not
know, it leaves to botocore: `Endpoint.find` says when.
"""

import encodings.idna  # noqa: F401  the first look-up of a host name would import it
import hmac
import json
import os
import socket
import ssl
from base64 import b64decode, b64encode
from binascii import crc32
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from random import random
from select import POLLIN, poll
from time import gmtime, sleep, strftime, time
from typing import Any, BinaryIO, Final, Literal, NamedTuple, Self
from urllib.parse import quote
from uuid import uuid4

import botocore
from botocore import exceptions as sdk
from botocore.retries.quota import RetryQuota

#: The pools of the clients keep ten connections.
MAX_PARALLEL: Final = 10


class CallLimits(NamedTuple):
    """How long a call waits, in seconds, and how often it is tried, in a mode of the SDK."""

    connect_timeout: float = 1
    read_timeout: float = 3
    attempts: int = 3
    mode: Literal["standard", "adaptive"] = "standard"


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
        self, path: str, headers: Mapping[str, str], body: bytes, credentials: AccessKey
    ) -> dict[str, str]:
        """Return the headers of a request with the time, the token and the signature.

        Args:
            path: the request's, percent-encoded.
            headers: those to sign, among them `host`, with names in small letters.
        """
        now = strftime("%Y%m%dT%H%M%SZ", gmtime())
        signed = {**headers, "x-amz-date": now}
        if credentials.token:
            signed["x-amz-security-token"] = credentials.token
        lines = "".join(f"{name}:{signed[name]}\n" for name in sorted(signed))
        names = ";".join(sorted(signed))
        request = f"POST\n{quote(path, safe='/~')}\n\n{lines}\n{names}\n{sha256(body).hexdigest()}"
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
#: In seconds: a connection that was idle for longer is not used. The service may have closed it,
#: and a function that was frozen meanwhile has not heard of it. AWS's SDK for Java does the same.
_MAX_IDLE: Final = 60
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
        limits: how long it may take to open, and each part of a response.
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
                self._socket = tls().wrap_socket(self._socket, server_hostname=host)
        self._read_timeout = limits.read_timeout
        self._socket.settimeout(limits.read_timeout)
        self._readable = poll()
        self._readable.register(self._socket, POLLIN)
        self._reusable, self._used_at = True, time()

    @property
    def reusable(self) -> bool:
        """Whether another request may be sent: the server neither closed it nor sent more."""
        if time() - self._used_at > _MAX_IDLE:
            return False
        if self._reusable and self._readable.poll(0):
            self._reusable = self._has_only_tickets()
        return self._reusable

    def _has_only_tickets(self) -> bool:
        """Read the session tickets that a server sends after the handshake (RFC 8446, 4.6.1)."""
        self._socket.settimeout(0)
        try:
            self._socket.recv(1)
        except OSError as error:
            self._socket.settimeout(self._read_timeout)
            return isinstance(error, ssl.SSLWantReadError)
        return False

    def close(self) -> None:
        """Close it, also while something waits for it."""
        self._socket.close()

    def __del__(self) -> None:  # of an idle one, when its client is gone
        with suppress(AttributeError):  # it did not come about
            self.close()

    def exchange(self, request: bytes) -> Response:
        """Send a request once, and read the response."""
        self._reusable, self._used_at = False, time()
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
def tls() -> ssl.SSLContext:
    """Return what verifies certificates and names; reading the authorities takes a while."""
    chosen = os.environ.get("AWS_CA_BUNDLE") or os.environ.get("REQUESTS_CA_BUNDLE")
    return ssl.create_default_context(cafile=chosen or AUTHORITIES)


_TARGETS: Final = {"dynamodb": "DynamoDB_20120810", "sqs": "AmazonSQS"}
#: Every method of a client. The tests compare each with botocore's.
OPERATIONS: Final = {
    "dynamodb": "batch_execute_statement batch_get_item batch_write_item delete_item get_item"
    " put_item query transact_write_items update_item",
    "lambda": "invoke",
    "sqs": "change_message_visibility delete_message get_queue_attributes receive_message"
    " send_message send_message_batch",
}
#: The operation that is not made twice with the same token.
_WITH_TOKEN: Final = "TransactWriteItems"  # noqa: S105  no secret
#: What another try may mend, as in botocore's standard mode.
_TEMPORARY_CODES: Final = (
    "BandwidthLimitExceeded EC2ThrottledException LimitExceededException PriorRequestNotComplete"
    " ProvisionedThroughputExceededException ReplicatedWriteConflictException RequestLimitExceeded"
    " RequestThrottled RequestThrottledException RequestTimeout RequestTimeoutException SlowDown"
    " ThrottledException Throttling ThrottlingException TooManyRequestsException"
    " TransactionInProgressException"
)
_TEMPORARY_STATUSES: Final = frozenset({500, 502, 503, 504})
#: What a try costs of the quota of repetitions, and what a call gives back that needed none.
_COST, _COST_OF_TIMEOUT, _GAIN = 5, 10, 1
_START: Final = " HTTP/1.1\r\nuser-agent: pillarbox\r\naccept-encoding: identity\r\n"
_FIRST_ERROR: Final = 300
_SERVER_ERROR: Final = 500


class DirectClient:
    """Makes calls as `client.get_item(TableName=…)`; several threads may use it."""

    def __init__(
        self, endpoint: Endpoint, limits: CallLimits, credentials: Callable[[], AccessKey]
    ) -> None:
        self._endpoint = endpoint
        self._limits = limits
        self._credentials = credentials
        self._signer = Signer(endpoint.service, endpoint.region)
        self._quota = RetryQuota()
        self._idle: list[AwsConnection] = []

    def __getattr__(self, name: str) -> Callable[..., dict[str, Any]]:
        if name not in OPERATIONS[self._endpoint.service].split():
            raise AttributeError(f"the client of {self._endpoint.service} has no {name}")
        operation = "".join(part.capitalize() for part in name.split("_"))

        def call(**parameters: object) -> dict[str, Any]:
            return self._call(operation, parameters)

        vars(self)[name] = call  # Python finds it there from now on
        return call

    def connect(self) -> None:
        """Open a connection for a call to come, which opens one itself if this fails."""
        with suppress(sdk.BotoCoreError):
            self._keep(AwsConnection(self._endpoint, self._limits))

    def _call(self, operation: str, parameters: dict[str, object]) -> dict[str, Any]:
        """Make a call, with as many tries as botocore's standard mode makes."""
        if operation == _WITH_TOKEN:
            parameters.setdefault("ClientRequestToken", str(uuid4()))
        request = _write(self._endpoint.service, operation, parameters)
        attempt, gain = 0, _GAIN
        while self._is_temporary(outcome := self._try(*request)):
            timed_out = isinstance(outcome, sdk.ConnectTimeoutError | sdk.ReadTimeoutError)
            cost = _COST_OF_TIMEOUT if timed_out else _COST
            if attempt + 1 >= self._limits.attempts or not self._quota.acquire(cost):
                break
            sleep(random() * 2**attempt)  # noqa: S311  not a secret
            attempt, gain = attempt + 1, cost
        if isinstance(outcome, sdk.BotoCoreError):
            raise outcome
        metadata = {"HTTPStatusCode": outcome.status, "RetryAttempts": attempt}
        if outcome.status >= _FIRST_ERROR:
            error: Any = _read_error(outcome) | {"ResponseMetadata": metadata}
            raise sdk.ClientError(error, operation)
        self._quota.release(gain)
        return _read_fields(outcome.body, {}) | {"ResponseMetadata": metadata}

    def _try(
        self, path: str, headers: Mapping[str, str], body: bytes
    ) -> Response | sdk.BotoCoreError:
        headers = self._signer.sign(
            path, {"host": self._endpoint.host, **headers}, body, self._credentials()
        )
        headers["content-length"] = str(len(body))
        trace = "AWS_LAMBDA_FUNCTION_NAME" in os.environ and os.environ.get("_X_AMZN_TRACE_ID")
        if trace:
            headers["x-amzn-trace-id"] = quote(trace, safe="-=;:+&[]{}\"',")
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        try:
            connection = self._connect()
            try:
                return connection.exchange(f"POST {path}{_START}{lines}\r\n".encode() + body)
            finally:
                self._keep(connection)
        except sdk.BotoCoreError as error:
            return error

    def _connect(self) -> AwsConnection:
        with suppress(IndexError):  # there is none, or another thread took it
            while not (connection := self._idle.pop()).reusable:
                connection.close()
            return connection
        return AwsConnection(self._endpoint, self._limits)

    def _keep(self, connection: AwsConnection) -> None:
        if connection.reusable and len(self._idle) < MAX_PARALLEL:
            self._idle.append(connection)
        else:
            connection.close()

    def _is_temporary(self, outcome: Response | sdk.BotoCoreError) -> bool:
        if isinstance(outcome, sdk.BotoCoreError) or outcome.status in _TEMPORARY_STATUSES:
            return True
        code = outcome.status >= _FIRST_ERROR and _read_error(outcome)["Error"]["Code"]
        checksum = self._endpoint.service == "dynamodb" and outcome.headers.get("x-amz-crc32")
        wrong = checksum and int(checksum) != crc32(outcome.body)
        return bool(wrong) or code in _TEMPORARY_CODES.split()


def _write(
    service: str, operation: str, parameters: Mapping[str, Any]
) -> tuple[str, dict[str, str], bytes]:
    """Return path, headers and body of a request."""
    if operation == "Invoke":
        function = quote(parameters["FunctionName"], safe="")
        path = f"/2015-03-31/functions/{function}/invocations"
        return path, {"x-amz-invocation-type": parameters["InvocationType"]}, parameters["Payload"]
    # Only a binary attribute is no JSON.
    body = json.dumps(parameters, default=lambda raw: b64encode(raw).decode()).encode()
    headers = {
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": f"{_TARGETS[service]}.{operation}",
    }
    if service == "sqs":
        headers["x-amzn-query-mode"] = "true"  # for the codes of errors before JSON
    return "/", headers, body


def _read_fields(body: bytes, otherwise: dict[str, Any]) -> dict[str, Any]:
    """Return what a JSON object has, with binary values decoded; without null.

    Args:
        otherwise: what to return if it is no JSON. To botocore that is no failure.
    """
    hook = _from_base64 if b'"B"' in body else None
    try:
        fields = json.loads(body or b"{}", object_hook=hook)
    except json.JSONDecodeError:
        return otherwise
    return {name: value for name, value in fields.items() if value is not None}


def _read_error(response: Response) -> dict[str, Any]:
    """Return what botocore makes of an error: `Error`, and the fields of its kind."""
    body = response.body.strip()
    if response.status >= _SERVER_ERROR and (not body or body.startswith(b"<html>")):
        phrase = HTTPStatus(response.status).phrase if response.status in HTTPStatus else ""
        return {"Error": {"Code": str(response.status), "Message": phrase}}
    fields = _read_fields(response.body, {"message": response.body.decode()})
    kind = fields.pop("__type", None) or response.headers.get("x-amzn-errortype")
    code = kind.partition(":")[0].rpartition("#")[2] if kind else str(response.status)
    error = {"Message": fields.get("message", fields.get("Message", "")), "Code": code}
    older, separator, fault = response.headers.get("x-amzn-query-error", "").partition(";")
    if older and separator and ";" not in fault:
        return {"Error": error | {"Code": older, "QueryErrorCode": code, "Type": fault}}
    return (fields if kind else {}) | {"Error": error}


def _from_base64(value: dict[str, Any]) -> dict[str, Any]:
    text = value.get("B") if len(value) == 1 else None
    return {"B": b64decode(text)} if isinstance(text, str) else value
