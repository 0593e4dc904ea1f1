"""The clients of AWS's SDK, botocore: what boto3 adds is not needed and slows a cold start."""

import os
from functools import cache
from typing import Any, Final

import botocore.session
from botocore.config import Config

from pillarbox.adapters.aws import CallLimits

#: AWS checks parameters too. The tests turn this on, since the SDK drops unknown ones silently.
CHECKS_PARAMETERS: Final = False
#: Services whose endpoint depends on no parameter of ours.
_ONE_ENDPOINT: Final = frozenset({"dynamodb", "lambda", "sqs"})


def make_sdk_client(service: str, limits: CallLimits | Config) -> Any:  # noqa: ANN401  typed by callers
    """Return a client of an AWS service. No two may be made at the same time."""
    config = _config(limits) if isinstance(limits, CallLimits) else limits
    if "AWS_ENDPOINT_URL" in os.environ and service == "s3":
        # Only AWS has a host name for each bucket.
        config = config.merge(Config(s3={"addressing_style": "path"}))
    client: Any = sdk_session().create_client(service, config=config)
    if service in _ONE_ENDPOINT:
        _find_endpoint_once(client._ruleset_resolver)  # noqa: SLF001  no setting does it
    return client


def _config(limits: CallLimits) -> Config:
    return Config(
        connect_timeout=limits.connect_timeout,
        read_timeout=limits.read_timeout,
        retries={"mode": limits.mode, "total_max_attempts": limits.attempts},
        tcp_keepalive=True,
        # The SDK builds its own user agent twice for each call: a tenth of the call's CPU.
        user_agent="pillarbox",
        parameter_validation=CHECKS_PARAMETERS,
    )


def _find_endpoint_once(resolver: Any) -> None:  # noqa: ANN401  botocore has no types
    """Keep the endpoint that the first call finds: finding it takes 5 % of a call's CPU."""
    find = resolver.construct_endpoint
    found: list[object] = []

    def construct_endpoint(**call: object) -> object:
        if not found:
            found.append(find(**call))
        return found[0]

    resolver.construct_endpoint = construct_endpoint


@cache
def sdk_session() -> botocore.session.Session:
    """Return the session that makes all clients of this module."""
    return botocore.session.get_session()
