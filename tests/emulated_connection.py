"""The direct client's connection to emulated AWS: each request goes to moto, as botocore's do."""

from typing import Final

from botocore.awsrequest import AWSPreparedRequest
from botocore.compat import HTTPHeaders
from moto.core.models import botocore_stubber

from pillarbox.adapters.direct import CallLimits, Endpoint, Response

_NOT_EMULATED: Final = "moto knows no such service"


class EmulatedConnection:
    """Takes the place of `AwsConnection` in `emulated_aws`."""

    reusable = False

    def __init__(self, endpoint: Endpoint, _limits: CallLimits) -> None:
        self._url = endpoint.url

    def exchange(self, request: bytes) -> Response:
        """Let moto answer a request."""
        head, _, body = request.partition(b"\r\n\r\n")
        start, *fields = head.decode().split("\r\n")
        lines = (line.partition(": ") for line in fields)
        headers = HTTPHeaders()
        for name, _, text in lines:
            headers[name] = text
        answer = botocore_stubber.process_request(
            AWSPreparedRequest(
                "POST", self._url + start.split()[1], headers, body, stream_output=False
            )
        )
        assert answer is not None, _NOT_EMULATED
        status, answered, content = answer
        names = {name.lower(): str(text) for name, text in answered.items()}
        return Response(status, names, content if isinstance(content, bytes) else content.encode())

    def close(self) -> None:
        """Close nothing."""
