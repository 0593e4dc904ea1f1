"""AWS with prepared answers: requests and answers are checked against botocore's models.

To use the fixture, a test module contains `from tests.integration.admin.aws_stubs import stubs`.
"""

from collections.abc import Iterator
from typing import Any

import boto3
import botocore.session
import pytest
from botocore.stub import Stubber


class Stubs:
    """Clients with prepared answers. A request or an answer that differs from its model fails."""

    def __init__(self) -> None:
        self._stubbers: dict[str, Stubber] = {}

    def client(self, service: str, **_: Any) -> Any:
        return self._stubber(service).client

    def answer(self, service: str, method: str, answer: Any, expected: Any = None) -> None:
        """Prepare the answer to the next request, which must have the expected parameters."""
        self._stubber(service).add_response(method, answer, expected)

    def refuse(self, service: str, method: str, code: str, message: str = "") -> None:
        """Prepare an error for the next request."""
        self._stubber(service).add_client_error(method, code, message)

    def assert_asked(self) -> None:
        """Check that every prepared answer was used."""
        for stubber in self._stubbers.values():
            stubber.assert_no_pending_responses()

    def _stubber(self, service: str) -> Stubber:
        if service not in self._stubbers:
            client = botocore.session.Session().create_client(
                service,
                region_name="eu-west-1",
                aws_access_key_id="test",
                aws_secret_access_key="test",
            )
            self._stubbers[service] = Stubber(client)
            self._stubbers[service].activate()
        return self._stubbers[service]


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stubs]:
    stubs = Stubs()
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setattr(boto3, "client", stubs.client)
    monkeypatch.setattr(boto3.Session, "client", lambda _, service: stubs.client(service))
    yield stubs
    stubs.assert_asked()
