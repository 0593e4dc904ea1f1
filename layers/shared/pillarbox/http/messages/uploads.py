"""`POST /v1/attachments`: the wire model of its request, and its response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from pillarbox.domain.errors import ServiceError, ValidationFailed
from pillarbox.domain.messages.attachment import FILENAME_PATTERN, normal_type
from pillarbox.domain.messages.upload import UploadedFile
from pillarbox.http.messages.replies import View, taken_from
from pillarbox.http.messages.wire import FILENAME, type_or_extension
from pillarbox.http.wire import (
    WireModel,
    matching,
    optional,
    read_body,
    required,
    text,
    whole_number,
)

if TYPE_CHECKING:
    from typing import Literal

    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

    from pillarbox.http.json_types import Timestamp, Uuid

#: A hash in hex.
SHA256: Final = r"^[0-9A-Fa-f]{64}$"
#: In bytes. A file over the contract's limit is refused as in a send, with its size.
_MAX_SIZE: Final = 2**40


class UploadRequest(WireModel):
    """A file in words, without its bytes."""

    filename = required(FILENAME, pattern=FILENAME_PATTERN)
    """As in a send."""
    content_type = optional(text(), check=type_or_extension, named="AttachmentType")
    """As in a send; without it, the file's extension decides."""
    size = required(whole_number(least=1, most=_MAX_SIZE))
    """The number of the file's bytes, at most 5 MB."""
    sha256 = required(
        matching(
            SHA256, "invalid_hash", "must be the SHA-256 of the file in 64 hexadecimal digits"
        ),
        pattern=SHA256,
    )
    """The SHA-256 of the file's bytes, in hex."""

    def to_domain(self) -> UploadedFile:
        """Return the file; its id is made later."""
        return UploadedFile(
            upload_id=UUID(int=0),
            filename=self.filename,
            content_type=normal_type(self.content_type or ""),
            size=self.size,
            sha256=self.sha256.lower(),
        )


def read_upload(event: APIGatewayProxyEvent) -> UploadedFile | ServiceError:
    """Read the file that a request is about, or the errors of the request's form."""
    try:
        return read_body(event, UploadRequest).to_domain()
    except ValidationFailed as failed:
        return failed


class UploadDetail(View):
    """The request with which to upload a file, and the id that a send names."""

    attachment_id: Uuid = taken_from("upload_id")
    method: Literal["PUT"] = taken_from(lambda _: "PUT")
    url: str
    """Where to send the file. The URL is a secret."""
    headers: dict[str, str]
    """Send exactly these. Another type, size, hash or name is refused."""
    expires_at: Timestamp
    """Until when the URL takes the file."""
    usable_until: Timestamp
    """Until when sends may name the file."""
