"""POST /v1/attachments, and sends that name what was uploaded (contract 2.2, 8.2)."""

import base64
import hashlib
from collections.abc import Callable
from datetime import timedelta
from email import message_from_bytes, policy
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import boto3
import pytest

from pillarbox import wiring
from pillarbox.domain.accounts.account import NO_LIMITS, PLAN_LIMITS, Plan
from pillarbox.domain.accounts.key import AgentSettings, account_of_key
from pillarbox.domain.accounts.quota import refusal_limit
from pillarbox.domain.ids import new_id
from tests.contract.bodies import TO, attachment, raw_html
from tests.contract.client import Api, ApiResponse
from tests.contract.mcp import McpClient
from tests.contract.service import SENDER, Service

MAX_BYTES_EACH = 5 * 1024 * 1024

PDF = b"%PDF-1.7 \x00\xff"
NAME = "Übersicht 1.pdf"


def start(api: Api, octets: bytes = PDF, /, **changes: Any) -> ApiResponse:
    """Ask for the upload of a file; a change to `...` leaves the field out."""
    file = {
        "filename": NAME,
        "contentType": "application/pdf",
        "size": len(octets),
        "sha256": hashlib.sha256(octets).hexdigest(),
    }
    body = {name: value for name, value in (file | changes).items() if value is not ...}
    return api.raw("POST", "/attachments", body)


def put(started: ApiResponse, octets: bytes = PDF) -> str:
    """Do what S3 does with the signed request, and return the id."""
    url, headers = urlsplit(started.json["url"]), started.json["headers"]
    query = parse_qs(url.query)
    assert {*query["X-Amz-SignedHeaders"][0].split(";")} == {"host", *map(str.lower, headers)}
    assert query["X-Amz-Expires"] == ["900"]
    metadata = {
        name.removeprefix("x-amz-meta-"): value
        for name, value in headers.items()
        if name.startswith("x-amz-meta-")
    }
    key = url.path.removeprefix("/").removeprefix(f"{bucket()}/")
    boto3.client("s3").put_object(
        Bucket=bucket(),
        Key=key,
        Body=octets,
        ContentType=headers["Content-Type"],
        Metadata=metadata,
    )
    upload_id: str = started.json["attachmentId"]
    return upload_id


def bucket() -> str:
    return str(wiring.services().settings.spool_bucket)


def owner(api: Api) -> str:
    return str(account_of_key(api.key or ""))


def uploads(api: Api) -> list[str]:
    """Return the keys of the account's objects."""
    listed = boto3.client("s3").list_objects_v2(Bucket=bucket(), Prefix=f"{owner(api)}/")
    return [each["Key"] for each in listed.get("Contents", ())]


def naming(*upload_ids: str, **more: Any) -> dict[str, Any]:
    return raw_html(attachments=[{"attachmentId": each} | more for each in upload_ids])


def files(raw: bytes) -> list[tuple[str | None, str, bytes]]:
    """Return name, type and bytes of the files of a mail that SES got."""
    mail = message_from_bytes(raw, policy=policy.SMTP)
    return [
        (part.get_filename(), part.get_content_type(), part.get_payload(decode=True))  # type: ignore[misc]  # octets
        for part in mail.walk()
        if part.get_filename()
    ]


def test_an_uploaded_file_is_delivered(service: Service, live: Api) -> None:
    """A send names the upload, and the mail has its name, type and bytes; it may be sent twice."""
    started = start(live)
    assert started.status == 201
    upload_id = put(started)
    for _ in range(2):
        assert live.send(naming(upload_id)).status == 200
    service.deliver()
    assert [files(mail["raw"]) for mail in service.ses.mails[-2:]] == [
        [(NAME, "application/pdf", PDF)]
    ] * 2
    assert len(uploads(live)) == 1  # for later emails, until the sweep deletes it


CALENDAR = b"BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n"


def native(name: str, kind: Any, octets: bytes) -> dict[str, Any]:
    return raw_html(attachments=[file(name, kind, octets, "filename", "contentType", "content")])


def resends(name: str, kind: Any, octets: bytes) -> dict[str, Any]:
    files = [file(name, kind, octets, "filename", "content_type", "content")]
    return {"from": SENDER, "to": TO, "subject": "x", "text": "x", "attachments": files}


def postmarks(name: str, kind: Any, octets: bytes) -> dict[str, Any]:
    files = [file(name, kind, octets, "Name", "ContentType", "Content")]
    return {"From": SENDER, "To": TO, "Subject": "x", "TextBody": "x", "Attachments": files}


#: Each sends an email with a file: its name, its type and its octets.
DOORS: dict[str, Callable[..., ApiResponse]] = {
    "native": lambda api, *of: api.send(native(*of)),
    "batch": lambda api, *of: api.raw("POST", "/emails/batch", {"messages": [native(*of)]}),
    "resend": lambda api, *of: Api(api.key, "/resend").raw("POST", "/emails", resends(*of)),
    "postmark": lambda api, *of: Api(api.key, "/postmark").raw("POST", "/email", postmarks(*of)),
    "upload": lambda api, name, kind, octets: api.send(
        naming(put(start(api, octets, filename=name, contentType=kind), octets))
    ),
}


