"""A plugin of pytest: DynamoDB throttles the first try of each call that the SDK may repeat.

The codes take turns. The SDK's own retries and parsers are included, and its waits take no time.
"""

import itertools
from collections import Counter
from collections.abc import Iterator
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any, Final
from unittest import mock

import pytest
from botocore import endpoint
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.client import BaseClient
from botocore.endpoint import Endpoint
from botocore.retries.quota import RetryQuota

from verification.faults.wire import error_response

_CODES: Final = itertools.cycle(("ThrottlingException", "ProvisionedThroughputExceededException"))
_refused: Final = Counter[str]()
#: Whether the next try of the current call is its first.
_first: Final = ContextVar("_first", default=False)


@pytest.fixture(autouse=True, scope="session")
def throttled_tries() -> Iterator[None]:
    """Refuse the first try of each call of a table."""
    make_api_call, send = BaseClient._make_api_call, Endpoint._send  # type: ignore[attr-defined]

    def call(client: BaseClient, operation: str, params: Any) -> Any:
        retries: dict[str, Any] = client.meta.config.retries or {}  # type: ignore[attr-defined]
        _first.set(
            client.meta.service_model.service_name == "dynamodb"
            and operation not in {"CreateTable", "DeleteTable", "ListTables"}
            and retries.get("total_max_attempts") != 1
        )
        return make_api_call(client, operation, params)

    def refuse_first(self: Endpoint, request: AWSPreparedRequest) -> AWSResponse:
        if not _first.get():
            return send(self, request)  # type: ignore[no-any-return]
        _first.set(False)
        code = next(_CODES)
        _refused[code] += 1
        return error_response(request.url, "dynamodb", 400, code)

    with (
        mock.patch.object(BaseClient, "_make_api_call", call),
        mock.patch.object(Endpoint, "_send", refuse_first),
        mock.patch.object(endpoint, "time", SimpleNamespace(sleep=lambda _: None)),
        mock.patch.object(RetryQuota, "acquire", return_value=True),
    ):
        yield


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many tries were refused."""
    terminalreporter.write_line(f"refused tries: {dict(_refused)}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which nothing was refused, since it has shown nothing."""
    if not _refused:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
