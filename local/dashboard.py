"""Serves the files of the dashboard with the headers that CloudFront sends with them.

The paths, the headers and the rule for pages are read from template.yaml.
"""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from html import escape
from pathlib import Path
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from local.template import ROOT, Template

#: What `make dashboard` writes.
DIST: Final = ROOT / "dashboard" / "dist"
_PAGE: Final = "/app/index.html"
_WIDGET: Final = "/widget.html"
_MISSING: Final = (
    "The dashboard is not built. `make up` builds it, and prints a line when it is ready or has"
    " failed. `make dashboard` shows why it failed.\n"
)
_HOME: Final = "/"
_REFERENCE: Final = "/docs"


def is_built(dist: Path = DIST) -> bool:
    """Return whether there is a dashboard to serve."""
    return (dist / _PAGE.lstrip("/")).exists()


class Dashboard:
    """Serves `/app/…`, `/assets/…` and `/widget…`; the API answers every other path."""

    def __init__(
        self,
        api: ASGIApp,
        template: Template,
        dist: Path = DIST,
        widget_origins: str = "",
        inbox: str = "",
    ) -> None:
        """Serve the files beside an API.

        Args:
            api: the application that answers every other path.
            template: what `template.inlined` returns.
            dist: the folder of the files.
            widget_origins: the parameter `WidgetOrigins`.
            inbox: the address of the inbox, to which the pages link.
        """
        self._api = api
        self._inbox = inbox
        self._headers = response_headers(template, widget_origins)
        code = template["Resources"]["DashboardPage"]["Properties"]["FunctionCode"]
        file, widget = re.findall(r"const \w+ = /(.+)/;", code)
        self._file: re.Pattern[str] = re.compile(file)
        self._widget: re.Pattern[str] = re.compile(widget)
        self._dist = dist
        self._files = StaticFiles(directory=dist, check_dir=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it to the API. Without a dashboard `/` leads to `/docs`."""
        path = scope.get("path", "")
        if path == _HOME and not is_built(self._dist):
            await RedirectResponse(_REFERENCE, 302)(scope, receive, send)
            return
        patterns = [pattern for pattern in self._headers if fnmatchcase(path, pattern)]
        if scope["type"] != "http" or not patterns:
            await self._api(scope, receive, send)
            return
        response = await self._respond(path, scope)
        response.headers.update(self._headers[patterns[0]])
        await response(scope, receive, send)

    def page(self, path: str) -> str:
        """Return the path of the file that answers a path."""
        if self._widget.search(path):
            return _WIDGET
        return _PAGE if path.startswith("/app/") and not self._file.search(path) else path

    async def _respond(self, path: str, scope: Scope) -> Response:
        if not is_built(self._dist):
            return PlainTextResponse(_MISSING, 503)
        file = self.page(path).lstrip("/")
        if self._inbox and file == _PAGE.lstrip("/"):
            page = (self._dist / file).read_text(encoding="utf-8")
            meta = f'<head>\n  <meta name="inbox" content="{escape(self._inbox)}">'
            return HTMLResponse(page.replace("<head>", meta, 1))
        try:
            return await self._files.get_response(file, scope)
        except HTTPException as error:
            return PlainTextResponse(error.detail, error.status_code)


def response_headers(template: Template, widget_origins: str = "") -> dict[str, dict[str, str]]:
    """Return the headers that the distribution adds, by the path pattern of a behavior."""
    resources = template["Resources"]
    distribution = resources["Edge"]["Properties"]["DistributionConfig"]
    return {
        behavior["PathPattern"]: _headers(
            resources[behavior["ResponseHeadersPolicyId"]["Ref"]]["Properties"], widget_origins
        )
        for behavior in distribution["CacheBehaviors"]
        if behavior.get("TargetOriginId") == "dashboard"
    }


def _headers(properties: Mapping[str, Any], widget_origins: str) -> dict[str, str]:
    """Return the headers of a response headers policy."""
    config = properties["ResponseHeadersPolicyConfig"]
    security = config["SecurityHeadersConfig"]
    seconds = security["StrictTransportSecurity"]["AccessControlMaxAgeSec"]
    policy = security["ContentSecurityPolicy"]["ContentSecurityPolicy"]
    if isinstance(policy, dict):  # the widget's
        ancestors = widget_origins.replace(",", " ") or "'none'"
        policy = policy["Fn::Sub"][0].replace("${Ancestors}", ancestors)
    headers = {
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "referrer-policy": security["ReferrerPolicy"]["ReferrerPolicy"],
        "strict-transport-security": f"max-age={seconds}",
    }
    if "FrameOptions" in security:
        headers["x-frame-options"] = security["FrameOptions"]["FrameOption"]
    custom = config["CustomHeadersConfig"]["Items"]
    return headers | {item["Header"].lower(): item["Value"] for item in custom}