def file(name: str, kind: Any, octets: bytes, *fields: str) -> dict[str, Any]:
    """Return a file under the names of a door; a type of `...` is left out."""
    values = (name, kind, base64.b64encode(octets).decode())
    return {field: value for field, value in zip(fields, values, strict=True) if value is not ...}


@pytest.mark.parametrize("door", DOORS)
def test_a_type_arrives_with_its_charset_and_method(service: Service, live: Api, door: str) -> None:
    """RFC 2046 4.1.2, RFC 6047 2.4: a text says its charset and a calendar its method."""
    sent: list[tuple[str, Any, bytes, str]] = [
        ("a.csv", 'text/csv; charset="utf-8"', "ü;1\n".encode(), "text/csv; charset=utf-8"),
        ("a.txt", "text/plain", "Größe".encode(), "text/plain; charset=utf-8"),
        ("d.txt", "text/plain; charset=UTF8", b"x", "text/plain; charset=utf-8"),
        ("b.txt", ..., b"Gr\xf6\xdfe", "text/plain"),
        (
            "c.txt",
            "text/plain;charset=ISO-8859-1",
            b"Gr\xf6\xdfe",
            "text/plain; charset=iso-8859-1",
        ),
        ("a.ics", ..., CALENDAR, "text/calendar; charset=utf-8; method=REQUEST"),
        (
            "b.ics",
            'text/calendar; method="CANCEL"; charset=utf-8; name="b.ics"',
            CALENDAR,
            "text/calendar; charset=utf-8; method=CANCEL",
        ),
        ("a.pdf", ' application/pdf ; name="x"', PDF, "application/pdf"),
        # The method may be folded; that of a second calendar, or within an event, is another's.
        (
            "c.ics",
            ...,
            CALENDAR.replace(b"REQUEST", b"REQ\r\n UEST"),
            "text/calendar; charset=utf-8; method=REQUEST",
        ),
        (
            "d.ics",
            ...,
            b"begin:vcalendar\nmethod:reply\nend:vcalendar\n" + CALENDAR,
            "text/calendar; charset=utf-8; method=reply",
        ),
        (
            "e.ics",
            ...,
            CALENDAR.replace(b"METHOD:REQUEST", b"X:1") + CALENDAR,
            "text/calendar; charset=utf-8",
        ),
        (
            "f.ics",
            ...,
            CALENDAR.replace(b"METHOD", b"BEGIN:VEVENT\r\nMETHOD"),
            "text/calendar; charset=utf-8",
        ),
    ]
    for name, kind, octets, arrived in sent:
        assert DOORS[door](live, name, kind, octets).status == 200, name
        service.deliver()
        raw = service.ses.mails[-1]["raw"]
        header = raw[: raw.index(f'filename="{name}"'.encode())].rpartition(b"Content-Type: ")[2]
        assert header.partition(b"\r\n")[0].decode() == arrived
        assert files(raw)[-1][2] == octets


@pytest.mark.parametrize(
    "name", ["=?utf-8?q?x=2Ejs?=", "a =?utf-8?q?=E2=80=AEfdp?=.pdf", "x.j\ufffds"]
)
def test_a_misleading_name_is_refused_at_each_door(
    service: Service, account: str, name: str
) -> None:
    """Mail programs decode the first two; the last has a character that could not be read."""
    api = Api(service.key(account))
    of = (name, "application/pdf", PDF)
    refused = [DOORS[door](api, *of) for door in DOORS.keys() - {"upload"}]
    refused.append(start(api, filename=name))
    fault = ".js files cannot be attached" if "=?" not in name else "must be a plain file name"
    assert all(fault in one.text for one in refused)
    agent = McpClient(Api(service.key(account, agent=AgentSettings(recipients=("*",)))))
    answer = agent.code("send_email", native(*of))
    assert answer in {"validation_failed", "attachment_type_not_allowed"}
    assert service.messages(account) == []


def test_uploads_follow_the_other_files(service: Service, live: Api) -> None:
    """One email has files of both kinds; an uploaded image may be shown by the HTML."""
    png = b"\x89PNG"
    image = put(start(live, png, filename="logo.png", contentType=...), png)
    named = {"attachmentId": image.upper(), "inline": True, "contentId": "logo"}
    html = '<img src="cid:logo" alt="">'
    assert live.send(raw_html(html=html, attachments=[named, attachment()])).status == 200
    service.deliver()
    mail = service.ses.mails[-1]
    assert {name for name, _, _ in files(mail["raw"])} == {"logo.png", "invoice.pdf"}
    assert b"Content-ID: <logo>" in mail["raw"]


