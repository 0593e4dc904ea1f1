"""Calls of DynamoDB and SQS: their requests, tries, results and errors (AWS JSON 1.0)."""

import json
import os
from base64 import b64decode, b64encode
from binascii import crc32
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from random import random
from time import sleep
from typing import Any, Final
from urllib.parse import quote
from uuid import uuid4

from botocore import exceptions as sdk
from botocore.retries.quota import RetryQuota

from pillarbox.adapters.aws import MAX_PARALLEL, CallLimits
from pillarbox.adapters.direct.connection import AwsConnection, Endpoint, Response
from pillarbox.adapters.direct.signature import AccessKey, Signer

_TARGETS: Final = {"dynamodb": "DynamoDB_20120810", "sqs": "AmazonSQS"}
#: Every method of a client. The tests compare each with botocore's.
OPERATIONS: Final = {
    "dynamodb": "batch_execute_statement batch_get_item batch_write_item delete_item get_item"
    " put_item query transact_write_items update_item",
    "sqs": "change_message_visibility delete_message get_queue_attributes receive_message"
    " send_message send_message_batch",
}
#: The operation that is not made twice with the same token.
_WITH_TOKEN: Final = "TransactWriteItems"  # noqa: S105  no secret
#: What another try may mend, as in botocore's standard mode.
_TEMPORARY_CODES: Final = (
    "BandwidthLimitExceeded EC2ThrottledException LimitExceededException PriorRequestNotComplete"
    " ProvisionedThroughputExceededException ReplicatedWriteConflictException RequestLimitExceeded"
    " RequestThrottled RequestThrottledException RequestTimeout RequestTimeoutException SlowDown"
    " ThrottledException Throttling ThrottlingException TooManyRequestsException"
    " TransactionInProgressException"
)
_TEMPORARY_STATUSES: Final = frozenset({500, 502, 503, 504})
#: What a try costs of the quota of repetitions, and what a call gives back that needed none.
_COST, _COST_OF_TIMEOUT, _GAIN = 5, 10, 1
_START: Final = "POST / HTTP/1.1\r\nuser-agent: pillarbox\r\naccept-encoding: identity\r\n"
#: The last two say that the credentials in the environment expire, or are of an older form.
_CREDENTIALS: Final = (
    "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN"
    " AWS_CREDENTIAL_EXPIRATION AWS_SECURITY_TOKEN"
)
_FIRST_ERROR: Final = 300
_SERVER_ERROR: Final = 500


class DirectClient:
    """Makes calls as `client.get_item(TableName=…)`; several threads may use it.

    Args:
        endpoint: where its requests go.
        limits: how long and how often it tries.
        credentials: returns those that are valid now.
    """

    def __init__(
        self, endpoint: Endpoint, limits: CallLimits, credentials: Callable[[], AccessKey]
    ) -> None:
        self._endpoint = endpoint
        self._limits = limits
        self._credentials = credentials
        self._signer = Signer(endpoint.service, endpoint.region)
        self._quota = RetryQuota()
        self._idle: list[AwsConnection] = []
        self._headers = {"host": endpoint.host, "content-type": "application/x-amz-json-1.0"}
        if endpoint.service == "sqs":
            self._headers["x-amzn-query-mode"] = "true"  # for the codes of errors before JSON

    def __getattr__(self, name: str) -> Callable[..., dict[str, Any]]:
        if name not in OPERATIONS[self._endpoint.service].split():
            raise AttributeError(f"the client of {self._endpoint.service} has no {name}")
        operation = "".join(part.capitalize() for part in name.split("_"))

        def call(**parameters: object) -> dict[str, Any]:
            return self._call(operation, parameters)

        vars(self)[name] = call  # Python finds it there from now on
        return call

    def _call(self, operation: str, parameters: dict[str, object]) -> dict[str, Any]:
        """Make a call, with as many tries as botocore's standard mode makes.

        Raises:
            ClientError: the service refused it.
            BotoCoreError: there was no response; the call may have taken effect.
        """
        if operation == _WITH_TOKEN:
            parameters.setdefault("ClientRequestToken", str(uuid4()))
        # Only a binary attribute is no JSON.
        body = json.dumps(parameters, default=lambda raw: b64encode(raw).decode()).encode()
        attempt, gain = 0, _GAIN
        while self._is_temporary(outcome := self._try(operation, body)):
            timed_out = isinstance(outcome, sdk.ConnectTimeoutError | sdk.ReadTimeoutError)
            cost = _COST_OF_TIMEOUT if timed_out else _COST
            if attempt + 1 >= self._limits.attempts or not self._quota.acquire(cost):
                break
            sleep(random() * 2**attempt)  # noqa: S311  not a secret
            attempt, gain = attempt + 1, cost
        if isinstance(outcome, sdk.BotoCoreError):
            raise outcome
        metadata = {"HTTPStatusCode": outcome.status, "RetryAttempts": attempt}
        if outcome.status >= _FIRST_ERROR:
            error: Any = _read_error(outcome) | {"ResponseMetadata": metadata}
            raise sdk.ClientError(error, operation)
        self._quota.release(gain)
        return _read_fields(outcome.body, {}) | {"ResponseMetadata": metadata}

    def _try(self, operation: str, body: bytes) -> Response | sdk.BotoCoreError:
        target = f"{_TARGETS[self._endpoint.service]}.{operation}"
        headers = self._signer.sign(
            {**self._headers, "x-amz-target": target}, body, self._credentials()
        )
        headers["content-length"] = str(len(body))
        trace = "AWS_LAMBDA_FUNCTION_NAME" in os.environ and os.environ.get("_X_AMZN_TRACE_ID")
        if trace:
            headers["x-amzn-trace-id"] = quote(trace, safe="-=;:+&[]{}\"',")
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        try:
            connection = self._connect()
            try:
                return connection.exchange(f"{_START}{lines}\r\n".encode() + body)
            finally:
                self._keep(connection)
        except sdk.BotoCoreError as error:
            return error

    def _connect(self) -> AwsConnection:
        with suppress(IndexError):  # there is none, or another thread took it
            while not (connection := self._idle.pop()).reusable:
                connection.close()
            return connection
        return AwsConnection(self._endpoint, self._limits)

    def _keep(self, connection: AwsConnection) -> None:
        if connection.reusable and len(self._idle) < MAX_PARALLEL:
            self._idle.append(connection)
        else:
            connection.close()

    def _is_temporary(self, outcome: Response | sdk.BotoCoreError) -> bool:
        if isinstance(outcome, sdk.BotoCoreError) or outcome.status in _TEMPORARY_STATUSES:
            return True
        code = outcome.status >= _FIRST_ERROR and _read_error(outcome)["Error"]["Code"]
        checksum = self._endpoint.service == "dynamodb" and outcome.headers.get("x-amz-crc32")
        wrong = checksum and int(checksum) != crc32(outcome.body)
        return bool(wrong) or code in _TEMPORARY_CODES.split()


