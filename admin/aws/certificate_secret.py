"""The secret with the relay's certificate."""

import json
from typing import Any, Final

import boto3
from botocore.exceptions import ClientError

_MISSING: Final = "ResourceNotFoundException"
#: What Secrets Manager says of a secret that waits for its deletion.
_DELETED: Final = "InvalidRequestException"


def name_of(stack_name: str) -> str:
    """Return the name of a stack's secret, which stacks/relay.yaml has too."""
    return f"{stack_name}/smtp"


def store(name: str, chain: str, key: str) -> str:
    """Put the certificate into the secret; return `created`, `changed` or `unchanged`.

    A secret that was deleted, but can still be restored, is restored first.
    """
    secrets: Any = boto3.client("secretsmanager")  # no type stubs
    text = json.dumps({"certificate": chain, "key": key})
    try:
        if secrets.get_secret_value(SecretId=name)["SecretString"] == text:
            return "unchanged"
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code == _DELETED:
            secrets.restore_secret(SecretId=name)
        elif code == _MISSING:
            if _exists(secrets, name):  # without a value: an earlier run was interrupted
                secrets.put_secret_value(SecretId=name, SecretString=text)
                return "changed"
            secrets.create_secret(
                Name=name, SecretString=text, Description="The certificate of Pillarbox's relay"
            )
            return "created"
        else:
            raise
    secrets.put_secret_value(SecretId=name, SecretString=text)
    return "changed"


def _exists(secrets: Any, name: str) -> bool:  # noqa: ANN401  no type stubs
    try:
        secrets.describe_secret(SecretId=name)
    except ClientError as error:
        if error.response["Error"]["Code"] == _MISSING:
            return False
        raise
    return True
