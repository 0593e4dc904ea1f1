"""Answer CloudFormation: put the response to a request at the URL that came with it."""

from time import sleep
from typing import Final
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from pillarbox.domain.errors import Unavailable

_TRIES: Final = 3
#: Seconds of a try, and between two. All together fit into the half of `RESERVE` that is left.
_TIMEOUT: Final = 6.0
_WAIT: Final = 5.0
#: Where the bucket of CloudFormation is, in each partition of AWS.
_HOSTS: Final = (".amazonaws.com", ".amazonaws.com.cn")


def put_response(url: str, body: bytes) -> None:
    """Put a response, in several tries.

    Raises:
        ServiceError: `service_unavailable`: the URL is none of AWS, or no try succeeded. Lambda
            then makes the whole request again, which finds that most objects exist already.
    """
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
