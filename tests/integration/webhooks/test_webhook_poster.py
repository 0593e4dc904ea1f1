"""What the client of webhooks sends, what it reads, and when it gives up."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from pillarbox.adapters import webhook_poster
from pillarbox.adapters.webhook_poster import HttpsWebhookPoster, retry_after
from pillarbox.application.webhooks.ports import PostResult
from tests.integration.webhooks.receivers import (
    HOST,
    NO_CONTENT,
    Authority,
    Receiver,
    Respond,
    receiving,
)
from tests.integration.webhooks.scripted_dns import ScriptedDns, scripted_dns
from tests.loops import for_each

PUBLIC: Final = "93.184.216.34"
OTHER: Final = "93.184.216.35"
URL: Final = f"https://{HOST}/hooks?tenant=1"
CHUNKED: Final = b"HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n"
OOPS: Final = b"HTTP/1.1 500 Oops\r\n\r\n"
BODY: Final = b'{"type":"webhook.test"}'


@pytest.fixture(scope="module")
def dns_script() -> Iterator[ScriptedDns]:
    with scripted_dns() as script:
        script.set(HOST, PUBLIC)
        yield script


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


def failed(error: str) -> PostResult:
    return PostResult(status_code=None, error=error)


NO_HTTP: Final = failed("the response is not HTTP")


def connect_to(address: tuple[str, int]) -> Callable[[object, float], socket.socket]:
    return lambda _, timeout: socket.create_connection(address, timeout)


#: In seconds, of one POST in all.
DEADLINE: Final = 8.0


class Clock:
    """A time that passes only when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._end = self.now + DEADLINE
        self._read = threading.Event()

    def __call__(self) -> float:
        self._read.set()
        return self.now

    def tick(self) -> None:
        """Pass a second, after the client has read the time again; at its deadline it stops."""
        if self.now < self._end:
            assert self._read.wait(60)
        self._read.clear()
        self.now += 1


@pytest.fixture
def post(dns_script: ScriptedDns, authority: Authority) -> Callable[..., PostResult]:
    """Return a function that posts to a receiver as if it had a public address."""

    def post(receiver: Receiver | None = None, url: str = URL, **options: Any) -> PostResult:
        defaults: dict[str, Any] = {"authorities": authority.path}
        if receiver is not None:
            defaults["connect"] = connect_to(("127.0.0.1", receiver.port))
        poster = HttpsWebhookPoster(
            (dns_script.address,), **defaults | {"deadline": 60.0} | options
        )
        return poster.post(url, {"webhook-id": "msg_1"}, BODY)

    return post


Post = Callable[..., PostResult]


