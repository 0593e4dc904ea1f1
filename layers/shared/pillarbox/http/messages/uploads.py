"""`POST /v1/attachments`: the wire model of its request, and its response."""

import re
from typing import TYPE_CHECKING, Final
from uuid import UUID

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.domain.errors import ServiceError, ValidationFailed
from pillarbox.domain.messages.attachment import normal_type
from pillarbox.domain.messages.upload import SignedUpload, UploadedFile
from pillarbox.http.messages.replies import timestamp
from pillarbox.http.messages.wire import FILENAME, type_or_extension
from pillarbox.http.wire import (
    WireModel,
    after,
    invalid,
    optional,
    read_body,
    required,
    text,
    whole_number,
)

if TYPE_CHECKING:
    from pillarbox.http.messages.reply_types import UploadDetail

#: A hash in hex.
SHA256: Final = r"^[0-9A-Fa-f]{64}$"
#: In bytes. A file over the contract's limit is refused as in a send, with its size.
_MAX_SIZE: Final = 2**40


def _check_sha256(value: str) -> str:
    if not re.fullmatch(SHA256, value):
        raise invalid("invalid_hash", "must be the SHA-256 of the file in 64 hexadecimal digits")
    return value


class UploadRequest(WireModel):
    """A file in words, without its bytes."""

    filename = required(FILENAME)
    content_type = optional(text(), check=type_or_extension)
    size = required(whole_number(least=1, most=_MAX_SIZE))
    sha256 = required(after(text(), _check_sha256))

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


def upload_detail(upload: SignedUpload) -> "UploadDetail":
    """Return the response: the id, and the request with which to upload the file."""
    return {
        "attachmentId": str(upload.upload_id),
        "method": "PUT",
        "url": upload.url,
        "headers": dict(upload.headers),
        "expiresAt": timestamp(upload.expires_at),
        "usableUntil": timestamp(upload.usable_until),
    }
