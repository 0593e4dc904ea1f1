"""The reference page is served at the address of the API."""

import re
from typing import Any

import httpx
import pytest
from starlette.responses import PlainTextResponse

from local.reference.app import ApiReference
from local.template import ROOT
from tests.unit.local import asgi


def ask(path: str, **request: Any) -> httpx.Response:
    reference = ApiReference(PlainTextResponse("the API"), "bx_live_key")
    return asgi.ask(reference, "GET", path, **request)


def test_the_document_names_this_address() -> None:
    document = ask("/openapi.json").json()
    assert document.pop("servers") == [{"url": "http://127.0.0.1:1"}]
    assert (
        document.keys() | {"servers"}
        == httpx.Response(200, content=(ROOT / "docs/openapi.json").read_bytes()).json().keys()
    )


def test_the_page_begins_with_what_a_key_may_call() -> None:
    assert ask("/docs/all").text == ask("/docs").text
    paths = ask("/docs/openapi.json").json()["paths"]
    assert "post" in paths["/api/v1/emails"]
    listed = {name for item in paths.values() for one in item.values() for name in one["tags"]}
    assert {"Emails", "Webhooks"} < listed
    assert not listed & {"Operator", "Sessions", "Passkeys"}


def test_the_page_loads_nothing_from_other_hosts() -> None:
    page = ask("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assets = re.findall(r'(?:href|src)="([^"]+)"', page.text)
    assert len(assets) == 4
    for asset in assets:
        assert asset.startswith("/docs/")
        assert ask(asset).status_code == 200


def test_only_a_page_of_this_origin_reads_the_key() -> None:
    answer = ask("/docs/key.json")
    assert answer.json() == {"key": "bx_live_key"}
    assert "access-control-allow-origin" not in answer.headers
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"
    assert ask("/docs/key.json", headers={"Host": "evil.example"}).status_code == 400


@pytest.mark.parametrize("path", ["/api/v1/emails", "/", "/docs2", "/openapi.json/x"])
def test_other_paths_reach_the_api(path: str) -> None:
    assert ask(path).text == "the API"


def test_the_stack_says_that_it_is_ready() -> None:
    answer = ask("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready"})
    assert answer.headers["cache-control"] == "no-store"
