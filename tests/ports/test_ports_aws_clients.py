"""The clients of AWS services: what the tests check about them."""

from typing import Any, Final

import pytest
from botocore.exceptions import ParamValidationError

from pillarbox.adapters.aws import make_client
from tests.aws import emulated_aws

QUEUE: Final = "https://sqs.eu-west-1.amazonaws.com/123456789012/jobs"
CALLS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "dynamodb": ("get_item", {"TableName": "t", "Key": {"pk": {"S": "a"}}}),
    "lambda": ("invoke", {"FunctionName": "mail", "InvocationType": "Event"}),
    "sqs": ("send_message", {"QueueUrl": QUEUE, "MessageBody": "a"}),
}


@pytest.mark.parametrize("service", CALLS)
def test_the_tests_check_parameters(monkeypatch: pytest.MonkeyPatch, service: str) -> None:
    """On emulated AWS a misspelt parameter is an error; the SDK would drop it on AWS."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    operation, parameters = CALLS[service]
    with emulated_aws(), pytest.raises(ParamValidationError, match="Condition"):
        getattr(make_client(service), operation)(**parameters, Condition="a = b")
