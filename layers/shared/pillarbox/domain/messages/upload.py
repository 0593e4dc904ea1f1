"""Files that are uploaded before the emails that have them.

An upload may be named until `UPLOAD_TIME` after its id was made, and an email is delivered within
`MAX_DELIVERY_TIME` of its acceptance. So a file that is kept for `UPLOAD_LIFE` is there for every
attempt of every email that has it, and any number of emails may have it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from pillarbox.domain.errors import ServiceError
from pillarbox.domain.timing import CLOCK_MARGIN

#: How long the signed URL takes the file.
UPLOAD_URL_TIME: Final = timedelta(minutes=15)
#: How long an email may name the upload.
UPLOAD_TIME: Final = timedelta(hours=24)
#: How long the file is kept: `UPLOAD_TIME` and `mail.MAX_DELIVERY_TIME`. The lifecycle rule of the
#: bucket deletes nothing earlier.
UPLOAD_LIFE: Final = timedelta(hours=48)
_MILLISECOND: Final = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class UploadReference:
    """A file of an email that the caller named by the id of its upload."""

    upload_id: UUID
    inline: bool = False
    content_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedFile:
    """A file that is in the bucket, or will be. `sha256` is that of its bytes, in hex."""

    upload_id: UUID
    filename: str
    content_type: str
    size: int
    sha256: str
    inline: bool = False
    content_id: str | None = None
    first_octets: bytes = field(default=b"", repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        return (self.filename,)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedUpload:
    """A request that puts one file into the bucket: PUT to `url` with exactly these headers."""

    upload_id: UUID
    url: str
    headers: Mapping[str, str]
    expires_at: datetime
    usable_until: datetime


def is_usable(upload_id: UUID, now: datetime) -> bool:
    """Return whether an email may still name an upload, if there is such an upload."""
    made_at = upload_id.int >> 80  # any UUID may be asked for: some hold no time of a calendar
    return now.timestamp() * 1000 - made_at < (UPLOAD_TIME - CLOCK_MARGIN) / _MILLISECOND


def unknown_upload(upload_id: UUID) -> ServiceError:
    """Return the error for an upload that is absent, unfinished, too old or another account's."""
    return ServiceError(
        "attachment_not_found",
        "There is no uploaded file with this attachmentId, or it is over 24 hours old.",
        details={"attachment_id": str(upload_id)},
    )


def files_of(
    references: Sequence[UploadReference], files: Mapping[UUID, UploadedFile]
) -> tuple[UploadedFile, ...]:
    """Return the files of an email from those that were found."""
    found = []
    for reference in references:
        file = files.get(reference.upload_id)
        if file is None:
            raise unknown_upload(reference.upload_id)
        found.append(replace(file, inline=reference.inline, content_id=reference.content_id))
    return tuple(found)
