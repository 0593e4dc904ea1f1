"""STS with the trust policies of roles, which the emulated one does not read."""

from dataclasses import dataclass, field
from typing import Any

import boto3
from botocore.exceptions import ClientError


@dataclass
class TrustingSts:
    """`trusts` has the external id that each role wants; `*` stands for everybody."""

    trusts: dict[str, str] = field(default_factory=dict)
    calls: list[dict[str, Any]] = field(default_factory=list)
    error: Exception | None = None

    def assume_role(self, **parameters: Any) -> Any:
        self.calls.append(parameters)
        if self.error is not None:
            raise self.error
        if self.trusts.get(parameters["RoleArn"]) not in {"*", parameters["ExternalId"]}:
            raise refusal("AccessDenied", "AssumeRole", "User: arn:aws:sts::the-service")
        return boto3.client("sts").assume_role(**parameters)


def refusal(code: str, operation: str, message: str = "no", status: int = 403) -> ClientError:
    response: Any = {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(response, operation)
