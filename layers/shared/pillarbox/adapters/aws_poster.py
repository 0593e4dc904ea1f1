"""Put events into the event buses and buckets of tenants, with sessions of roles that they name.

A tenant must not make the service act for somebody else. So a session has the endpoint's id as its
external id, a policy of its own that allows one action on the one bus or prefix, and is made only
of a role that refuses the service with another external id: a role that trusts the whole AWS
account of the service, as those of an operator may, is not used.
"""

from collections.abc import Callable
from time import time
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from botocore.exceptions import BotoCoreError, ClientError

from pillarbox.adapters.aws import client_of, code_of, make_client
from pillarbox.adapters.direct import CallLimits
from pillarbox.application.webhooks.ports import PostResult
from pillarbox.domain.webhooks.aws_target import (
    AwsTarget,
    AwsTargetError,
    EventBucket,
    parse_aws_target,
    session_policy,
    trust_policy,
)
from pillarbox.domain.webhooks.endpoint import WebhookEndpoint, WebhookEvent

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

#: A second try is for a connection that AWS closed while the function was frozen. All calls may be
#: made twice. Three of them in a row take less than 20 seconds.
_LIMITS: Final = CallLimits(connect_timeout=1, read_timeout=1.5, attempts=2)
#: In seconds: the shortest life that AWS gives a session, and how long one is used.
_LIFE, _USED = 900, 600
#: Each has a client of its own, of about a megabyte.
_MAX_SESSIONS: Final = 20
#: In characters, of a message of AWS.
_MAX_SHOWN: Final = 256
_FIRST_ERROR: Final = 400
#: What receivers select our events by.
SOURCE: Final = "pillarbox"
_DENIED: Final = frozenset({"AccessDenied", "AccessDeniedException"})


class AwsSessionPoster:
    """Implements `webhooks.ports.AwsPoster`; several threads can use one.

    Args:
        service_account: the AWS account of the service; empty if no events may go to AWS.
        clock: returns seconds, also those while the function was frozen.
    """

    _sts: Any = client_of("sts", _LIMITS)

    def __init__(self, service_account: str, *, clock: Callable[[], float] = time) -> None:
        self._account = service_account
        self._clock = clock
        self._sessions: dict[tuple[str, str, str], tuple[float, Any]] = {}

    def put(self, endpoint: WebhookEndpoint, event: WebhookEvent, body: bytes) -> PostResult:
        if not self._account:
            return _failure("this service puts no events into AWS accounts any more")
        try:
            target = parse_aws_target(endpoint.url, endpoint.role_arn or "", self._account)
            client = self._session(target, endpoint)
        except AwsTargetError as error:
            return _failure(f"{error.field} {error}")
        except ClientError as error:
            return _failure(self._why_not_assumed(target, endpoint, error), error)
        except BotoCoreError as error:
            return _failure(f"no response of AWS to AssumeRole: {type(error).__name__}")
        try:
            payload = b'{"id":"%s",' % str(event.event_id).encode() + body.removeprefix(b"{")
            if isinstance(target, EventBucket):
                return _put_object(client, target, event, payload)
            return _put_event(client, target.arn, event, payload)
        except ClientError as error:
            self._sessions.pop(_key(target, endpoint), None)  # the role may have been mended
            return _failure(_why_refused(target, error), error)
        except BotoCoreError as error:
            return _failure(f"no response of AWS to {target.action}: {type(error).__name__}")

    def _session(self, target: AwsTarget, endpoint: WebhookEndpoint) -> Any:  # noqa: ANN401  as make_client
        """Return a client of S3 or EventBridge that has the rights of the tenant's role."""
        key, now = _key(target, endpoint), self._clock()
        made_at, client = self._sessions.get(key, (now - _USED, None))
        if now - made_at < _USED:
            return client
        self._check_trust(target, endpoint)
        given = self._assume(target, endpoint, endpoint.endpoint_id)
        credentials = {
            "aws_access_key_id": given["AccessKeyId"],
            "aws_secret_access_key": given["SecretAccessKey"],
            "aws_session_token": given["SessionToken"],
        }
        if isinstance(target, EventBucket):
            client = make_client("s3", _LIMITS, **credentials)
        else:
            client = make_client("events", _LIMITS, region_name=target.region, **credentials)
        self._sessions.pop(key, None)
        self._sessions[key] = now, client
        for oldest in [*self._sessions][:-_MAX_SESSIONS]:
            self._sessions.pop(oldest, None)
        return client

    def _check_trust(self, target: AwsTarget, endpoint: WebhookEndpoint) -> None:
        try:
            self._assume(target, endpoint, str(uuid4()))
        except ClientError as error:
            if code_of(error) not in _DENIED:
                raise
        else:
            policy = trust_policy(target.role.partition, self._account, endpoint.endpoint_id)
            message = "must be of a role that trusts this service with the external id of this"
            raise AwsTargetError("roleArn", f"{message} endpoint alone: {policy}")

    def _assume(
        self, target: AwsTarget, endpoint: WebhookEndpoint, external_id: str
    ) -> dict[str, str]:
        response = self._sts.assume_role(
            RoleArn=target.role.arn,
            RoleSessionName=f"pillarbox-{endpoint.endpoint_id}",
            ExternalId=external_id,
            Policy=session_policy(target),
            DurationSeconds=_LIFE,
        )
        credentials: dict[str, str] = response["Credentials"]
        return credentials

    def _why_not_assumed(
        self, target: AwsTarget, endpoint: WebhookEndpoint, error: ClientError
    ) -> str:
        # AWS's own text names the roles of the service.
        if code_of(error) not in _DENIED:
            return f"AWS refused AssumeRole: {code_of(error)}"
        policy = trust_policy(target.role.partition, self._account, endpoint.endpoint_id)
        return f"AWS refused AssumeRole: give the role this trust policy: {policy}"


