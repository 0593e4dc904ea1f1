"""What the adapters run on in these tests."""

import pytest
from botocore.client import BaseClient

from pillarbox.adapters.dynamodb.table import Table
from tests.aws import Aws, aws, running_aws
from tests.contract.conftest import dns_server
from tests.ports.implementations import Ports, adapters

__all__ = ["aws", "dns_server", "running_aws"]


@pytest.fixture
def ports(aws: Aws) -> Ports:
    return adapters(aws)


@pytest.fixture
def table(aws: Aws) -> Table:
    return Table(aws.table)


@pytest.fixture
def refusing_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let SQS say that it refused the first message of each batch."""
    call = BaseClient._make_api_call  # type: ignore[attr-defined]

    def refuse_one(client: BaseClient, operation: str, parameters: object) -> object:
        response = call(client, operation, parameters)
        if operation == "SendMessageBatch":
            first, *response["Successful"] = response["Successful"]
            refusal = {"Id": first["Id"], "Code": "InternalError", "SenderFault": False}
            response["Failed"] = [refusal]
        return response

    monkeypatch.setattr(BaseClient, "_make_api_call", refuse_one)