def test_every_unusable_upload_has_one_answer(service: Service, live: Api) -> None:
    """Absent, without bytes, another account's, a day old: the answers differ in the id alone."""
    old, young = put(start(live)), put(start(live))
    unusable = {
        str(new_id(wiring.utc_now())),
        "ffffffff-ffff-4fff-bfff-ffffffffffff",
        start(live).json["attachmentId"],
        put(start(service.live())),
    }
    for upload_id in unusable:
        answer = live.send(naming(upload_id))
        assert (answer.status, answer.error["code"]) == (404, "attachment_not_found")
        assert answer.error["details"] == {"attachment_id": upload_id}
    with service.at(wiring.utc_now() + timedelta(hours=24)):
        assert live.send(naming(old)).error["code"] == "attachment_not_found"
    with service.at(wiring.utc_now() + timedelta(hours=23, minutes=58)):
        assert live.send(naming(young)).status == 200
    assert len(service.jobs_of(live)) == 1


def test_the_contracts_limits_hold(live: Api) -> None:
    """Contract 8.2 and 8.3: types, sizes, the total and the count are those of other files."""
    too_large = start(live, size=MAX_BYTES_EACH + 1).error
    assert too_large["code"] == "attachment_too_large"
    assert too_large["details"]["scope"] == "per_attachment"
    for wrong in ({"contentType": "application/octet-stream"}, {"filename": "run.exe"}):
        assert start(live, **wrong).error["code"] == "attachment_type_not_allowed"
    program = b"MZ\x90\x00"
    disguised = naming(put(start(live, program), program))
    assert live.send(disguised).error["code"] == "attachment_type_not_allowed"
    whole = b"x" * MAX_BYTES_EACH
    three = [put(start(live, whole), whole), put(start(live, whole), whole), put(start(live))]
    assert live.send(naming(*three)).error["details"]["scope"] == "total"
    eleven = raw_html(attachments=[attachment(), *naming(*three[2:] * 10)["attachments"]])
    assert live.send(eleven).error["code"] == "too_many_attachments"


def test_the_form_of_both_requests_is_checked(live: Api) -> None:
    """A hash is 64 digits, a file has bytes, and a named upload has no other fields of a file."""
    for field, value in (("sha256", "x" * 64), ("size", 0), ("filename", "a/b"), ("name", "x")):
        answer = start(live, **{field: value})
        assert (answer.status, [*answer.errors]) == (422, [field])
    upload_id = put(start(live))
    for more in ({"filename": NAME}, {"content": "QQ=="}, {"contentType": "application/pdf"}):
        answer = live.send(naming(upload_id, **more))
        assert answer.errors == {f"attachments.0.{name}": "not_allowed" for name in more}
    assert live.send(naming("x")).errors == {"attachments.0.attachmentId": "invalid_uuid"}
    missing = live.send(raw_html(attachments=[{}])).errors
    assert missing == dict.fromkeys(("attachments.0.filename", "attachments.0.content"), "required")


def test_keys_that_send_tests_upload_nothing(service: Service) -> None:
    """A key of the widget cannot attach files, so it gets no upload either."""
    answer = start(service.preview(self_service=True))
    assert (answer.status, answer.error["code"]) == (403, "upgrade_required")


def test_uploads_of_an_account_are_limited(service: Service) -> None:
    """Each upload counts as a costly refusal, so a key that only uploads is stopped soon."""
    api = service.live(Plan.FREE, limits=NO_LIMITS)
    limit = refusal_limit(PLAN_LIMITS[Plan.FREE])
    assert limit
    with service.at(wiring.utc_now()):
        wiring.services().sending_ports.refusals.count(owner(api), limit - 1, wiring.utc_now())
        assert [start(api).status for _ in range(2)] == [201, 429]


@pytest.mark.parametrize("change", ["bytes", "gone"])
def test_a_file_that_changed_is_not_sent(service: Service, live: Api, change: str) -> None:
    """The worker checks the hash: without the announced bytes nothing is sent, and it says so."""
    started = start(live)
    message_id = live.send(naming(put(started))).json["messageId"]
    if change == "bytes":
        put(started, PDF + b"!")
    else:
        boto3.client("s3").delete_object(Bucket=bucket(), Key=uploads(live)[0])
    service.deliver()
    detail = live.get(message_id).json
    assert (detail["status"], detail["errorMessage"]) == (
        "failed",
        "The content of the email has expired.",
    )


def test_the_sweep_deletes_what_no_email_can_have(live: Api) -> None:
    """It may be named for a day, and an email is tried for a day: a file stays for two."""
    put(start(live))
    now, spool, minute = wiring.utc_now(), wiring.services().spool, timedelta(minutes=1)
    two_days = now + timedelta(hours=48)
    assert spool.put_before(owner(live), two_days - minute, None).items == []
    (found,) = spool.put_before(owner(live), two_days + minute, None).items
    assert (found.key, found.message_id) == (uploads(live)[0], None)


def test_the_id_in_a_key_is_that_of_the_answer(live: Api) -> None:
    """The object's name is the id, below that of the account: nobody can name another's."""
    started = start(live)
    assert UUID(started.json["attachmentId"]).version == 7
    parts = urlsplit(started.json["url"]).path.split("/")
    assert parts[-2:] == [started.json["attachmentId"], "upload"]
