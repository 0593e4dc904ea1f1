"""The wire models: the shapes of requests (contract section 2).

Types are strict and unknown fields are refused. Otherwise a misspelt `replyto` would be dropped
and the email would go out without it. `null` means the same as leaving a field out.

Order of names, white space and members that are null make no difference. Every digit does.
"""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from pillarbox.application.validation import MAX_SENDER_NAME, parse_sender
from pillarbox.domain.accounts.account import MAX_KEEP
from pillarbox.domain.address import AddressSyntaxError
from pillarbox.domain.errors import Json
from pillarbox.domain.messages.attachment import (
    FILENAME_PATTERN,
    MAX_ATTACHMENTS,
    MAX_FILENAME,
    TYPES_BY_EXTENSION,
    UNSAFE_NAME,
    Attachment,
    is_canonical_base64,
    is_safe_filename,
    normal_type,
)
from pillarbox.domain.messages.header_text import (
    INVISIBLE,
    MAX_SUBJECT,
    UNSAFE,
    is_header_safe,
    is_visible,
)
from pillarbox.domain.messages.mail import (
    MAX_HTML,
    MAX_RECIPIENTS,
    MAX_TEXT,
    UNSUBSCRIBE,
    UNSUBSCRIBE_POST,
    HeaderError,
    SendRequest,
    normal_headers,
    unsubscribe_headers,
)
from pillarbox.domain.messages.message import MAX_TAGS, Labels, TagError, check_tags
from pillarbox.domain.timing import NO_MOMENT, parse_moment
from pillarbox.http.json_body import RoundedNumber, canonical, depth_of
from pillarbox.http.wire import (
    EMAIL,
    HEADER_TEXT,
    Schema,
    WireModel,
    after,
    after_fields,
    anything,
    before,
    boolean,
    invalid,
    json_object,
    list_of,
    matching,
    model,
    object_of,
    optional,
    optional_or,
    required,
    text,
    text_in_bytes,
    texts_by_name,
    uuid_text,
    whole_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic_core.core_schema import ValidationInfo

    from pillarbox.domain.messages.upload import UploadReference


def send_hash(body: Json) -> str:
    """Return the hash of a send, or of one message of a batch, in hex."""
    return _hash(_without_nulls(body))


def batch_hash(body: Json) -> str:
    """Return the hash of a batch, in hex."""
    if isinstance(body, dict) and isinstance(messages := body.get("messages"), list):
        body = body | {"messages": [_without_nulls(message) for message in messages]}
    return _hash(body)


def _without_nulls(message: Json) -> Json:
    """Leave out the fields that are null, as the models do; null stays a value in `variables`."""
    if not isinstance(message, dict):
        return message
    fields = _members(message)
    if isinstance(attachments := fields.get("attachments"), list):
        fields["attachments"] = [
            _members(item) if isinstance(item, dict) else item for item in attachments
        ]
    return fields


def _members(value: dict[str, Json]) -> dict[str, Json]:
    return {name: member for name, member in value.items() if member is not None}


def _hash(body: Json) -> str:
    text = canonical(body)
    # Only what a double cannot tell apart is added, so that all other hashes stay as they were.
    if rounded := list(_rounded(body, [])):
        text += b"\n" + canonical(rounded)
    return hashlib.sha256(text).hexdigest()


def _rounded(value: Json, path: list[Json]) -> Iterator[Json]:
    """Yield the path and the exact text of each number that a double only approximates."""
    if isinstance(value, RoundedNumber):
        yield [*path, value.exact]
    elif isinstance(value, dict):
        for name in sorted(value):
            yield from _rounded(value[name], [*path, name])
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _rounded(item, [*path, position])


# Rules of fields in the document.
#: RFC 4648 section 4 with zero trailing bits, as `is_canonical_base64` of domain/messages checks.
BASE64: Final = (
    "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$"
)
CONTENT_ID: Final = "^[!-;=?-~]+$"
OF_MOMENT: Final[Mapping[str, Any]] = {
    "format": "date-time",
    "examples": ["2026-01-02T09:00:00+00:00"],
}
_AT_MOST: Final[Mapping[str, Any]] = {"maxItems": MAX_RECIPIENTS}

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


FILENAME: Final = after(after(text(least=1, most=MAX_FILENAME), header_safe), _check_filename)


class AttachmentModel(WireModel):
    """Contract 2.2; or a file that was uploaded before, by its id."""

    attachment_id = optional(
        uuid_text(": the id that POST /api/v1/attachments returned"), format="uuid"
    )
    """The id of an uploaded file, from `POST /api/v1/attachments`. It replaces `filename`,
    `contentType` and `content`."""
    filename = optional(FILENAME, check=_needs_no_upload, pattern=FILENAME_PATTERN)
    """A plain name: no path, no colon, no invisible character, no dot or blank at the end, no
    device of Windows such as CON, and no extension that SES refuses (.exe, .js, .bat, .lnk, .hta,
    …)."""
    content_type = optional(text(), check=_type_of_file, named="AttachmentType")
    """The type of the file (RFC 6838), without parameters. Without it, the file's extension
    decides."""
    content = optional(
        after(text(), _check_base64),
        check=_needs_no_upload,
        contentEncoding="base64",
        pattern=BASE64,
    )
    """The file's bytes in base64 (RFC 4648 section 4), padded."""
    inline = optional_or(boolean(), default=False)
    """Whether the HTML shows the file, as cid:<contentId>. False by default."""
    content_id = optional(
        after(text(most=255), _check_content_id),
        check=_check_content_id_when_inline,
        minLength=1,
        pattern=CONTENT_ID,
    )
    """Required if `inline` is true, else not allowed. Unique in an email."""

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


def _check_one_click(value: bool, info: "ValidationInfo") -> bool:  # noqa: FBT001  a field's check
    url = info.data.get("url")  # None if it is invalid itself
    if value and url is not None and not url.startswith("https://"):
        raise invalid("not_allowed", "is only for an https: URL (RFC 8058)")
    return value


class UnsubscribeModel(WireModel):
    """The header fields by which mail programs show a button to unsubscribe."""

    url = required(
        matching(
            UNSUBSCRIBE_URL,
            "invalid_url",
            "must be an https: or mailto: URL (RFC 3986)",
            most=_MAX_URL,
        ),
        pattern=UNSUBSCRIBE_URL,
        examples=["https://shop.example/unsubscribe?id=1"],
    )
    """An https: URL, or a mailto: URL."""
    one_click = optional_or(after_fields(boolean(), _check_one_click), default=False)
    """Whether the URL unsubscribes by a POST that mail programs send for their user (RFC 8058). It
    needs an https: URL."""

    @property
    def fields(self) -> dict[str, str]:
        """The header fields (RFC 2369 section 3.2, RFC 8058)."""
        return unsubscribe_headers(self.url, one_click=self.one_click)


HEADERS: Final = after(object_of(texts_by_name(), example='{"X-Order": "10442"}'), _check_headers)


MAX_VARIABLES_BYTES: Final = 256 * 1024
MAX_VARIABLES_DEPTH: Final = 8
#: RFC 5646 section 2.1, without what no template needs.
LOCALE_PATTERN: Final = r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"
MAX_LOCALE: Final = 35
_BARE: Final = "must be a string: the bare address, without a name"
_NAMED: Final = "must be a string: an address, or a name and an address in angle brackets"
#: No valid request has as many items. A longer list is refused or cut as a whole, so that it does
#: not cost an error for each item.
_MAX_ITEMS: Final = 100


def _visible(value: str) -> str:
    if not is_visible(value):
        raise invalid("invisible", INVISIBLE)
    return value


def _check_mailbox(value: str) -> str:
    try:
        name, _ = parse_sender(value)
    except AddressSyntaxError as error:
        raise invalid("invalid_address", str(error)) from None
    _visible(header_safe(name or ""))
    return value


def _no_object(value: object) -> object:
    """Refuse the form {"email": …, "name": …}, which other services have."""
    if isinstance(value, dict):
        raise invalid("wrong_type", _BARE)
    return value


def _no_named_object(value: object) -> object:
    if isinstance(value, dict):
        raise invalid("wrong_type", _NAMED)
    return value


def _to_list(value: object) -> object:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise invalid("wrong_type", "must be a bare address or a list of bare addresses")
    return _truncate_strings(value)


def _truncate_strings(value: object) -> object:
    if not isinstance(value, list) or len(value) <= _MAX_ITEMS:
        return value  # the errors will name each item that is not a string
    first = value[:_MAX_ITEMS]
    if not all(isinstance(item, str) for item in first):
        raise invalid("wrong_type", "must be a list of strings")
    return first


def _count_truncated(body: Json) -> int:
    """Return how many recipients of a request its lists do not contain."""
    lists = [body.get(name) for name in ("to", "cc", "bcc")] if isinstance(body, dict) else []
    return sum(max(len(each) - _MAX_ITEMS, 0) for each in lists if isinstance(each, list))


def _truncate(value: object) -> object:
    return value[:_MAX_ITEMS] if isinstance(value, list) else value


def _check_locale_of_template(value: str | None, info: "ValidationInfo") -> str | None:
    if value is not None and "template_id" in info.data and info.data["template_id"] is None:
        raise invalid("not_allowed", "is only for templateId")
    return value


def _check_variables(value: dict[str, Any]) -> dict[str, Any]:
    if depth_of(value) > MAX_VARIABLES_DEPTH:
        raise invalid("too_deep", f"must not be nested deeper than {MAX_VARIABLES_DEPTH} levels")
    if len(canonical(value)) > MAX_VARIABLES_BYTES:
        raise invalid("too_large", f"must not be larger than {MAX_VARIABLES_BYTES} bytes")
    return value


def _check_one_name(value: str | None, info: "ValidationInfo") -> str | None:
    if value is not None and info.data.get("from_name") is not None and parse_sender(value)[0]:
        raise invalid("not_allowed", "has a name, and so has fromName; give one of them")
    return value


def _check_subject_of_own_body(value: str | None, info: "ValidationInfo") -> str | None:
    """Templates have subjects; html does not, and neither does text alone."""
    given = {name for name, found in info.data.items() if found is not None}
    own = given & {"html", "own_text"}
    if value is None and own and not given & {"starter_template", "template_id"}:
        raise invalid("required", f"is required with {'html' if 'html' in own else 'text'}")
    return value


def _check_content_ids_differ(value: "list[AttachmentModel]") -> "list[AttachmentModel]":
    ids = [item.content_id for item in value if item.content_id]
    if len(set(ids)) < len(ids):
        raise invalid("duplicate", "two attachments have the same contentId")
    return value


def _few(value: object) -> object:
    if isinstance(value, dict) and len(value) > MAX_TAGS:
        raise invalid("invalid_tags", f"must not have more than {MAX_TAGS} tags")
    return value


def _check_tags(value: dict[str, str]) -> dict[str, str]:
    try:
        check_tags(value)
    except TagError as error:
        raise invalid("invalid_tags", str(error)) from None
    return value


def _check_unsubscribe_once(
    value: "UnsubscribeModel | None", info: "ValidationInfo"
) -> "UnsubscribeModel | None":
    fields = {name.lower() for name in info.data.get("headers") or {}}
    if value is not None and fields & {UNSUBSCRIBE.lower(), UNSUBSCRIBE_POST.lower()}:
        raise invalid("not_allowed", f"headers have {UNSUBSCRIBE} already")
    return value


def _check_moment(value: str) -> str:
    if parse_moment(value) is None:
        raise invalid("invalid_time", NO_MOMENT)
    return value


def _check_no_time(
    value: bool | None,  # noqa: FBT001  pydantic passes it so
    info: "ValidationInfo",
) -> bool | None:
    if value and info.data.get("scheduled_at") is not None:
        raise invalid("not_allowed", "has no date; leave out scheduledAt or hold")
    return value


def _header_text(*, least: int = 0, most: int) -> Schema[str]:
    return after(after(text(least=least, most=most), header_safe), _visible)


LOCALE: Final = matching(
    LOCALE_PATTERN,
    "invalid_locale",
    "must be a language tag (RFC 5646), such as de or de-CH",
    most=MAX_LOCALE,
)
_ADDRESS_TEXT: Final = before(_no_object, text())
_MAILBOX: Final = after(before(_no_named_object, text()), _check_mailbox)
_ADDRESSES: Final = before(_truncate_strings, list_of(_ADDRESS_TEXT))
_TAGS: Final = after(
    object_of(before(_few, texts_by_name()), example='{"order": "10442"}'), _check_tags
)
MOMENT: Final = after(text(most=40), _check_moment)
VARIABLES: Final = after(object_of(json_object(), example='{"name": "Ada"}'), _check_variables)


def to_moment(text: str) -> datetime:
    """Return the time in a text that `MOMENT` has checked."""
    return datetime.fromisoformat(text).astimezone(UTC)


HTML: Final = text_in_bytes(MAX_HTML, least=1)
TEXT: Final = text_in_bytes(MAX_TEXT, least=1)


class SendEmailRequest(WireModel):
    """Contract 2.1. The domain checks counts and modes, see `SendRequest`."""

    to = required(
        before(_to_list, list_of(_ADDRESS_TEXT, least=1)),
        anyOf=[EMAIL, {"type": "array", "items": EMAIL, **_AT_MOST, "minItems": 1}],
        examples=["ada@customer.example"],
    )
    """One address or several. `to`, `cc` and `bcc` have at most 50 recipients together."""
    starter_template = optional(text(), named="StarterSlug")
    """A built-in template."""
    template_id = optional(uuid_text("; a starter's slug goes in starterTemplate"), format="uuid")
    """A saved template. Not for preview keys."""
    locale = optional(
        LOCALE, check=_check_locale_of_template, pattern=LOCALE_PATTERN, examples=["de-CH"]
    )
    """Only with `templateId`: a language tag (RFC 5646). `de-CH` takes the template's `de-CH`, else
    its `de`, else its default."""
    html = optional(HTML, maxLength=MAX_HTML)
    """The HTML body, at most 2 MB in UTF-8. Requires `subject`. Not for preview keys."""
    own_text = optional(TEXT, name="text", maxLength=MAX_TEXT)
    """The text part, at most 1 MB in UTF-8. Without it, one is made from the HTML. It goes with all
    three modes, or alone with `subject`. Not for keys that send tests."""
    variables = optional(VARIABLES, named="Variables")
    """The values for the template: at most 256 KB and 8 levels. `GET /api/v1/starter-templates`
    says which ones a starter needs and may have. In `html`, `text` and `subject` of your own each
    `{{ name }}` of a given value is replaced."""
    subject = optional(
        _header_text(least=1, most=MAX_SUBJECT),
        check=_check_subject_of_own_body,
        pattern=HEADER_TEXT,
    )
    """Required with `html` and with `text` alone. It replaces the subject of a template."""
    from_name = optional(_header_text(most=MAX_SENDER_NAME), pattern=HEADER_TEXT)
    """The sender's display name. It does not only consist of blanks and invisible characters."""
    sender = optional(
        _MAILBOX,
        name="from",
        check=_check_one_name,
        pattern=HEADER_TEXT,
        examples=["hello@acme.example", "Acme <hello@acme.example>"],
    )
    """A verified sender of the account, alone or as `Name <address>`. Free plans ignore the
    address."""
    cc = optional(_ADDRESSES, items=EMAIL, **_AT_MOST)
    """Carbon copies."""
    bcc = optional(_ADDRESSES, items=EMAIL, **_AT_MOST)
    """Blind copies."""
    reply_to = optional(
        _MAILBOX, pattern=HEADER_TEXT, examples=["help@acme.example", "Support <help@acme.example>"]
    )
    """The address for replies, alone or as `Name <address>`."""
    brand_name = optional(_header_text(most=128), pattern=HEADER_TEXT)
    """Shown at the top of templates."""
    logo_url = optional(text(most=2048), format="uri", pattern=r"^https://")
    """An https: URL. The service never fetches it."""
    attachments = optional(
        after(before(_truncate, list_of(model(AttachmentModel))), _check_content_ids_differ),
        maxItems=MAX_ATTACHMENTS,
    )
    """Each file has at most 5 MB and all together at most 10 MB, decoded."""
    tags = optional(_TAGS, named="Tags")
    """Names and values by which you find the email again."""
    headers = optional(HEADERS, named="Headers")
    """Header fields of your own, by name. Over SMTP these and most others are delivered as they
    are."""
    unsubscribe = optional(model(UnsubscribeModel), check=_check_unsubscribe_once)
    """Writes List-Unsubscribe, and with `oneClick` List-Unsubscribe-Post, in place of these names
    in `headers`."""
    scheduled_at = optional(MOMENT, **OF_MOMENT)
    """When to send it: ISO 8601 with an offset, at least a minute and at most 30 days ahead. Then
    key, account, sender and suppressions are checked again. Not for preview keys, and not with
    uploaded files."""
    hold = optional(boolean(), check=_check_no_time)
    """Whether it waits until somebody releases it, for at most 7 days. Not with `scheduledAt`, for
    preview keys or with uploaded files."""
    keep = optional(whole_number(least=0, most=MAX_KEEP))
    """For how many days to keep the content after the hand-over: at most `keepDays` of the account,
    which is 0 unless an owner has changed it. With 0 nothing is kept."""
    replies = optional(boolean())
    """Whether answers come back to the service, which announces them as `email.received`. It needs
    a domain that receives (`PATCH /api/v1/domains/{domain}`). Without it, the account's setting
    decides. A `replyTo` of your own stays."""

    def to_domain(self, body: Json) -> SendRequest:
        """Return the request as a domain object; `body` is the JSON that was validated."""
        more_recipients = _count_truncated(body)
        name, sender = parse_sender(self.sender) if self.sender else (None, None)
        reply_name, reply_to = parse_sender(self.reply_to) if self.reply_to else (None, None)
        return SendRequest(
            # With so many recipients it is refused, so that nothing needs its hash.
            body_hash="" if more_recipients else send_hash(body),
            to=tuple(self.to),
            cc=tuple(self.cc or ()),
            bcc=tuple(self.bcc or ()),
            starter_template=self.starter_template,
            template_id=UUID(self.template_id) if self.template_id else None,
            locale=self.locale,
            html=self.html,
            text=self.own_text,
            variables=self.variables or {},
            subject=self.subject,
            from_name=self.from_name or name,
            sender=sender,
            reply_to=(reply_to,) if reply_to else (),
            names={reply_to: reply_name} if reply_to and reply_name else {},
            brand_name=self.brand_name,
            logo_url=self.logo_url,
            attachments=tuple(
                item.to_domain() for item in self.attachments or () if not item.attachment_id
            ),
            uploads=references(self.attachments or ()),
            labels=Labels(tags=self.tags or {}),
            headers=(self.headers or {}) | (self.unsubscribe.fields if self.unsubscribe else {}),
            scheduled_at=to_moment(self.scheduled_at) if self.scheduled_at else None,
            hold=bool(self.hold),
            keep=self.keep,
            replies=self.replies,
            more_recipients=more_recipients,
        )


class SendBatchRequest(WireModel):
    """Contract 4.2. Each message is validated separately, as a `SendEmailRequest`."""

    messages = required(
        list_of(anything(), least=1),
        items={"$ref": "#/components/schemas/SendEmailRequest"},
        maxItems=100,
    )
    """At most 1,000 recipients together. Each message is accepted or refused separately."""


class RenderStarterRequest(WireModel):
    """Contract 4.7, and the brand as in a send."""

    variables = optional(VARIABLES, named="Variables")
    """They replace samples of the template."""
    brand_name = optional(_header_text(most=128), pattern=HEADER_TEXT)
    """Shown instead of the account's brand."""
    logo_url = optional(text(most=2048), format="uri", pattern=r"^https://")
    """An https: URL. Shown instead of the account's logo."""
