"""The clients of AWS's SDK, botocore: what boto3 adds is not needed and slows a cold start."""

import os
from functools import cache
from typing import Any, Final

import botocore.session
from botocore.config import Config

from pillarbox.adapters.direct import CallLimits

#: AWS checks parameters too. The tests turn this on, since the SDK drops unknown ones silently.
CHECKS_PARAMETERS: Final = False


def make_sdk_client(service: str, limits: CallLimits | Config, **others: Any) -> Any:  # noqa: ANN401  typed by callers
    """Return a client of an AWS service. No two may be made at the same time."""
    config = _config(limits) if isinstance(limits, CallLimits) else limits
    if "AWS_ENDPOINT_URL" in os.environ and service == "s3":
        # Only AWS has a host name for each bucket.
        config = config.merge(Config(s3={"addressing_style": "path"}))
    return sdk_session().create_client(service, config=config, **others)


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


@cache
def sdk_session() -> botocore.session.Session:
    """Return the session that makes all clients of this module."""
    return botocore.session.get_session()
