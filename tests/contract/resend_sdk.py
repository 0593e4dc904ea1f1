"""Resend's SDK for Python, which calls the functions without a socket."""

import json as json_module
from collections.abc import Mapping
from typing import Any, Final, override
from urllib.parse import parse_qsl

import pytest
import resend
from resend import exceptions
from resend.http_client import HTTPClient

from tests.contract.client import Api

BASE: Final = "https://pillarbox.example/api/resend"


class _InProcess(HTTPClient):
    @override
    def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        json: Any = None,
        *_: Any,
        **__: Any,
    ) -> tuple[bytes, int, Mapping[str, str]]:
        path, query = url.removeprefix(BASE).partition("?")[::2]
        response = Api(base="/resend").raw(
            method.upper(),
            path,
            json_module.dumps(json) if method not in {"get", "delete"} else None,
            headers,
            query=dict(parse_qsl(query)),
        )
        return response.text.encode(), response.status, response.headers


def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the SDK call the functions in this process."""
    monkeypatch.setattr(resend, "api_url", BASE)
    monkeypatch.setattr(resend, "default_http_client", _InProcess())


def raised(call: Any, *arguments: Any) -> exceptions.ResendError:
    with pytest.raises(exceptions.ResendError) as error:
        call(*arguments)
    return error.value
