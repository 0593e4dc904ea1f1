"""Serves the OpenAPI document and a page to try the API, at the API's own address.

A page of another origin could not call the API, because the API does not support CORS.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from local.guard import SameOrigin
from local.template import ROOT
from openapi.of_keys import of_keys

_OPERATOR: Final = "Operator"
_STATIC: Final = Path(__file__).parent / "static"
_HEADERS: Final = {
    # Scalar writes inline styles and loads its icons from data: URLs.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class ApiReference:
    """Serves `/openapi.json`, `/docs` and `/healthz`; the API serves every other path.

    `/docs` shows what a key of an account may call, and `/docs/all` every operation.
    """

    def __init__(self, api: ASGIApp, key: str) -> None:
        """Serve the page beside an API.

        Args:
            api: the application that answers every other path.
            key: the API key that the page fills in.
        """
        self._api = api
        self._own = Starlette(
            routes=[
                Route("/healthz", _health),
                Route("/docs/all", _page),
                Route("/docs/openapi.json", _document_of_keys),
                *reference_routes(_document, key),
            ],
            middleware=[
                Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"]),
                Middleware(SameOrigin),
            ],
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it to the API."""
        path = scope.get("path", "")
        own = path in {"/openapi.json", "/docs", "/healthz"} or path.startswith("/docs/")
        await (self._own if own else self._api)(scope, receive, send)


def reference_routes(
    document: Callable[[Request], Response], key: str | None = None
) -> list[BaseRoute]:
    """Return the routes of a document and of the page that shows it.

    Args:
        document: answers `/openapi.json`.
        key: the API key that the page fills in, if the API needs one.
    """

    async def key_response(_request: Request) -> Response:
        """Return the key; no page of another origin may read it."""
        headers = {"Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin"}
        return JSONResponse({"key": key}, headers=headers)

    return [
        Route("/openapi.json", document),
        Route("/docs", _page),
        Route("/docs/key.json", key_response),
        Mount("/docs/static", StaticFiles(directory=_STATIC)),
        # Only the script of the package is used, not its template or its Flask plugin.
        Mount(
            "/docs/scalar",
            StaticFiles(packages=[("flask_openapi_scalar", "templates/scalar")]),
        ),
    ]


def _document(request: Request) -> Response:
    """Return docs/openapi.json with this server's address."""
    return JSONResponse(_placed("docs/openapi.json", request))


def _document_of_keys(request: Request) -> Response:
    """Return the part that a key may call, without what is for operators."""
    document = of_keys(_placed("docs/openapi.json", request))
    document["tags"] = [tag for tag in document["tags"] if tag["name"] != _OPERATOR]
    for item in document["paths"].values():
        for method in [name for name, one in item.items() if _OPERATOR in one["tags"]]:
            del item[method]
    return JSONResponse(document)


def _placed(name: str, request: Request) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((ROOT / name).read_text(encoding="utf-8"))
    return document | {"servers": [{"url": str(request.base_url).rstrip("/")}]}


async def _health(_request: Request) -> Response:
    """Answer that the stack is ready: this server starts last."""
    return JSONResponse({"status": "ready"}, headers={"Cache-Control": "no-store"})


async def _page(_request: Request) -> Response:
    return FileResponse(_STATIC / "index.html", headers=_HEADERS)
