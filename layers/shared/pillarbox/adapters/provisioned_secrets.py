"""The secrets of keys and webhooks that stacks describe, in Secrets Manager."""

from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from pillarbox.adapters.aws import client_of, code_of, service_errors

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

_NAME: Final = "secret store"
_ABSENT: Final = "ResourceNotFoundException"


class ProvisionedSecrets:
    """Implements `management.SecretValues`. `prefix` begins the name of each."""

    _secrets: "SecretsManagerClient" = client_of("secretsmanager")

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