def find_client(service: str, limits: CallLimits) -> DirectClient | None:
    """Return a client of DynamoDB or SQS; None if the environment asks for more than it does."""
    endpoint = Endpoint.find(service)
    return DirectClient(endpoint, limits, _find_credentials()) if endpoint else None


def _find_credentials() -> Callable[[], AccessKey]:
    """Return what returns the credentials: Lambda's, or those of botocore, such as a container's.

    botocore's are refreshed before they expire.
    """
    access_key, secret_key, token, *others = map(os.environ.get, _CREDENTIALS.split())
    if access_key and secret_key and not any(others):
        fixed = AccessKey(access_key, secret_key, token)
        return lambda: fixed
    # No function needs it, and it takes a cold start's time.
    from pillarbox.adapters.sdk import sdk_session  # noqa: PLC0415  see above

    def current() -> AccessKey:
        if found := sdk_session().get_credentials():
            # The stubs allow keys that are None.
            return AccessKey(*found.get_frozen_credentials()[:3])  # type: ignore[arg-type]
        raise sdk.NoCredentialsError

    return current


def _read_fields(body: bytes, otherwise: dict[str, Any]) -> dict[str, Any]:
    """Return what a JSON object has, with binary values decoded; without null.

    Args:
        body: of a response.
        otherwise: what to return if it is no JSON. To botocore that is no failure.
    """
    hook = _from_base64 if b'"B"' in body else None
    try:
        fields = json.loads(body or b"{}", object_hook=hook)
    except json.JSONDecodeError:
        return otherwise
    return {name: value for name, value in fields.items() if value is not None}


def _read_error(response: Response) -> dict[str, Any]:
    """Return what botocore makes of an error: `Error`, and the fields of its kind."""
    body = response.body.strip()
    if response.status >= _SERVER_ERROR and (not body or body.startswith(b"<html>")):
        phrase = HTTPStatus(response.status).phrase if response.status in HTTPStatus else ""
        return {"Error": {"Code": str(response.status), "Message": phrase}}
    fields = _read_fields(response.body, {"message": response.body.decode()})
    kind: str | None = fields.pop("__type", None)
    code = kind.partition(":")[0].rpartition("#")[2] if kind else str(response.status)
    error = {"Message": fields.get("message", fields.get("Message", "")), "Code": code}
    older, separator, fault = response.headers.get("x-amzn-query-error", "").partition(";")
    if older and separator and ";" not in fault:
        return {"Error": error | {"Code": older, "QueryErrorCode": code, "Type": fault}}
    return (fields if kind else {}) | {"Error": error}


def _from_base64(value: dict[str, Any]) -> dict[str, Any]:
    text = value.get("B") if len(value) == 1 else None
    return {"B": b64decode(text)} if isinstance(text, str) else value
