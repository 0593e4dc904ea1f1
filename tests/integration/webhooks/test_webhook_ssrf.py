"""No URL of a tenant leads into the service's own machine or network.

Each form is tried against a real listener on the loopback address, which counts its connections.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import pytest

from pillarbox.adapters.webhook_poster import HttpsWebhookPoster
from tests.integration.webhooks.scripted_dns import ScriptedDns, scripted_dns

PUBLIC: Final = "93.184.216.34"

#: URLs whose form is refused; PORT is the listener's.
FORMS: Final = (
    # IPv4 in the notations of inet_aton and of browsers
    "https://127.0.0.1:PORT/",
    "https://127.1:PORT/",
    "https://127.0.1:PORT/",
    "https://127.000.000.001:PORT/",
    "https://0177.0.0.1:PORT/",
    "https://0177.0000.0000.0001:PORT/",
    "https://2130706433:PORT/",
    "https://017700000001:PORT/",
    "https://0x7f000001:PORT/",
    "https://0x7f.0.0.1:PORT/",
    "https://0x7f.1:PORT/",
    "https://0X7F.0x0.0x0.0x1:PORT/",
    "https://127.0.0.0x1:PORT/",
    "https://0:PORT/",
    "https://0.0.0.0:PORT/",
    "https://127.0.0.1.:PORT/",
    "https://127.0.0.1..:PORT/",
    "https://4294967297:PORT/",
    "https://127.0.0.257:PORT/",
    "https://169.254.169.254:PORT/",
    "https://2852039166:PORT/",
    "https://10.0.0.1:PORT/",
    # IPv6
    "https://[::1]:PORT/",
    "https://[::]:PORT/",
    "https://[0:0:0:0:0:0:0:1]:PORT/",
    "https://[::ffff:127.0.0.1]:PORT/",
    "https://[::ffff:7f00:1]:PORT/",
    "https://[::127.0.0.1]:PORT/",
    "https://[64:ff9b::127.0.0.1]:PORT/",
    "https://[2002:7f00:1::1]:PORT/",
    "https://[2001:0:7f00:1::80ff:fffe]:PORT/",
    "https://[fe80::1%25lo]:PORT/",
    "https://[::1%lo]:PORT/",
    "https://[v1.1]:PORT/",
    "https://::1:PORT/",
    "https://[::1:PORT/",
    # Names of this machine
    "https://localhost:PORT/",
    "https://LOCALHOST:PORT/",
    "https://localhost.:PORT/",
    "https://loopback:PORT/",
    # Characters that become others
    "https://127。0。0。1:PORT/",
    "https://127.0.0。1:PORT/",
    "https://①②⑦.⓪.⓪.①:PORT/",
    "https://\u0661\u0662\u0667.\u0660.\u0660.\u0661:PORT/",
    "https://ⓛocalhost:PORT/",
    "https://loc\u00adalhost:PORT/",
    "https://127\u200b.0.0.1:PORT/",
    "https://%6c%6f%63alhost:PORT/",
    "https://127%2e0%2e0%2e1:PORT/",
    "https://public.example%00.localhost:PORT/",
    "https://public.example\x00:PORT/",
    # User names, and characters at which parsers disagree
    "https://user@127.0.0.1:PORT/",
    "https://public.example@127.0.0.1:PORT/",
    "https://public.example:443@127.0.0.1:PORT/",
    "https://127.0.0.1:PORT@public.example/",
    "https://public.example\\@127.0.0.1:PORT/",
    "https://127.0.0.1:PORT\\@public.example/",
    "https://public.example#@127.0.0.1:PORT/",
    "https://127.0.0.1:PORT#@public.example/",
    "https://public.example @127.0.0.1:PORT/",
    "https://public.example\t@127.0.0.1:PORT/",
    "https://public.example\r\nHost: 127.0.0.1:PORT/",
    "https:\\\\127.0.0.1:PORT\\",
    "https:127.0.0.1:PORT/",
    "https:/127.0.0.1:PORT/",
    "https:///127.0.0.1:PORT/",
    "https://:PORT/",
    # Other schemes
    "http://127.0.0.1:PORT/",
    "http://public.example:PORT/",
    "//127.0.0.1:PORT/",
    "127.0.0.1:PORT/",
    "gopher://127.0.0.1:PORT/",
    "file:///etc/passwd",
    "unix:///var/run/docker.sock",
    "wss://127.0.0.1:PORT/",
    # Ports
    "https://public.example:22/",
    "https://public.example:80/",
    "https://public.example:PORT:443/",
    "https://public.example:-1/",
    "https://public.example:99999/",
)
#: Addresses that a host name of a proper form resolves to.
ADDRESSES: Final = (
    ("127.0.0.1",),
    ("127.9.9.9",),
    ("0.0.0.0",),  # noqa: S104  no address to bind
    ("169.254.169.254",),
    ("10.1.2.3",),
    ("172.16.0.1",),
    ("192.168.1.1",),
    ("100.64.0.1",),
    ("224.0.0.1",),
    ("255.255.255.255",),
    ("::1",),
    ("::",),
    ("::ffff:127.0.0.1",),
    ("::127.0.0.1",),
    ("64:ff9b::127.0.0.1",),
    ("64:ff9b::169.254.169.254",),
    ("2002:7f00:1::1",),
    ("2001:0:7f00:1::f7f7:f7f7",),
    ("2001:0:808:808::80ff:fffe",),
    ("fe80::1",),
    ("fd00:ec2::254",),
    ("fec0::1",),
    ("ff02::1",),
    # One public address does not help.
    (PUBLIC, "127.0.0.1"),
    ("127.0.0.1", PUBLIC),
    (PUBLIC, "::1"),
    ("2606:4700:4700::1111", "127.0.0.1"),
)


class Listener:
    """Servers on 127.0.0.1 and, if there is IPv6, on ::1, with one port; they count connections."""

    def __init__(self) -> None:
        self._sockets = [socket.create_server(("127.0.0.1", 0))]
        self.port: int = self._sockets[0].getsockname()[1]
        with suppress(OSError):
            self._sockets.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        self.connections = 0
        self._threads = [threading.Thread(target=self._count, args=(one,)) for one in self._sockets]
        for thread in self._threads:
            thread.start()

    def _count(self, server: socket.socket) -> None:
        stopped = False
        while not stopped:
            accepted, _ = server.accept()
            with accepted:
                stopped = accepted.recv(4) == b"stop"
                if not stopped:
                    self.connections += 1
                    accepted.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
                    while accepted.recv(1024):
                        pass

    def close(self) -> int:
        """Stop after all earlier connections, and return their number."""
        while self._threads:
            with self._sockets.pop() as server:
                with socket.create_connection(server.getsockname()[:2]) as last:
                    last.sendall(b"stop")
                self._threads.pop().join()
        return self.connections


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()
    yield listener
    listener.close()


@pytest.fixture(scope="module")
def dns_script() -> Iterator[ScriptedDns]:
    with scripted_dns() as script:
        script.set("public.example", PUBLIC)
        yield script


def test_the_table_is_long_enough() -> None:
    """At least sixty different forms are tried, in addition to the addresses."""
    assert len(set(FORMS)) == len(FORMS) >= 60


@pytest.mark.parametrize("allow_local", [False, True], ids=["deployed", "local"])
def test_no_form_reaches_this_machine(
    listener: Listener, dns_script: ScriptedDns, *, allow_local: bool
) -> None:
    poster = HttpsWebhookPoster((dns_script.address,), allow_local=allow_local)
    own = "http://127.0.0.1:PORT/"
    for form in FORMS:
        if allow_local and form == own:
            continue
        url = form.replace("PORT", str(listener.port))
        reason = poster.check(url)
        result = poster.post(url, {}, b"{}")
        assert reason is not None, url
        assert (result.status_code, result.error) == (None, f"the URL {reason}"), url
    assert listener.close() == 0


@pytest.mark.parametrize("addresses", ADDRESSES, ids="+".join)
def test_no_name_leads_to_an_address_that_is_not_public(
    addresses: tuple[str, ...], listener: Listener, dns_script: ScriptedDns
) -> None:
    """All addresses of a host must be public; the name's form shows nothing of them."""
    dns_script.set("hooks.shop.example", *addresses)
    poster = HttpsWebhookPoster((dns_script.address,))
    url = f"https://hooks.shop.example:{listener.port}/"
    reason = "must have a host name whose addresses are all public"
    assert poster.check(url) == reason
    assert poster.post(url, {}, b"{}").error == f"the URL {reason}"
    local = HttpsWebhookPoster((dns_script.address,), allow_local=True).check(url) or ""
    assert local.startswith(f"{reason}; for this stack's DNS hooks.shop.example is ")
    assert listener.close() == 0


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "169.254.169.254"])
def test_no_chain_of_aliases_leads_to_loopback(
    address: str, listener: Listener, dns_script: ScriptedDns
) -> None:
    dns_script.alias("one.example", "two.example", "localhost", address=address)
    poster = HttpsWebhookPoster((dns_script.address,))
    url = f"https://one.example:{listener.port}/"
    assert "public" in (poster.check(url) or "")
    assert "public" in (poster.post(url, {}, b"{}").error or "")
    assert listener.close() == 0


