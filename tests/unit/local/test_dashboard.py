"""The local stack serves the dashboard's files as the edge does."""

import base64
import hashlib
import re
from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse

from dashboard.build import FOLDER
from local import template
from local.dashboard import Dashboard
from tests.unit.local import asgi

_TEMPLATE = template.inlined(template.load())


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    """A built dashboard of one page and one asset."""
    for name in (
        "app/index.html",
        "app/preview.html",
        "assets/main-1.js",
        "widget.html",
        "widget.js",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def ask(dist: Path, path: str, widget_origins: str = "", inbox: str = "") -> httpx.Response:
    app = Dashboard(PlainTextResponse("the API"), _TEMPLATE, dist, widget_origins, inbox)
    return asgi.ask(app, "GET", path)


def policy_of(headers: httpx.Headers) -> dict[str, str]:
    parts = headers["content-security-policy"].split(";")
    return dict(part.strip().split(" ", 1) for part in parts)


def test_without_a_dashboard_the_home_is_the_reference(tmp_path: Path, dist: Path) -> None:
    home = ask(tmp_path / "none", "/")
    assert (home.status_code, home.headers["location"]) == (302, "/docs")
    assert ask(dist, "/").text == "the API"
    page = ask(tmp_path / "none", "/app/")
    assert (page.status_code, "make dashboard" in page.text) == (503, True)


def test_the_page_names_the_inbox(dist: Path) -> None:
    (dist / "app/index.html").write_text("<head><title>")
    assert ask(dist, "/app/").text == "<head><title>"
    page = ask(dist, "/app/", inbox="http://127.0.0.1:8025")
    assert '<meta name="inbox" content="http://127.0.0.1:8025">' in page.text
    assert policy_of(page.headers)


@pytest.mark.parametrize("path", ["/app/", "/app/activity", "/app/activity/1?status=sent"])
def test_every_page_is_the_same_file(dist: Path, path: str) -> None:
    answer = ask(dist, path)
    assert (answer.status_code, answer.text) == (200, "app/index.html")
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["cache-control"] == "no-cache"


def test_the_preview_runs_one_script_with_an_origin_of_its_own(dist: Path) -> None:
    answer = ask(dist, "/app/preview.html")
    assert (answer.status_code, answer.text) == (200, "app/preview.html")
    policy = policy_of(answer.headers)
    (script,) = re.findall(
        r"<script>(.*?)</script>", (FOLDER / "src/preview.html").read_text(), re.DOTALL
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy["script-src"] == f"'sha256-{digest}'"
    assert policy["default-src"] == policy["form-action"] == policy["base-uri"] == "'none'"
    assert "allow-scripts" in policy["sandbox"]
    assert not {"allow-same-origin", "allow-forms", "allow-top-navigation"} & {
        *policy["sandbox"].split()
    }
    assert policy["frame-ancestors"] == "'self'"
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/widget", "/widget/report", "/widget.js"])
@pytest.mark.parametrize(
    ("origins", "ancestors"),
    [
        ("", "'none'"),
        ("https://a.example,https://b.example", "https://a.example https://b.example"),
    ],
)
def test_the_widget_is_for_the_sites_of_the_parameter(
    dist: Path, path: str, origins: str, ancestors: str
) -> None:
    answer = ask(dist, path, origins)
    file = "widget.js" if path == "/widget.js" else "widget.html"
    assert (answer.status_code, answer.text) == (200, file)
    policy = policy_of(answer.headers)
    assert policy["frame-ancestors"] == ancestors
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert policy["trusted-types"] == "'none'"
    assert "x-frame-options" not in answer.headers
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert answer.headers["cache-control"] == "no-cache"


def test_an_asset_is_kept_for_a_year(dist: Path) -> None:
    """A browser never asks again for an asset, whose name changes with its content."""
    answer = ask(dist, "/assets/main-1.js")
    assert (answer.status_code, answer.text) == (200, "assets/main-1.js")
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize("path", ["/app/", "/assets/main-1.js", "/assets/none.js"])
def test_every_file_has_the_headers_of_the_template(dist: Path, path: str) -> None:
    headers = ask(dist, path).headers
    policy = policy_of(headers)
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert policy["trusted-types"] == "'none'"
    assert headers["strict-transport-security"] == "max-age=31536000"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert "camera=()" in headers["permissions-policy"]


@pytest.mark.parametrize(
    "path",
    ["/assets/none.js", "/app/none.js", "/assets/%2e%2e/%2e%2e/secret.txt", "/assets/", "/widgets"],
)
def test_no_other_file_is_served(dist: Path, path: str) -> None:
    (dist.parent / "secret.txt").write_text("secret")
    assert ask(dist, path).status_code == 404


@pytest.mark.parametrize("path", ["/api/v1/emails", "/", "/application", "/assets"])
def test_other_paths_reach_the_api(dist: Path, path: str) -> None:
    assert ask(dist, path).text == "the API"