def _key(target: AwsTarget, endpoint: WebhookEndpoint) -> tuple[str, str, str]:
    return endpoint.endpoint_id, target.role.arn, target.resource


def _put_object(
    client: "S3Client", bucket: EventBucket, event: WebhookEvent, payload: bytes
) -> PostResult:
    response = client.put_object(
        Bucket=bucket.name,
        Key=bucket.key(event),
        Body=payload + b"\n",
        ContentType="application/x-ndjson",
        ExpectedBucketOwner=bucket.role.account,
    )
    return PostResult(status_code=response["ResponseMetadata"]["HTTPStatusCode"])


def _put_event(client: Any, bus: str, event: WebhookEvent, payload: bytes) -> PostResult:  # noqa: ANN401  as make_client
    entry = {
        "Source": SOURCE,
        "DetailType": event.type.value,
        "Detail": payload.decode(),
        "Time": event.at,
        "EventBusName": bus,
    }
    response = client.put_events(Entries=[entry])
    if response["FailedEntryCount"]:
        (result,) = response["Entries"]
        return _failure(
            f"AWS refused the event: {_shown(result.get('ErrorCode'), result.get('ErrorMessage'))}"
        )
    return PostResult(status_code=response["ResponseMetadata"]["HTTPStatusCode"])


def _why_refused(target: AwsTarget, error: ClientError) -> str:
    shown = _shown(code_of(error), error.response.get("Error", {}).get("Message"))
    if code_of(error) in _DENIED:
        return f"the role must allow {target.action} on {target.resource}. AWS said: {shown}"
    return f"AWS refused {target.action}: {shown}"


def _shown(code: str | None, message: str | None) -> str:
    return f"{code}: {' '.join((message or '').split())}"[:_MAX_SHOWN]


def _failure(reason: str, error: ClientError | None = None) -> PostResult:
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode") if error else None
    return PostResult(
        status_code=status if status and status >= _FIRST_ERROR else None, error=reason
    )