def test_a_name_that_turns_to_loopback_is_refused(
    listener: Listener, dns_script: ScriptedDns
) -> None:
    """A name that was public when the endpoint was made is looked up and checked again."""
    dns_script.turns("turning.example", (PUBLIC,), ("127.0.0.1",))
    poster = HttpsWebhookPoster((dns_script.address,))
    url = f"https://turning.example:{listener.port}/"
    assert poster.check(url) is None
    result = poster.post(url, {}, b"{}")
    assert result.error == "the URL must have a host name whose addresses are all public"
    assert listener.close() == 0


def test_the_connection_goes_to_the_address_that_was_checked(
    listener: Listener, dns_script: ScriptedDns
) -> None:
    """A name server that answers public and then loopback within one POST gains nothing."""
    dns_script.turns("rebinding.example", (PUBLIC,), ("127.0.0.1",))
    dialled: list[tuple[str, int]] = []

    def connect(address: tuple[str, int], _timeout: float) -> socket.socket:
        dialled.append(address)
        raise ConnectionRefusedError(111, "Connection refused")

    dns_script.queries.clear()
    poster = HttpsWebhookPoster((dns_script.address,), connect=connect)
    result = poster.post(f"https://rebinding.example:{listener.port}/", {}, b"{}")
    assert result.error == "the connection failed: Connection refused"
    assert dialled == [(PUBLIC, listener.port)]
    assert dns_script.queries == [("rebinding.example.", "A"), ("rebinding.example.", "AAAA")]
    assert listener.close() == 0


def test_the_listener_counts_what_the_local_stack_may_send(listener: Listener) -> None:
    """The one form that `allow_local` allows reaches the listener: it is not blind."""
    url = f"http://127.0.0.1:{listener.port}/"
    assert HttpsWebhookPoster().post(url, {}, b"{}").error == "the URL must begin with https://"
    result = HttpsWebhookPoster(allow_local=True).post(url, {}, b"{}")
    assert (result.status_code, result.error) == (204, None)
    assert listener.close() == 1


@pytest.mark.parametrize("name", ["absent.example", "broken.example"])
def test_a_name_without_an_answer_is_refused(name: str, dns_script: ScriptedDns) -> None:
    poster = HttpsWebhookPoster((dns_script.address,))
    reason = poster.check(f"https://{name}/")
    assert reason is not None
    assert reason.startswith("must have a host name that ")
