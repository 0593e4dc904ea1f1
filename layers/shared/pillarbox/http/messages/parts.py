"""The wire models of parts of an email: its files and header fields."""

import re
from typing import TYPE_CHECKING, Final
from uuid import UUID

from pillarbox.domain.ids import NOT_A_UUID, is_uuid
from pillarbox.domain.messages.attachment import (
    TYPES_BY_EXTENSION,
    Attachment,
    is_canonical_base64,
    normal_type,
)
from pillarbox.domain.messages.custom_headers import (
    HeaderError,
    normal_headers,
    unsubscribe_headers,
)
from pillarbox.domain.messages.filename import MAX_FILENAME, UNSAFE_NAME, is_safe_filename
from pillarbox.domain.messages.header_text import UNSAFE, is_header_safe
from pillarbox.http.wire import (
    WireModel,
    after,
    after_fields,
    boolean,
    invalid,
    object_of,
    optional,
    optional_or,
    required,
    text,
    texts_by_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic_core.core_schema import ValidationInfo

    from pillarbox.domain.messages.upload import UploadReference

#: In characters, of a URL that a header field names.
_MAX_URL: Final = 900
#: RFC 3986: what such a URL may consist of.
UNSUBSCRIBE_URL: Final = (
    r"^(https://|mailto:)([A-Za-z0-9._~:/?#@!$&'()*+,;=-]|\[|\]|%[0-9A-Fa-f]{2})+$"
)


def header_safe(value: str) -> str:
    if not is_header_safe(value):
        raise invalid("control_character", UNSAFE)
    return value


def _check_base64(value: str) -> str:
    if value[:5].lower() == "data:":
        raise invalid("invalid_base64", "must be base64 alone, without the data: prefix")
    if not is_canonical_base64(value):
        raise invalid(
            "invalid_base64",
            "must be base64 (RFC 4648 section 4), padded and without white space",
        )
    return value


def _check_filename(value: str) -> str:
    if not is_safe_filename(value):
        raise invalid("invalid_filename", UNSAFE_NAME)
    return value


def _check_content_id(value: str) -> str:
    if not all("!" <= c <= "~" and c not in "<>" for c in value):
        raise invalid("invalid_content_id", "must be visible ASCII without angle brackets")
    return value


def type_or_extension(value: str | None, info: "ValidationInfo") -> str | None:
    """Take the type that belongs to the file's extension, if none is given."""
    filename = info.data.get("filename")  # None if it is invalid itself
    if value is not None or filename is None:
        return value
    name, _, extension = filename.rpartition(".")
    known = TYPES_BY_EXTENSION.get(extension.lower()) if name else None
    if known is None:
        raise invalid("unknown_extension", "is required for a file with this extension")
    return known


def _check_content_id_when_inline(value: str | None, info: "ValidationInfo") -> str | None:
    inline = info.data.get("inline")  # None if it is invalid itself
    if inline is True and not value:
        raise invalid("required", "is required when inline is true")
    if inline is False and value is not None:
        raise invalid("not_allowed", "is only for attachments with inline true")
    return value


def _needs_no_upload(value: str | None, info: "ValidationInfo") -> str | None:
    uploaded = info.data.get("attachment_id") is not None
    if value is not None and uploaded:
        raise invalid("not_allowed", "is that of the upload; leave it out beside attachmentId")
    if value is None and not uploaded and "attachment_id" in info.data:
        raise invalid("required", "is required")
    return value


def _type_of_file(value: str | None, info: "ValidationInfo") -> str | None:
    if info.data.get("attachment_id") is None:
        return type_or_extension(value, info)
    return _needs_no_upload(value, info)


def _check_upload_id(value: str) -> str:
    if not is_uuid(value):
        raise invalid(
            "invalid_uuid", f"{NOT_A_UUID}: the id that POST /api/v1/attachments returned"
        )
    return value


FILENAME: Final = after(after(text(least=1, most=MAX_FILENAME), header_safe), _check_filename)


class AttachmentModel(WireModel):
    """Contract 2.2; or a file that was uploaded before, by its id."""

    attachment_id = optional(after(text(), _check_upload_id))
    filename = optional(FILENAME, check=_needs_no_upload)
    content_type = optional(text(), check=_type_of_file)
    content = optional(after(text(), _check_base64), check=_needs_no_upload)
    inline = optional_or(boolean(), default=False)
    content_id = optional(
        after(text(most=255), _check_content_id), check=_check_content_id_when_inline
    )

    def to_domain(self) -> Attachment:
        """Return the attachment as a domain object, if it is no upload."""
        return Attachment(
            filename=self.filename or "",
            content_type=normal_type(self.content_type or ""),
            content=self.content or "",
            inline=self.inline,
            content_id=self.content_id,
        )


def references(items: "Iterable[AttachmentModel]") -> "tuple[UploadReference, ...]":
    """Return those of some attachments that were uploaded before, as domain objects."""
    given = [(item.attachment_id, item) for item in items if item.attachment_id]
    if not given:
        return ()
    from pillarbox.domain.messages.upload import UploadReference  # noqa: PLC0415  few emails have one

    return tuple(
        UploadReference(UUID(upload_id), item.inline, item.content_id) for upload_id, item in given
    )


def _check_headers(value: dict[str, str]) -> dict[str, str]:
    try:
        return normal_headers(value)
    except HeaderError as error:
        raise invalid("invalid_headers", str(error)) from None


def _check_url(value: str) -> str:
    if not re.fullmatch(UNSUBSCRIBE_URL, value):
        raise invalid("invalid_url", "must be an https: or mailto: URL (RFC 3986)")
    return value


def _check_one_click(value: bool, info: "ValidationInfo") -> bool:  # noqa: FBT001  a field's check
    url = info.data.get("url")  # None if it is invalid itself
    if value and url is not None and not url.startswith("https://"):
        raise invalid("not_allowed", "is only for an https: URL (RFC 8058)")
    return value


class UnsubscribeModel(WireModel):
    """The header fields by which mail programs show a button to unsubscribe."""

    url = required(after(text(most=_MAX_URL), _check_url))
    one_click = optional_or(after_fields(boolean(), _check_one_click), default=False)

    @property
    def fields(self) -> dict[str, str]:
        """The header fields (RFC 2369 section 3.2, RFC 8058)."""
        return unsubscribe_headers(self.url, one_click=self.one_click)


HEADERS: Final = after(object_of(texts_by_name(), example='{"X-Order": "10442"}'), _check_headers)
