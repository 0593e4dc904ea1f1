"""The form of the URLs that webhooks may be sent to."""

import pytest

from pillarbox.domain.webhooks.url import WebhookUrl, WebhookUrlError, parse_webhook_url

MAX_URL = 2048

HOST = "have a full host name, such as hooks.example.com"
PORT = "have a port from 1 to 65535"
ENCODED = "not have a fragment or characters that a URL must encode"
ASCII = "be printable ASCII without blanks: write the host as xn--… and encode the rest"


@pytest.mark.parametrize(
    ("text", "host", "port", "target"),
    [
        ("https://hooks.example.com", "hooks.example.com", 443, "/"),
        ("https://hooks.example.com/", "hooks.example.com", 443, "/"),
        ("HTTPS://Hooks.Example.COM/A/b?c=d&e", "hooks.example.com", 443, "/A/b?c=d&e"),
        ("https://hooks.example.com?x=1", "hooks.example.com", 443, "/?x=1"),
        ("https://hooks.example.com:443/a", "hooks.example.com", 443, "/a"),
        ("https://a.b:1024/", "a.b", 1024, "/"),
        ("https://a.b:65535/@user:pw//x%20y", "a.b", 65535, "/@user:pw//x%20y"),
        ("https://xn--bcher-kva.example/", "xn--bcher-kva.example", 443, "/"),
        ("https://1.2.3.4.example.com/", "1.2.3.4.example.com", 443, "/"),
        ("https://0x.example/", "0x.example", 443, "/"),
        ("https://0x7f.1.example/", "0x7f.1.example", 443, "/"),
    ],
)
def test_a_plain_https_url_is_accepted(text: str, host: str, port: int, target: str) -> None:
    """Host and scheme ignore case; without a port it is 443, and without a path it is `/`."""
    assert parse_webhook_url(text) == WebhookUrl(host, port, target)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "begin with https://"),
        ("hooks.example.com", "begin with https://"),
        ("http://hooks.example.com/", "begin with https://"),
        ("ftp://hooks.example.com/", "begin with https://"),
        ("https:/hooks.example.com/", "begin with https://"),
        ("https:hooks.example.com", "begin with https://"),
        ("https://", HOST),
        ("https:///path", HOST),
        ("https://hooks/", HOST),
        ("https://hooks.example.com./", HOST),
        ("https://hooks..example.com/", HOST),
        ("https://-a.example.com/", HOST),
        ("https://a_b.example.com/", HOST),
        (f"https://{'a' * 64}.example/", HOST),
        (f"https://{'a.' * 125}abcd/", HOST),
        ("https://user@hooks.example.com/", "not contain a user name or a password"),
        ("https://user:pw@hooks.example.com/", "not contain a user name or a password"),
        ("https://203.0.113.7/", "have a host name, not an IP address"),
        ("https://0x7f.1/", "have a host name, not an IP address"),
        ("https://0X7F000001/", "have a host name, not an IP address"),
        ("https://127.0x1./", "have a host name, not an IP address"),
        ("https://[2001:db8::1]/", "have a host name, not an IP address"),
        ("https://hooks.example.com:/", PORT),
        ("https://hooks.example.com:0/", PORT),
        ("https://hooks.example.com:0443/", PORT),
        ("https://hooks.example.com:65536/", PORT),
        ("https://hooks.example.com:+443/", PORT),
        ("https://hooks.example.com:443:444/", PORT),
        ("https://hooks.example.com:80/", "have the port 443, or one from 1024 to 65535"),
        ("https://hooks.example.com:1023/", "have the port 443, or one from 1024 to 65535"),
        ("https://hooks.example.com/#part", ENCODED),
        ('https://hooks.example.com/"x"', ENCODED),
        ("https://hooks.example.com\\@evil.example/", ENCODED),
        ("https://bücher.example/", ASCII),
        (" https://hooks.example.com/", ASCII),
        ("https://hooks.example.com/\r\nX: y", ASCII),
        ("https://a.example/" + "x" * MAX_URL, "not be longer than 2048 characters"),
    ],
)
def test_any_other_url_is_refused(text: str, reason: str) -> None:
    with pytest.raises(WebhookUrlError) as error:
        parse_webhook_url(text)
    assert str(error.value) == f"must {reason}"


def test_the_local_stack_accepts_its_own_machine() -> None:
    """Only with `allow_local`, only `http`, only the one address, and any port of it."""
    url = "http://127.0.0.1:8025/hooks/shop?x"
    assert parse_webhook_url(url, allow_local=True) == WebhookUrl(
        "127.0.0.1", 8025, "/hooks/shop?x", is_local=True
    )
    assert parse_webhook_url("http://127.0.0.1:80", allow_local=True).port == 80
    assert not parse_webhook_url("https://a.example/", allow_local=True).is_local
    with pytest.raises(WebhookUrlError, match="must begin with https://"):
        parse_webhook_url(url)
    with pytest.raises(WebhookUrlError, match=r"must have the host 127\.0\.0\.1: localhost may"):
        parse_webhook_url("http://localhost:3000", allow_local=True)


@pytest.mark.parametrize(
    "text",
    [
        "http://127.0.0.1/",
        "http://127.0.0.1:0/",
        "http://127.0.0.2:8025/",
        "http://localhost:8025/",
        "http://127.1:8025/",
        "http://[::1]:8025/",
        "http://user@127.0.0.1:8025/",
        "http://10.0.0.1:8025/",
        "http://hooks.example.com:8025/",
        "HTTP://127.0.0.1:8025/",
        "https://127.0.0.1:8025/",
    ],
)
def test_the_local_stack_accepts_no_other_plain_http(text: str) -> None:
    with pytest.raises(WebhookUrlError):
        parse_webhook_url(text, allow_local=True)
