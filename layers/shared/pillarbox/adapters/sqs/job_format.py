"""The format of a job in the queue and of its payload in the queue or the spool."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

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
)
from pillarbox.domain.messages.message import Event, EventKind

#: The version of a job with a mail.
VERSION: Final = 1
#: The version of a job with a result. Workers from before it must not read it as a mail.
RESULT_VERSION: Final = 2
#: SQS accepts 1 MiB but charges for each 64 KB: above this size the spool is cheaper.
MAX_INLINE_BYTES: Final = 200_000


def write_job(job: Job, *, payload: bytes | None = None, spool_key: str | None = None) -> str:
    """Write a job as JSON, with its payload or with the key of its payload in the spool."""
    body = _job_json(job, VERSION)
    if payload is None:
        return json.dumps(body | {"spool": spool_key})
    return f'{json.dumps(body)[:-1]}, "payload": {payload.decode()}}}'


def write_result(job: Job, result: HandOverResult) -> str:
    """Write a job that only records a result."""
    return json.dumps(
        _job_json(job, RESULT_VERSION)
        | {
            "spool": job.spool_key,
            "attempt": result.attempt,
            "provider_id": result.provider_message_id,
            "events": [
                {
                    "kind": event.kind.value,
                    "at": event.at.isoformat(),
                    "recipient": event.recipient,
                    "code": event.code,
                    "reason": event.reason,
                }
                for event in result.events
            ],
        }
    )


def _job_json(job: Job, version: int) -> dict[str, object]:
    return {
        "version": version,
        "account": job.account_id,
        "id": str(job.message_id),
        "hash": job.body_hash,
        "queued_at": job.queued_at.isoformat(),
        "deadline": job.deadline.isoformat(),
    }


def read_job(text: str) -> Job:
    """Read what `write_job` or `write_result` wrote.

    Raises:
        UnreadableJob: the text is not a job of a version that this worker knows.
    """
    try:
        body = json.loads(text)
    except ValueError as error:
        raise UnreadableJob("not JSON") from error
    if not isinstance(body, dict) or body.get("version") not in (VERSION, RESULT_VERSION):
        raise _unreadable(body)
    try:
        return Job(
            account_id=body["account"],
            message_id=UUID(body["id"]),
            body_hash=body["hash"],
            queued_at=datetime.fromisoformat(body["queued_at"]),
            deadline=datetime.fromisoformat(body["deadline"]),
            mail=_read_mail(body["payload"]) if "payload" in body else None,
            spool_key=body.get("spool"),
            result=_read_result(body) if body["version"] == RESULT_VERSION else None,
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
        newer=isinstance(version, int) and version > RESULT_VERSION,
        account_id=account_id if valid else None,
        message_id=UUID(message_id) if valid else None,
    )


def _read_result(body: Mapping[str, Any]) -> HandOverResult:
    events = (
        Event(
            kind=EventKind(event["kind"]),
            at=datetime.fromisoformat(event["at"]),
            recipient=event["recipient"],
            code=event["code"],
            reason=event["reason"],
        )
        for event in body["events"]
    )
    return HandOverResult(
        attempt=body["attempt"], events=tuple(events), provider_message_id=body["provider_id"]
    )


def _mail_json(mail: Mail) -> dict[str, object]:
    fields = {
        "from": mail.sender,
        "from_name": mail.from_name,
        "to": mail.to,
        "cc": mail.cc,
        "bcc": mail.bcc,
        "reply_to": mail.reply_to,
        "subject": mail.subject,
        "body": _body_json(mail.body),
        "attachments": [
            {
                "filename": attachment.filename,
                "type": attachment.content_type,
                "content": attachment.content,
                "content_id": attachment.content_id,
            }
            for attachment in mail.attachments
        ],
    }
    return {name: value for name, value in fields.items() if value not in (None, (), [])}


def _body_json(body: Body) -> dict[str, object]:
    match body:
        case StarterBody():
            return {
                "starter": body.slug,
                "values": body.values,
                "brand_name": body.brand_name,
                "logo_url": body.logo_url,
                "attribution": body.attribution,
                "test": body.is_test,
                "report": body.report,
                "accent": body.accent,
                "date": body.date,
            }
        case SavedBody():
            return {"source": body.source, "values": body.values}
        case HtmlBody():
            return {"html": body.html}
        case RawBody():
            # Latin-1 maps each octet to the character with its number; most are ASCII.
            return {
                "raw": body.octets.decode("latin-1"),
                "message_id": body.has_message_id,
                "date": body.has_date,
            }


def _read_mail(fields: Mapping[str, Any], octets: bytes = b"") -> Mail:
    return Mail(
        sender=fields["from"],
        from_name=fields.get("from_name"),
        to=tuple(fields.get("to", ())),
        cc=tuple(fields.get("cc", ())),
        bcc=tuple(fields.get("bcc", ())),
        reply_to=fields.get("reply_to"),
        subject=fields["subject"],
        body=_read_body(fields["body"], octets),
        attachments=tuple(map(_read_attachment, fields.get("attachments", ()))),
    )


def _read_body(fields: Mapping[str, Any], octets: bytes) -> Body:
    if "starter" in fields:
        return StarterBody(
            slug=fields["starter"],
            values=fields["values"],
            brand_name=fields["brand_name"],
            logo_url=fields["logo_url"],
            attribution=fields["attribution"],
            is_test=fields["test"],
            report=fields["report"],
            accent=fields["accent"],
            date=fields["date"],
        )
    if "source" in fields:
        return SavedBody(source=fields["source"], values=fields["values"])
    if "raw" in fields:
        return RawBody(
            octets=octets or fields["raw"].encode("latin-1"),
            has_message_id=fields["message_id"],
            has_date=fields["date"],
        )
    return HtmlBody(html=fields["html"])


def _read_attachment(fields: Mapping[str, Any]) -> Attachment:
    return Attachment(
        filename=fields["filename"],
        content_type=fields["type"],
        content=fields["content"],
        inline=fields["content_id"] is not None,
        content_id=fields["content_id"],
    )
