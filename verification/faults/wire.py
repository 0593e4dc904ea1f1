"""Faults between the clients and the services, before or after a call takes effect.

Calls are numbered at the client: botocore's `_make_api_call`, and `_call` of the direct client.
Faults strike at the HTTP exchange below it, so the runs include the retries, the time-outs and the
parsers of each.
"""

import io
import json
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from types import SimpleNamespace
from typing import Any, Final, Literal
from unittest import mock
from urllib.parse import urlsplit

from botocore import endpoint
from botocore.awsrequest import AWSPreparedRequest, AWSResponse, HeadersDict
from botocore.client import BaseClient
from botocore.compat import HTTPHeaders
from botocore.endpoint import Endpoint
from botocore.exceptions import ConnectionClosedError, EndpointConnectionError, ReadTimeoutError
from botocore.retries.quota import RetryQuota

from pillarbox.adapters import direct
from pillarbox.adapters.aws import WITH_RETRIES
from pillarbox.adapters.direct import AwsConnection, DirectClient, Response
from pillarbox.adapters.direct import Endpoint as DirectEndpoint

type When = Literal["before", "after"]


class Killed(BaseException):
    """The process died at this call: none of its handlers runs any more."""


def _die() -> None:
    raise Killed


class Kind(StrEnum):
    """What can go wrong with a call."""

    ERROR = "error 500"
    THROTTLE = "throttle"
    TIMEOUT = "timeout"
    RESET = "reset"
    REFUSED = "connection refused"
    KILL = "kill"
    #: The last entry of a group is refused; with "after" it is accepted but reported as refused.
    PARTLY = "partly refused"
    #: As above, and the answer breaks off after its status.
    CUT = "partly refused, half an answer"
    #: The call times out, and takes effect only later.
    LATE = "late"


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one call.

    A `lasting` fault strikes every try that the SDK makes of the call, else only the first.
    After the call took effect once, the other tries of a lasting fault do not reach the service.
    """

    kind: Kind
    when: When
    lasting: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.when}{', lasting' if self.lasting else ''}"


#: Every fault of a call. A throttled or refused call never takes effect.
FAULTS: Final = tuple(
    Fault(kind, when, lasting)
    for kind in Kind
    if kind not in {Kind.PARTLY, Kind.CUT, Kind.LATE}
    for when in ("before", "after")
    for lasting in (False, True)
    if not (kind in {Kind.THROTTLE, Kind.REFUSED} and when == "after")
    if not (kind is Kind.KILL and lasting)
)

#: A queue answers for each entry of a group.
FAULTS_OF_GROUPS: Final = (
    Fault(Kind.PARTLY, "before"),
    Fault(Kind.PARTLY, "after"),
    Fault(Kind.CUT, "before"),
    Fault(Kind.CUT, "after"),
)


def faults_of(call: str) -> tuple[Fault, ...]:
    """Return every fault of a call with this name."""
    return FAULTS + FAULTS_OF_GROUPS if call == "sqs.SendMessageBatch" else FAULTS


#: The status and error code of a throttled call, by service.
_THROTTLED: Final = {
    "dynamodb": (400, "ProvisionedThroughputExceededException"),
    "cloudwatch": (400, "Throttling"),
    "sqs": (403, "RequestThrottled"),
    "s3": (503, "SlowDown"),
    "sesv2": (429, "TooManyRequestsException"),
}


@dataclass(frozen=True)
class Site:
    """A place that makes a call: a name such as `dynamodb.PutItem`, and the stack of callers."""

    name: str
    callers: tuple[str, ...]

    @classmethod
    def here(cls, name: str) -> "Site":
        """Return the place that makes the current call."""
        frames = (frame for frame, _ in traceback.walk_stack(None))
        return cls(
            name,
            tuple(
                f"{frame.f_code.co_qualname}:{frame.f_lineno}"
                for frame in frames
                if frame.f_globals.get("__name__", "").startswith(("pillarbox.", "functions."))
            ),
        )


@dataclass
class Call:
    """One call of a client: a name such as `dynamodb.PutItem`, its fault, and its tries."""

    name: str
    fault: Fault | None = None
    tries: int = 0

    @property
    def service(self) -> str:
        return self.name.partition(".")[0]


#: A call of a run: from where, and how many came from there before it. Its number in the whole run
#: changes with what came before: a timer reads more minutes if the last run was long ago.
type Place = tuple[Site, int]


def places_of(calls: Iterable[Site]) -> Iterator[Place]:
    """Return the place of each call."""
    seen: Counter[Site] = Counter()
    for site in calls:
        yield site, seen[site]
        seen[site] += 1


#: The call that a thread or a greenlet makes.
_CALL: Final[ContextVar[Call]] = ContextVar("call")


class Wire:
    """The connection between the clients of this process and the services.

    Args:
        pass_time: called with the seconds that a wait or a time-out takes.

    Many threads may use it.
    """

    def __init__(self, pass_time: Callable[[float], None]) -> None:
        self.calls: list[Site] = []
        #: Whether a process of the service runs; calls of the harness meet no faults.
        self.live = False
        #: Returns the fault of a call, by its number and place; called once for each call.
        self.plan: Callable[[int, Site], Fault | None] = lambda _number, _site: None
        #: Returns the fault of a call of a process that must die, whatever the plan.
        self.fate: Callable[[Site], Fault | None] = lambda _site: None
        #: Answers in place of a service; None passes the request to the engine.
        self.stand_in: Callable[[AWSPreparedRequest], AWSResponse | None] = lambda _request: None
        #: Returns whether a call with this name and body is throttled, in addition to other faults.
        self.throttled: Callable[[str, bytes], bool] = lambda _name, _body: False
        #: Called with the name and the body of each call that took effect.
        self.on_success: Callable[[str, bytes], None] = lambda _name, _body: None
        #: Called before each call; another thread may go on there.
        self.before_call: Callable[[], None] = lambda: None
        #: Lets a call take effect later.
        self.later: Callable[[Callable[[], object]], None] = lambda _call: None
        #: Ends the process, real or simulated.
        self.die: Callable[[], None] = _die
        #: How many tries were struck so far.
        self.strikes = 0
        self._pass_time = pass_time

    def plant(self, faults: Mapping["int | Place", Fault]) -> dict[int, tuple[Site, Fault]]:
        """Let faults strike calls by their places, or by their numbers in the whole run.

        Returns the dict that records the strikes.
        """
        struck: dict[int, tuple[Site, Fault]] = {}
        seen: Counter[Site] = Counter()

        def plan(number: int, site: Site) -> Fault | None:
            fault = faults.get((site, seen[site])) or faults.get(number)
            seen[site] += 1
            if fault is not None:
                struck[number] = site, fault
            return fault

        self.plan = plan
        return struck

    @contextmanager
    def patched(self) -> Iterator[None]:
        """Use this wire for every client of the process."""
        # Waits take no real time. Many faults must not use up the quota of repetitions,
        # which would hide the effect of a retry.
        with (
            self._under_botocore(),
            self._under_the_direct_client(),
            mock.patch.object(RetryQuota, "acquire", return_value=True),
        ):
            yield

    @contextmanager
    def _under_botocore(self) -> Iterator[None]:
        make_api_call, send = BaseClient._make_api_call, Endpoint._send  # type: ignore[attr-defined]

        def call(client: BaseClient, operation: str, params: Any) -> Any:
            name = f"{client.meta.service_model.service_name}.{operation}"
            return self._call(name, partial(make_api_call, client, operation, params))

        def exchange(http_endpoint: Endpoint, request: AWSPreparedRequest) -> AWSResponse:
            if not self.live:
                return send(http_endpoint, request)  # type: ignore[no-any-return]
            return self._exchange(request, lambda: send(http_endpoint, request))

        with (
            mock.patch.object(BaseClient, "_make_api_call", call),
            mock.patch.object(Endpoint, "_send", exchange),
            mock.patch.object(endpoint, "time", SimpleNamespace(sleep=self._pass_time)),
        ):
            yield

    @contextmanager
    def _under_the_direct_client(self) -> Iterator[None]:
        make_call, send = DirectClient._call, AwsConnection.exchange

        def call(client: DirectClient, operation: str, params: Any) -> Any:
            name = f"{client._endpoint.service}.{operation}"
            return self._call(name, partial(make_call, client, operation, params))

        def exchange(connection: AwsConnection, octets: bytes) -> Response:
            if not self.live:
                return send(connection, octets)
            request = _prepared(connection._url, octets)

            def send_prepared() -> AWSResponse:
                # What takes effect later finds the connection of its try closed.
                closed = connection._socket.fileno() < 0
                place = DirectEndpoint("", "", connection._url)
                way = AwsConnection(place, WITH_RETRIES) if closed else connection
                status, headers, body = send(way, _octets(request))
                return response(request.url, status, body, dict(headers))

            try:
                answer = self._exchange(request, send_prepared)
            except BaseException:
                connection._reusable = False
                raise
            names = {name.lower(): text for name, text in answer.headers.items()}
            return Response(answer.status_code, names, answer.content)

        with (
            mock.patch.object(DirectClient, "_call", call),
            mock.patch.object(AwsConnection, "exchange", exchange),
            mock.patch.object(direct, "sleep", self._pass_time),
        ):
            yield

    def _call(self, name: str, make: Callable[[], Any]) -> Any:
        """Make a call, with the fault that is planned for it."""
        if not self.live:
            return make()
        self.before_call()
        site = Site.here(name)
        self.calls.append(site)
        fault = self.plan(len(self.calls) - 1, site) or self.fate(site)
        outer = _CALL.set(Call(name, fault))
        try:
            return make()
        finally:
            _CALL.reset(outer)

    def _exchange(
        self, request: AWSPreparedRequest, send: Callable[[], AWSResponse]
    ) -> AWSResponse:
        call = _CALL.get(Call(""))  # without a name: the harness's
        first, fault = call.tries == 0, call.fault
        call.tries += 1
        if self.throttled(call.name, body_of(request)):
            return error_response(request.url, call.service, *_THROTTLED[call.service])
        if fault is None or not (first or fault.lasting):
            return self._let_through(call.name, request, send)
        self.strikes += 1
        if fault.kind in {Kind.PARTLY, Kind.CUT}:
            return self._refuse_last(fault, request, send)
        if fault.kind is Kind.LATE:
            if first:
                self.later(partial(self._let_through, call.name, request, send))
            self._pass_time(3)
            raise ReadTimeoutError(endpoint_url=request.url)
        if fault.when == "after" and first:
            answer = self._let_through(call.name, request, send)
            answer.content  # noqa: B018  reads the answer from the connection, which is reused
        return self._strike(fault, call.service, request.url)

    def _let_through(
        self, name: str, request: AWSPreparedRequest, send: Callable[[], AWSResponse]
    ) -> AWSResponse:
        answer = self.stand_in(request) or send()
        if answer.status_code < 300:
            self.on_success(name, body_of(request))
        return answer

    def _refuse_last(
        self, fault: Fault, request: AWSPreparedRequest, send: Callable[[], AWSResponse]
    ) -> AWSResponse:
        """Let a group of entries through and report the last one as refused."""
        body = json.loads(body_of(request))
        *entries, last = body["Entries"]
        result: dict[str, Any] = {}
        if fault.when == "before":
            request.body = json.dumps(body | {"Entries": entries}).encode()
            request.headers["Content-Length"] = str(len(request.body))
        if entries or fault.when == "after":
            result = json.loads(self._let_through(_CALL.get().name, request, send).content)
        accepted = [e for e in result.get("Successful", ()) if e["Id"] != last["Id"]]
        result["Successful"] = accepted
        result["Failed"] = [{"Id": last["Id"], "Code": "InternalError", "SenderFault": False}]
        headers = {"content-type": "application/x-amz-json-1.0"}
        octets = json.dumps(result).encode()
        if fault.kind is Kind.CUT:
            octets = octets[: len(octets) // 2]
        return response(request.url, 200, octets, headers)

    def _strike(self, fault: Fault, service: str, url: str) -> AWSResponse:
        match fault.kind:
            case Kind.ERROR:
                return error_response(url, service, 500, "InternalServerError")
            case Kind.THROTTLE:
                return error_response(url, service, *_THROTTLED[service])
            case Kind.TIMEOUT:
                self._pass_time(20 if service == "sesv2" else 3)
                raise ReadTimeoutError(endpoint_url=url)
            case Kind.RESET:
                raise ConnectionClosedError(endpoint_url=url)
            case Kind.REFUSED:
                raise EndpointConnectionError(endpoint_url=url)
            case Kind.KILL:
                self.die()
                raise Killed
            case Kind.PARTLY | Kind.CUT | Kind.LATE:
                raise AssertionError  # `_exchange` handles them


def _prepared(url: str, request: bytes) -> AWSPreparedRequest:
    """Return a request of the direct client as botocore would have it."""
    head, _, body = request.partition(b"\r\n\r\n")
    start, *lines = head.split(b"\r\n")
    fields = (line.partition(b": ") for line in lines)
    headers: Any = HeadersDict({name.decode(): text for name, _, text in fields})
    return AWSPreparedRequest(
        "POST", url + start.split()[1].decode(), headers, body, stream_output=False
    )


def _octets(request: AWSPreparedRequest) -> bytes:
    """Return the request again, whose body a fault may have changed."""
    fields: Any = request.headers.items()  # bytes here, and texts in what a fault changed
    lines = b"".join(
        b"%s: %s\r\n" % (name.encode(), text if isinstance(text, bytes) else text.encode())
        for name, text in fields
    )
    return (
        f"POST {urlsplit(request.url).path} HTTP/1.1\r\n".encode()
        + lines
        + b"\r\n"
        + body_of(request)
    )


def error_response(url: str, service: str, status: int, code: str) -> AWSResponse:
    """Return an error in the format of a service."""
    if service == "s3":
        body = f"<Error><Code>{code}</Code><Message>planted</Message></Error>"
        return response(url, status, body.encode(), {"content-type": "application/xml"})
    body = json.dumps({"__type": code, "message": "planted"})
    headers = {"content-type": "application/json", "x-amzn-errortype": code}
    return response(url, status, body.encode(), headers)


def response(url: str, status: int, body: bytes, headers: dict[str, str]) -> AWSResponse:
    """Return an HTTP response as botocore reads it from a connection."""
    fields = HTTPHeaders()
    for name, value in headers.items():
        fields[name] = value
    return AWSResponse(url, status, fields, _Raw(body))


class _Raw(io.BytesIO):
    """The part of a urllib3 response that botocore reads."""

    def stream(self) -> Iterator[bytes]:
        yield self.read()


def path_of(request: AWSPreparedRequest) -> str:
    """Return the path of a request."""
    return urlsplit(request.url).path


def body_of(request: AWSPreparedRequest) -> bytes:
    """Return the body of a request; files, which no service here sends, are not read."""
    match request.body:
        case bytes() | bytearray() as body:
            return bytes(body)
        case str() as text:
            return text.encode()
    return b""