def test_the_request_is_plain(
    post: Post, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A POST has its own headers and the caller's, asks for no compression, and uses no proxy."""
    with receiving() as proxy, receiving(tls=authority.issue(HOST)) as receiver:
        for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert post(receiver) == PostResult(status_code=204)
        assert post(receiver, f"https://{HOST}:8443") == PostResult(status_code=204)
        assert proxy.connections == 0
    head, _, body = receiver.requests[0].partition(b"\r\n\r\n")
    line, *fields = head.decode().split("\r\n")
    assert line == "POST /hooks?tenant=1 HTTP/1.1"
    assert sorted(fields) == [
        "Accept-Encoding: identity",
        "Connection: close",
        f"Content-Length: {len(BODY)}",
        "Content-Type: application/json",
        f"Host: {HOST}",
        "User-Agent: Pillarbox-Webhooks/1",
        "webhook-id: msg_1",
    ]
    assert body == BODY
    assert receiver.requests[1].startswith(b"POST / HTTP/1.1\r\n")
    assert f"\r\nHost: {HOST}:8443\r\n".encode() in receiver.requests[1]


def test_no_cookie_is_kept(dns_script: ScriptedDns, authority: Authority) -> None:
    response = b"HTTP/1.1 204 No Content\r\nSet-Cookie: session=1\r\n\r\n"
    with receiving(response, authority.issue(HOST)) as receiver:
        poster = HttpsWebhookPoster(
            (dns_script.address,),
            authorities=authority.path,
            connect=connect_to(("127.0.0.1", receiver.port)),
        )
        statuses = [poster.post(URL, {}, BODY).status_code for _ in range(2)]
    assert statuses == [204, 204]
    assert len(receiver.requests) == 2
    assert not [request for request in receiver.requests if b"cookie" in request.lower()]


# The server's certificate


def test_the_server_gets_the_name(post: Post, authority: Authority) -> None:
    names: list[str | None] = []
    tls = authority.issue(HOST)
    tls.set_servername_callback(lambda _socket, name, _context: names.append(name))
    with receiving(tls=tls) as receiver:
        assert post(receiver).status_code == 204
    assert names == [HOST]


def wrong_name(authority: Authority) -> ssl.SSLContext:
    return authority.issue("other.example", PUBLIC)


def expired(authority: Authority) -> ssl.SSLContext:
    return authority.issue(HOST, ends=timedelta(days=-1))


def unknown_authority(authority: Authority) -> ssl.SSLContext:
    folder = authority.path.parent / "unknown"
    folder.mkdir()
    return Authority(folder).issue(HOST)


def self_signed(authority: Authority) -> ssl.SSLContext:
    return authority.self_signed(HOST)


def old_tls(authority: Authority) -> ssl.SSLContext:
    context = authority.issue(HOST)
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    return context


@pytest.mark.parametrize(
    ("tls", "reason"),
    [
        (wrong_name, "TLS failed: Hostname mismatch"),
        (expired, "TLS failed: certificate has expired"),
        (unknown_authority, "TLS failed: unable to get local issuer certificate"),
        (self_signed, "TLS failed: self-signed certificate"),
        (old_tls, "TLS failed"),
    ],
)
def test_a_server_that_does_not_prove_its_name_gets_nothing(
    tls: Callable[[Authority], ssl.SSLContext], reason: str, post: Post, authority: Authority
) -> None:
    """The certificate must be valid, for this name, from a known authority, with TLS 1.2 or 1.3."""
    with receiving(tls=tls(authority)) as receiver:
        result = post(receiver)
    assert result.status_code is None
    assert (result.error or "").startswith(reason)
    assert (receiver.connections, receiver.requests) == (1, [])


def test_a_server_without_tls_gets_nothing(post: Post) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError), server.accept()[0] as connection:
                connection.sendall(NO_CONTENT)
                connection.recv(65536)

        thread = threading.Thread(target=serve)
        thread.start()
        result = post(connect=connect_to(server.getsockname()))
        thread.join()
    assert result == failed("TLS failed")


def test_the_authorities_of_the_sdk_are_trusted_by_default(
    post: Post, authority: Authority
) -> None:
    assert len(ssl.create_default_context(cafile=webhook_poster.AUTHORITIES).get_ca_certs()) > 100
    with receiving(tls=authority.issue(HOST)) as receiver:
        result = post(receiver, authorities=webhook_poster.AUTHORITIES)
    assert result.error == "TLS failed: unable to get local issuer certificate"


# The response


#: What a receiver answers, and what is read of it.
RESPONSES: Final = {
    b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret": PostResult(status_code=200),
    b"HTTP/1.0 299 Fine\r\n\r\nsecret": PostResult(status_code=299),
    b"HTTP/1.1 100 Continue\r\n\r\n" + NO_CONTENT: PostResult(status_code=204),
    b"HTTP/1.1 404 Not Found\r\n\r\nno hook": PostResult(status_code=404, body="no hook"),
    b"HTTP/1.1 410 Gone\r\nContent-Length: 4\r\n\r\ngoneleft over": PostResult(
        status_code=410, body="gone"
    ),
    CHUNKED + b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n": PostResult(status_code=500, body="abcde"),
    CHUNKED + b"3\r\nabc\r\nzz\r\n": PostResult(status_code=500, body="abc"),
    b"HTTP/1.1 503 Later\r\nRetry-After: 120\r\n\r\n": PostResult(
        status_code=503, retry_after=timedelta(seconds=120)
    ),
    OOPS + b"\x1b[31m <b>r\xc3\xa9d</b>\r\n\x00\xff\xe2\x80\xae\tend\r\n": PostResult(
        status_code=500, body="[31m <b>réd</b> � end"
    ),
    OOPS + b"x" * 5000: PostResult(status_code=500, body="x" * 256),
    b"": failed("the connection failed: Remote end closed connection without response"),
    b"220 mail.example ESMTP\r\n": NO_HTTP,
    b"HTTP/1.1 100 Continue\r\n\r\n" * 5000: NO_HTTP,
    b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20_000: NO_HTTP,
    b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000: NO_HTTP,
}


