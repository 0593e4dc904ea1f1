"""What an operator asks of AWS: a refusal is told in AWS's own words."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import ClientError

from pillarbox.adapters.aws import code_of, reaching
from pillarbox.domain.errors import ServiceError


@contextmanager
def asking(what: str) -> Iterator[None]:
    """Turn every error of an AWS service into `service_unavailable`.

    Raises:
        ServiceError: `service_unavailable`, with what AWS said, such as the right
            that the operator lacks.
    """
    try:
        with reaching(what):
            yield
    except ClientError as error:
        said = error.response.get("Error", {}).get("Message", "")
        raise ServiceError(
            "service_unavailable",
            f"AWS refused {error.operation_name}: {code_of(error)}: {said}",
        ) from error
