"""The wire models: the shapes of requests (contract section 2), which pydantic validates.

Types are strict and unknown fields are refused. Otherwise a misspelt `replyto` would be dropped
and the email would go out without it. `null` means the same as leaving a field out.
"""

from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from pillarbox.application.validation import to_a_label
from pillarbox.domain.address import AddressSyntaxError, parse_address
from pillarbox.domain.attachment import Attachment, is_canonical_base64
from pillarbox.domain.errors import Json
from pillarbox.domain.header_text import is_header_safe
from pillarbox.domain.ids import is_uuid
from pillarbox.domain.mail import MAX_SUBJECT, SendRequest
from pillarbox.http.body_hash import send_hash
from pillarbox.http.json_body import canonical, depth_of
from pillarbox.http.validation import invalid

MAX_VARIABLES_BYTES: Final = 256 * 1024
MAX_VARIABLES_DEPTH: Final = 8
#: No valid request has as many fields or items. A longer list is refused or cut as a whole, so
#: that it does not cost an error for each item.
_MAX_FIELDS: Final = 100
_MAX_ITEMS: Final = 1000


def _header_safe(text: str) -> str:
    if not is_header_safe(text):
        raise invalid(
            "control_character", "must not have control characters or text direction overrides"
        )
    return text


def _parse_address(text: str) -> str:
    try:
        return parse_address(text, to_a_label)
    except AddressSyntaxError as error:
        raise invalid("invalid_address", str(error)) from None


def _to_list(value: object) -> object:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise invalid("wrong_type", "must be a string or a list of strings")
    return _check_strings(value)


def _check_strings(value: object) -> object:
    if not isinstance(value, list) or len(value) <= _MAX_ITEMS:
        return value  # the errors will name each item that is not a string
    if not all(isinstance(item, str) for item in value):
        raise invalid("wrong_type", "must be a list of strings")
    return value


def _truncate(value: object) -> object:
    return value[:_MAX_ITEMS] if isinstance(value, list) else value


def _check_uuid(text: str) -> str:
    if not is_uuid(text):
        raise invalid("invalid_uuid", "must be a UUID")
    return text


def _check_base64(text: str) -> str:
    if not is_canonical_base64(text):
        raise invalid(
            "invalid_base64",
            "must be base64 (RFC 4648 section 4), padded and without white space",
        )
    return text


def _check_filename(text: str) -> str:
    if "/" in text or "\\" in text:
        raise invalid("invalid_filename", "must be a name without a path")
    return text


def _check_content_id(text: str) -> str:
    if not all("!" <= c <= "~" and c not in "<>" for c in text):
        raise invalid("invalid_content_id", "must be visible ASCII without angle brackets")
    return text


def _check_variables(value: dict[str, Any]) -> dict[str, Any]:
    if depth_of(value) > MAX_VARIABLES_DEPTH:
        raise invalid("too_deep", f"must not be nested deeper than {MAX_VARIABLES_DEPTH} levels")
    if len(canonical(value)) > MAX_VARIABLES_BYTES:
        raise invalid("too_large", f"must not be larger than {MAX_VARIABLES_BYTES} bytes")
    return value


type AddressText = Annotated[str, AfterValidator(_parse_address)]
type UuidText = Annotated[str, AfterValidator(_check_uuid)]
type Variables = Annotated[dict[str, Any], AfterValidator(_check_variables)]


class WireModel(BaseModel):
    """The base of all shapes: camelCase names, strict types, no unknown fields."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", strict=True, frozen=True, defer_build=True
    )

    @model_validator(mode="before")
    @classmethod
    def _limit_fields(cls, value: object) -> object:
        if isinstance(value, dict) and len(value) > _MAX_FIELDS:
            raise invalid("too_many_fields", f"has more than {_MAX_FIELDS} fields")
        return value


class AttachmentModel(WireModel):
    """Contract 2.2."""

    filename: Annotated[
        str,
        Field(min_length=1, max_length=255),
        AfterValidator(_header_safe),
        AfterValidator(_check_filename),
    ]
    content_type: str
    content: Annotated[str, AfterValidator(_check_base64)]
    inline: bool = False
    content_id: Annotated[
        Annotated[str, Field(max_length=255), AfterValidator(_check_content_id)] | None,
        Field(validate_default=True),
    ] = None

    @field_validator("content_id")
    @classmethod
    def _check_content_id_when_inline(cls, value: str | None, info: ValidationInfo) -> str | None:
        inline = info.data.get("inline")  # None if it is invalid itself
        if inline is True and not value:
            raise invalid("required", "is required when inline is true")
        if inline is False and value is not None:
            raise invalid("not_allowed", "is only for attachments with inline true")
        return value

    def to_domain(self) -> Attachment:
        """Return the attachment as a domain object."""
        return Attachment(
            filename=self.filename,
            content_type=self.content_type,
            content=self.content,
            inline=self.inline,
            content_id=self.content_id,
        )


class SendEmailRequest(WireModel):
    """Contract 2.1. The domain checks counts and modes, see `SendRequest`."""

    to: Annotated[list[str], BeforeValidator(_to_list), Field(min_length=1)]
    starter_template: str | None = None
    template_id: UuidText | None = None
    html: Annotated[str, Field(min_length=1)] | None = None
    variables: Variables | None = None
    subject: Annotated[
        Annotated[str, Field(min_length=1, max_length=MAX_SUBJECT), AfterValidator(_header_safe)]
        | None,
        Field(validate_default=True),
    ] = None
    from_name: Annotated[str, Field(max_length=1024), AfterValidator(_header_safe)] | None = None
    sender: Annotated[AddressText | None, Field(alias="from")] = None
    cc: Annotated[list[str] | None, BeforeValidator(_check_strings)] = None
    bcc: Annotated[list[str] | None, BeforeValidator(_check_strings)] = None
    reply_to: AddressText | None = None
    brand_name: Annotated[str, Field(max_length=128), AfterValidator(_header_safe)] | None = None
    logo_url: Annotated[str, Field(max_length=2048)] | None = None
    attachments: Annotated[list[AttachmentModel] | None, BeforeValidator(_truncate)] = None

    @field_validator("subject")
    @classmethod
    def _check_subject_with_html(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None and info.data.get("html") is not None:
            raise invalid("required", "is required with html")
        return value

    @field_validator("attachments")
    @classmethod
    def _check_content_ids_differ(
        cls, value: list[AttachmentModel] | None
    ) -> list[AttachmentModel] | None:
        ids = [item.content_id for item in value or () if item.content_id]
        if len(set(ids)) < len(ids):
            raise invalid("duplicate", "two attachments have the same contentId")
        return value

    def to_domain(self, body: Json) -> SendRequest:
        """Return the request as a domain object; `body` is the JSON that was validated."""
        return SendRequest(
            body_hash=send_hash(body),
            to=tuple(self.to),
            cc=tuple(self.cc or ()),
            bcc=tuple(self.bcc or ()),
            starter_template=self.starter_template,
            template_id=UUID(self.template_id) if self.template_id else None,
            html=self.html,
            variables=self.variables or {},
            subject=self.subject,
            from_name=self.from_name,
            sender=self.sender,
            reply_to=self.reply_to,
            brand_name=self.brand_name,
            logo_url=self.logo_url,
            attachments=tuple(item.to_domain() for item in self.attachments or ()),
        )


class SendBatchRequest(WireModel):
    """Contract 4.2. Each message is validated separately, as a `SendEmailRequest`."""

    messages: Annotated[list[Any], Field(min_length=1)]


class PreviewRequest(WireModel):
    """Contract 4.7."""

    variables: Variables | None = None
