"""The format of a job in the queue and of its payload in the queue or the spool."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.rows import TUPLE, UUID_TEXT, Codec, Column, Row, many, one_of
from pillarbox.application.ports import UnreadableJob
from pillarbox.domain.ids import is_uuid
from pillarbox.domain.messages.attachment import Attachment
from pillarbox.domain.messages.mail import (
    Body,
    HandOverResult,
    HtmlBody,
    Job,
    Mail,
    RawBody,
    SavedBody,
    StarterBody,
    TextBody,
)
from pillarbox.domain.messages.message import Event, EventKind

#: The version of a job with a mail.
VERSION: Final = 1
#: The version of a job with a result. Workers from before it must not read it as a mail.
RESULT_VERSION: Final = 2
#: The version of a job whose mail names uploaded files. Workers from before it would drop them.
UPLOADS_VERSION: Final = 3
#: The version of a job whose mail waits in the table. Workers from before it cannot load it.
DUE_VERSION: Final = 4
_VERSIONS: Final = (VERSION, RESULT_VERSION, UPLOADS_VERSION, DUE_VERSION)
#: SQS accepts 1 MiB but charges for each 64 KB: above this size the spool is cheaper.
MAX_INLINE_BYTES: Final = 200_000


_TIME: Final = Codec(datetime.isoformat, datetime.fromisoformat)
_JOB: Final = Row(
    Job,
    "tenant?",
    account_id="account",
    message_id=("id", UUID_TEXT),
    body_hash="hash",
    queued_at=("queued_at", _TIME),
    deadline=("deadline", _TIME),
    due_at=("due?", _TIME),
)
_EVENT: Final = Row(
    Event,
    *("recipient?", "code?", "reason?"),
    kind=("kind", one_of(EventKind)),
    at=("at", _TIME),
)
_RESULT: Final = Row(
    HandOverResult,
    "attempt",
    provider_message_id="provider_id?",
    events=("events", many(Codec(_EVENT.write, _EVENT.read))),
)
_ATTACHMENT: Final = Row(Attachment, *("filename", "content", "content_id?"), content_type="type")


def _read_attachment(fields: Mapping[str, Any]) -> Attachment:
    return _ATTACHMENT.read(fields, inline=fields["content_id"] is not None)


@cache
def _uploads() -> Codec:
    from pillarbox.domain.messages.upload import UploadedFile  # noqa: PLC0415  few emails have one

    row = Row(
        UploadedFile,
        *("filename", "size", "sha256", "content_id?"),
        upload_id=("id", UUID_TEXT),
        content_type="type",
    )

    def read(fields: Mapping[str, Any]) -> UploadedFile:
        return row.read(fields, inline=fields["content_id"] is not None)

    return many(Codec(row.write, read))


_MAIL: Final = Row(
    Mail,
    *("from_name?", "subject", "text?"),
    sender="from",
    to=Column("to", TUPLE, absent=()),
    cc=Column("cc", TUPLE, absent=()),
    bcc=Column("bcc", TUPLE, absent=()),
    # A job of an earlier release has one address.
    reply_to=Column(
        "reply_to",
        Codec(list, lambda stored: (stored,) if isinstance(stored, str) else tuple(stored)),
        absent=(),
    ),
    names=Column("names", Codec(dict, dict), absent={}),
    headers=Column("headers", Codec(dict, dict), absent={}),
    attachments=Column(
        "attachments",
        many(Codec(_ATTACHMENT.write, _read_attachment)),
        absent=(),
    ),
    uploads=Column(
        "uploads",
        Codec(lambda files: _uploads().write(files), lambda stored: _uploads().read(stored)),
        absent=(),
    ),
)
_STARTER: Final = Row(
    StarterBody,
    *("values", "brand_name?", "logo_url?", "attribution", "report?", "accent?"),
    slug="starter",
    is_test="test",
)
_SAVED: Final = Row(SavedBody, "source", "values")


def write_job(
    job: Job, version: int = VERSION, *, payload: bytes | None = None, spool_key: str | None = None
) -> str:
    """Write a job as JSON, with its payload or with the key of its payload in the spool."""
    body = _job_json(job, version)
    if payload is None:
        return json.dumps(body | {"spool": spool_key})
    return f'{json.dumps(body)[:-1]}, "payload": {payload.decode()}}}'


def write_result(job: Job, result: HandOverResult) -> str:
    """Write a job that only records a result."""
    fields = _job_json(job, RESULT_VERSION) | {"spool": job.spool_key}
    return json.dumps(fields | _RESULT.write(result))


def _job_json(job: Job, version: int) -> dict[str, object]:
    fields = _JOB.write(job)
    return {"version": version} | {k: v for k, v in fields.items() if v is not None}


def read_job(text: str) -> Job:
    """Read what `write_job` or `write_result` wrote.

    Raises:
        UnreadableJob: the text is not a job of a version that this worker knows.
    """
    try:
        body = json.loads(text)
    except ValueError as error:
        raise UnreadableJob("not JSON") from error
    if not isinstance(body, dict) or body.get("version") not in _VERSIONS:
        raise _unreadable(body)
    if body["version"] == DUE_VERSION and "due" not in body:
        raise _unreadable(body)
    try:
        return _JOB.read(
            body,
            mail=_read_mail(body["payload"]) if "payload" in body else None,
            spool_key=body.get("spool"),
            result=_RESULT.read(body) if body["version"] == RESULT_VERSION else None,
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise _unreadable(body) from error


def fits_inline(payload: bytes) -> bool:
    """Return whether a payload may be part of its job in the queue."""
    return len(payload) <= MAX_INLINE_BYTES and b"\n" not in payload


def write_payload(mail: Mail) -> bytes:
    """Write a mail as one line of JSON.

    A large raw message follows the line unchanged, because JSON would make it larger.
    """
    if isinstance(mail.body, RawBody) and len(mail.body.octets) > MAX_INLINE_BYTES:
        fields = _mail_json(replace(mail, body=replace(mail.body, octets=b"")))
        return b"\n".join((json.dumps(fields).encode(), mail.body.octets))
    return json.dumps(_mail_json(mail), separators=(",", ":")).encode()


def read_payload(payload: bytes) -> Mail:
    """Read what `write_payload` wrote."""
    fields, _, octets = payload.partition(b"\n")
    return _read_mail(json.loads(fields), octets)


def _unreadable(body: object) -> UnreadableJob:
    """Return the error with the account and message id, which every version has."""
    fields = body if isinstance(body, dict) else {}
    version, account_id, message_id = (fields.get(name) for name in ("version", "account", "id"))
    valid = isinstance(account_id, str) and isinstance(message_id, str) and is_uuid(message_id)
    return UnreadableJob(
        "not a job of a known version",
        newer=isinstance(version, int) and version > _VERSIONS[-1],
        account_id=account_id if valid else None,
        message_id=UUID(message_id) if valid else None,
    )


def _mail_json(mail: Mail) -> dict[str, object]:
    fields = _MAIL.write(mail) | {"body": _body_json(mail.body)}
    return {name: value for name, value in fields.items() if value is not None}


def _body_json(body: Body) -> dict[str, object]:
    match body:
        case StarterBody():
            return _STARTER.write(body)
        case SavedBody():
            return _SAVED.write(body)
        case HtmlBody():
            return {"html": body.html}
        case TextBody():
            return {"text": True}
        case RawBody():
            # Latin-1 maps each octet to the character with its number; most are ASCII.
            return {
                "raw": body.octets.decode("latin-1"),
                "message_id": True,  # an older worker adds one otherwise
                "date": body.has_date,
            }


def _read_mail(fields: Mapping[str, Any], octets: bytes = b"") -> Mail:
    return _MAIL.read(fields, body=_read_body(fields["body"], octets))


def _read_body(fields: Mapping[str, Any], octets: bytes) -> Body:
    if "starter" in fields:
        return _STARTER.read(fields)
    if "source" in fields:
        return _SAVED.read(fields)
    if "raw" in fields:
        return RawBody(
            octets=octets or fields["raw"].encode("latin-1"),
            has_date=fields["date"],
        )
    return TextBody() if "text" in fields else HtmlBody(html=fields["html"])
