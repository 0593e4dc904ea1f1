"""What stacks need that describe objects: their secrets, and CloudFormation's answer."""

from time import sleep
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from botocore.exceptions import ClientError

from pillarbox.adapters.aws import client_of, code_of, service_errors
from pillarbox.domain.errors import Unavailable

_NAME: Final = "secret store"
_ABSENT: Final = "ResourceNotFoundException"


class ProvisionedSecrets:
    """Implements `management.SecretValues`. `prefix` begins the name of each."""

    _secrets: Any = client_of("secretsmanager")

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def store(self, owner: str, value: str) -> str:
        """Put a value into the secret, or create it."""
        name = self._prefix + owner
        arn = self._arn("put_secret_value", SecretId=name, SecretString=value)
        return arn or str(self._arn("create_secret", Name=name, SecretString=value))

    def find(self, owner: str) -> str | None:
        """Read what the secret is, and not its value."""
        return self._arn("describe_secret", SecretId=self._prefix + owner)

    def delete(self, owner: str) -> None:
        """Delete it at once: its value works no longer."""
        name = self._prefix + owner
        self._arn("delete_secret", SecretId=name, ForceDeleteWithoutRecovery=True)

    def _arn(self, operation: str, **parameters: Any) -> str | None:  # noqa: ANN401  of the SDK
        with service_errors(_NAME):
            try:
                return str(getattr(self._secrets, operation)(**parameters)["ARN"])
            except ClientError as error:
                if code_of(error) != _ABSENT:
                    raise
        return None


_TRIES: Final = 3
#: Seconds of a try, and between two. All together fit into the half of `RESERVE` that is left.
_TIMEOUT: Final = 6.0
_WAIT: Final = 5.0
#: Where the bucket of CloudFormation is, in each partition of AWS.
_HOSTS: Final = (".amazonaws.com", ".amazonaws.com.cn")


def put_response(url: str, body: bytes) -> None:
    """Put a response, in several tries."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not (parts.hostname or "").endswith(_HOSTS):
        raise Unavailable("CloudFormation", "The response is for no address of AWS.")
    for left in reversed(range(_TRIES)):
        # The signature in the URL is for a request without a type.
        request = Request(url, data=body, headers={"Content-Type": ""}, method="PUT")  # noqa: S310  https, see above
        try:
            with urlopen(request, timeout=_TIMEOUT):  # noqa: S310  as above
                return
        except OSError:  # an HTTPError is one
            if left:
                sleep(_WAIT)
    raise Unavailable("CloudFormation", "CloudFormation did not take the response.")