@pytest.mark.parametrize(("response", "expected"), RESPONSES.items())
def test_the_response_is_read_with_care(
    response: bytes, expected: PostResult, post: Post, authority: Authority
) -> None:
    """A body is shown only for 4xx and 5xx, cut and printable; what is too long is not read."""
    with receiving(response, authority.issue(HOST)) as receiver:
        assert post(receiver) == expected


def test_a_redirect_is_not_followed(post: Post, authority: Authority) -> None:
    with receiving() as target:
        location = f"Location: http://127.0.0.1:{target.port}/".encode()
        redirect = b"HTTP/1.1 307 Temporary Redirect\r\n" + location + b"\r\n\r\nsecret"
        with receiving(redirect, authority.issue(HOST)) as receiver:
            assert post(receiver) == PostResult(status_code=307)
        assert target.connections == 0


def test_a_success_ends_before_its_body(post: Post, authority: Authority) -> None:
    """The status decides: a body of a 2xx that never ends does not matter."""
    done = threading.Event()

    def respond(connection: socket.socket, _request: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
        done.wait(60)

    with receiving(respond, authority.issue(HOST)) as receiver:
        assert post(receiver) == PostResult(status_code=200)
        done.set()


NOW: Final = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


@for_each(
    ("text", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        ("Sun, 22 Nov 2026 12:01:00 GMT", 60),
        ("Sunday, 22-Nov-26 12:01:00 GMT", 60),
        ("Sun Nov 22 12:01:00 2026", 60),
        ("Sun, 22 Nov 2026 11:00:00 GMT", 0),
        ("999999999", 7 * 86_400),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 7 * 86_400),
        ("", None),
        ("-1", None),
        ("1.5", None),
        ("soon", None),
        ("\u0666\u0660", None),
        ("9" * 5000, None),
        ("Sun, 99 Nov 2026 12:01:00 GMT", None),
        ("Sun, 22 Nov 99999999999999999999 12:01:00 GMT", None),
    ],
)
def test_retry_after(text: str, seconds: int | None) -> None:
    """Seconds and the three forms of an HTTP date are understood, and nothing else."""
    expected = None if seconds is None else timedelta(seconds=seconds)
    assert retry_after(text, NOW) == expected


# The deadline


def drip(clock: Clock, head: bytes, parts: list[bytes]) -> Respond:
    """Return a receiver that sends parts, each a second after the one before."""

    def respond(connection: socket.socket, _request: bytes) -> None:
        connection.sendall(head)
        for part in parts:
            clock.tick()
            connection.sendall(part)

    return respond


@pytest.mark.parametrize(
    ("head", "slow"),
    [
        (b"", b"HTTP/1.1 200 OK\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n", b"X: yyyyyyyyyyyyyyyyyyyy\r\n\r\n"),
    ],
    ids=["status", "field"],
)
def test_a_slow_head_ends_at_the_deadline(
    head: bytes, slow: bytes, post: Post, authority: Authority
) -> None:
    """A response whose head comes octet by octet fails after eight seconds in all."""
    clock = Clock()
    respond = drip(clock, head, [bytes([octet]) for octet in slow])
    with receiving(respond, authority.issue(HOST)) as receiver:
        result = post(receiver, clock=clock, deadline=DEADLINE)
    assert result == failed("no response within 8 seconds")


def test_a_slow_head_within_the_deadline_is_read(post: Post, authority: Authority) -> None:
    """The same receiver succeeds if it is done after seven seconds."""
    clock = Clock()
    parts = [b"HTTP", b"/1.1", b" 204", b" No ", b"Cont", b"ent\r\n", b"\r\n"]
    with receiving(drip(clock, b"", parts), authority.issue(HOST)) as receiver:
        assert post(receiver, clock=clock, deadline=DEADLINE) == PostResult(status_code=204)


