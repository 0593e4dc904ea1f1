"""The clients of AWS services: where their calls go, and what the tests check about them."""

from io import BytesIO
from typing import Any, Final
from unittest import mock

import botocore.session
import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ParamValidationError
from botocore.regions import EndpointRulesetResolver
from urllib3 import HTTPResponse

from pillarbox.adapters.aws import make_client
from tests.aws import emulated_aws

QUEUE: Final = "https://sqs.eu-west-1.amazonaws.com/123456789012/jobs"
CALLS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "dynamodb": ("get_item", {"TableName": "t", "Key": {"pk": {"S": "a"}}}),
    "lambda": ("invoke", {"FunctionName": "mail", "InvocationType": "Event"}),
    "sqs": ("send_message", {"QueueUrl": QUEUE, "MessageBody": "a"}),
}


def sent(client: Any, service: str) -> list[tuple[str, str]]:
    """Return the URL of two calls and the scope of their signatures: key, day, region, service."""
    found: list[tuple[str, str]] = []

    def answer(request: AWSPreparedRequest, **_: object) -> AWSResponse:
        signature = request.headers["Authorization"]
        text = signature.decode() if isinstance(signature, bytes) else signature
        found.append((request.url, text.partition("Credential=")[2].partition(",")[0]))
        body = HTTPResponse(BytesIO(b"{}"), preload_content=False)
        return AWSResponse(request.url, 200, HTTPHeaders(), body)

    client.meta.events.register("before-send", answer)
    operation, parameters = CALLS[service]
    for _ in range(2):
        getattr(client, operation)(**parameters)
    return found


@pytest.mark.parametrize("service", CALLS)
@pytest.mark.parametrize("region", ["eu-west-1", "us-gov-west-1"])
@pytest.mark.parametrize(
    "variables",
    [{}, {"AWS_ENDPOINT_URL": "http://127.0.0.1:4566"}, {"AWS_USE_FIPS_ENDPOINT": "true"}],
    ids=["aws", "local", "fips"],
)
def test_a_call_goes_where_the_rules_of_its_service_send_it(
    monkeypatch: pytest.MonkeyPatch, service: str, region: str, variables: dict[str, str]
) -> None:
    """Each call has the URL and the scope that botocore finds when it looks at each call."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    for name, value in (variables | {"AWS_DEFAULT_REGION": region}).items():
        monkeypatch.setenv(name, value)
    each_time = botocore.session.get_session().create_client(service)
    session = botocore.session.get_session()
    monkeypatch.setattr("pillarbox.adapters.sdk.sdk_session", lambda: session)
    expected = sent(each_time, service)
    assert len(expected) == 2
    assert sent(make_client(service), service) == expected


@pytest.mark.parametrize("service", CALLS)
def test_the_endpoint_is_found_once(monkeypatch: pytest.MonkeyPatch, service: str) -> None:
    """The second call of a client evaluates no rule for endpoints."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    with mock.patch.object(
        EndpointRulesetResolver,
        "construct_endpoint",
        autospec=True,
        side_effect=EndpointRulesetResolver.construct_endpoint,
    ) as evaluate:
        assert len(sent(make_client(service), service)) == 2
    assert evaluate.call_count == 1


@pytest.mark.parametrize("service", CALLS)
def test_the_tests_check_parameters(monkeypatch: pytest.MonkeyPatch, service: str) -> None:
    """On emulated AWS a misspelt parameter is an error; the SDK would drop it on AWS."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    operation, parameters = CALLS[service]
    with emulated_aws(), pytest.raises(ParamValidationError, match="Condition"):
        getattr(make_client(service), operation)(**parameters, Condition="a = b")
