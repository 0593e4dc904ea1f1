"""How a response reaches CloudFormation: which URLs get it, and what a failing bucket means."""

from contextlib import nullcontext
from typing import Any
from urllib.error import URLError
from urllib.request import Request

import pytest

from pillarbox.adapters import management_api
from pillarbox.adapters.management_api import put_response
from pillarbox.domain.errors import Unavailable

_URL = "https://cloudformation-custom-resource-response.s3.eu-west-1.amazonaws.com/x?Signature=y"


@pytest.fixture
def puts(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    made: list[Request] = []

    def urlopen(request: Request, **_: Any) -> Any:
        made.append(request)
        return nullcontext()

    monkeypatch.setattr(management_api, "urlopen", urlopen)
    return made


def test_a_response_is_put_without_a_type(puts: list[Request]) -> None:
    """The URL is signed for a PUT without a type; urllib would send the type of a form."""
    put_response(_URL, b"{}")
    (put,) = puts
    assert (put.method, put.full_url, put.data) == ("PUT", _URL, b"{}")
    assert put.get_header("Content-type") == ""


@pytest.mark.parametrize(
    "url",
    [
        _URL.replace("https", "http"),
        "https://amazonaws.com.evil.example/x",
        "https://evil.example/x.amazonaws.com",
        "https://evilamazonaws.com/x",
        "file:///etc/passwd",
        "",
    ],
)
def test_only_aws_gets_a_response(puts: list[Request], url: str) -> None:
    """Whoever invokes the function chooses the URL: it must not reach other hosts."""
    with pytest.raises(Unavailable):
        put_response(url, b"{}")
    assert puts == []


def test_a_failing_put_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """After three tries over ten seconds the function fails, and Lambda makes the request again.

    A moment without a network must not do that: the object that was created would be in the way.
    """
    tries, waits = list[Request](), list[float]()

    def failing(request: Request, **_: Any) -> Any:
        tries.append(request)
        raise URLError("reset")

    monkeypatch.setattr(management_api, "urlopen", failing)
    monkeypatch.setattr(management_api, "sleep", waits.append)
    with pytest.raises(Unavailable):
        put_response(_URL, b"{}")
    assert len(tries) == 3
    assert sum(waits) >= 10