def test_a_slow_body_ends_at_the_deadline(post: Post, authority: Authority) -> None:
    """The status is the result; of a body that comes octet by octet eight seconds are shown."""
    clock = Clock()
    slow = drip(clock, OOPS, [b"x"] * 2000)
    with receiving(slow, authority.issue(HOST)) as receiver:
        result = post(receiver, clock=clock, deadline=DEADLINE)
    assert (result.status_code, result.error) == (500, None)
    assert len(result.body) <= 8


def test_a_receiver_without_a_response_ends_at_the_deadline(
    post: Post, authority: Authority
) -> None:
    done = threading.Event()
    with receiving(lambda *_: done.wait(60), authority.issue(HOST)) as receiver:
        assert post(receiver, deadline=0.3).error == "no response within 0.3 seconds"
        done.set()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        result = post(deadline=0.3, connect=connect_to(silent.getsockname()))
    assert result.error == "no response within 0.3 seconds"


def test_a_receiver_that_reads_nothing_ends_at_the_deadline(
    dns_script: ScriptedDns, authority: Authority
) -> None:
    tls, done = authority.issue(HOST), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with (
                suppress(OSError),
                tls.wrap_socket(server.accept()[0], server_side=True),
            ):
                done.wait(60)

        thread = threading.Thread(target=serve)
        thread.start()
        poster = HttpsWebhookPoster(
            (dns_script.address,),
            authorities=authority.path,
            deadline=1.0,
            connect=connect_to(server.getsockname()),
        )
        result = poster.post(URL, {}, bytes(50_000_000))
        done.set()
        thread.join()
    assert result == failed("no response within 1 seconds")


def test_a_silent_name_server_ends_at_the_deadline(dns_script: ScriptedDns) -> None:
    poster = HttpsWebhookPoster((dns_script.address,), deadline=0.2)
    result = poster.post("https://silent.example/", {}, BODY)
    reason = "must have a host name that the DNS finds, and it gives no answer now"
    assert result == failed(f"the URL {reason}")


def test_the_next_address_is_tried(dns_script: ScriptedDns, authority: Authority) -> None:
    """If one address does not accept a connection, another does; IPv4 comes before IPv6."""
    dns_script.set("many.example", "2606:4700:4700::1111", PUBLIC, OTHER)
    tried: list[tuple[str, float]] = []
    with receiving(tls=authority.issue("many.example")) as receiver:

        def connect(address: tuple[str, int], timeout: float) -> socket.socket:
            tried.append((address[0], timeout))
            if len(tried) < 3:
                raise TimeoutError
            return socket.create_connection(("127.0.0.1", receiver.port), timeout)

        poster = HttpsWebhookPoster(
            (dns_script.address,), authorities=authority.path, connect=connect, clock=Clock()
        )
        assert poster.post("https://many.example/", {}, BODY).status_code == 204
    assert tried == [(PUBLIC, 3.0), (OTHER, 3.0), ("2606:4700:4700::1111", 8.0)]


def test_ten_threads_use_one_client(dns_script: ScriptedDns, authority: Authority) -> None:
    def echo(connection: socket.socket, request: bytes) -> None:
        number = request.partition(b"webhook-id: ")[2].partition(b"\r\n")[0]
        connection.sendall(OOPS + number)

    with receiving(echo, authority.issue(HOST)) as receiver:
        poster = HttpsWebhookPoster(
            (dns_script.address,),
            authorities=authority.path,
            deadline=60.0,
            connect=connect_to(("127.0.0.1", receiver.port)),
        )
        with ThreadPoolExecutor(10) as pool:
            ids = [str(number) for number in range(40)]
            results = pool.map(lambda each: poster.post(URL, {"webhook-id": each}, BODY), ids)
            assert [result.body for result in results] == ids


def test_the_local_stack_posts_without_tls() -> None:
    with receiving() as receiver:
        poster = HttpsWebhookPoster(allow_local=True)
        url = f"http://127.0.0.1:{receiver.port}/hooks/shop"
        assert poster.check(url) is None
        assert poster.post(url, {"webhook-id": "msg_1"}, BODY).status_code == 204
    assert receiver.requests[0].startswith(b"POST /hooks/shop HTTP/1.1\r\n")
