"""The inbox over HTTP: JSON, the frame, live events, and refused hosts."""

import json
import re
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from typing import Any, get_args

import httpx
import pytest
from botocore.exceptions import ClientError
from openapi_spec_validator import validate
from starlette.routing import Route

from local.inbox.app import inbox_app
from local.inbox.signatures import Signature
from local.inbox.webhooks import AnswerMode, WebhookStore
from local.ses.behaviour import Mode
from local.ses.mail import Outcome
from local.ses.store import MailStore
from tests.integration.local.local_ses import RAW, LocalSes, Send
from tests.loops import for_each
from tests.stack import PATIENCE
from tests.unit.local.test_inbox_reading import PNG, full_mail


def test_the_list_is_newest_first(send: Send, inbox: httpx.Client) -> None:
    first = send("a@example.com")
    second = send("b@example.com", EmailTags=[])
    answer = inbox.get("/messages").json()
    assert list(answer) == ["items"]
    newest, oldest = answer["items"]
    assert (newest["id"], oldest["id"]) == (second, first)
    assert newest["messageId"] is None
    received = datetime.fromisoformat(oldest.pop("receivedAt"))
    assert datetime.now(UTC) - received < timedelta(minutes=5)
    assert oldest.pop("size") == len(inbox.get(f"/messages/{first}/raw").content)
    assert oldest == {
        "id": first,
        "messageId": "0190f2c1-0000-7000-8000-000000000001",
        "from": "Post <post@sender.example>",
        "recipients": ["a@example.com"],
        "deliveries": [{"address": "a@example.com", "kind": "bcc", "outcome": "delivered"}],
        "subject": "Grüße",
        "preview": "Hello",
        "attachmentCount": 0,
        "unread": True,
    }


def test_raw_is_what_recipients_get(send: Send, inbox: httpx.Client) -> None:
    body = b"\r\n" + bytes(range(256)) + b"\r\n.\r\n\n\r\r"
    fields = b"References: <a@b.example>\r\n <c@d.example>\r\nReply-To: d@e.example\r\n"
    mail_id = send(
        raw=RAW.replace(b"Subject", fields + b"Subject").removesuffix(b"\r\nHello\r\n") + body
    )
    answer = inbox.get(f"/messages/{mail_id}/raw")
    message_id, date, rest = answer.content.split(b"\r\n", 2)
    assert message_id == f"Message-ID: <{mail_id}@email.amazonses.com>".encode()
    written = parsedate_to_datetime(date.decode().removeprefix("Date: "))
    assert abs(datetime.now(UTC) - written) < timedelta(minutes=5)
    assert rest == (
        b"From: Post <post@sender.example>\r\nTo: ada@example.com\r\n"
        + fields
        + b"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n"
        + body
    )
    assert answer.headers["content-type"] == "message/rfc822"


def test_the_detail_of_a_mail(send: Send, inbox: httpx.Client) -> None:
    destination = {
        "ToAddresses": ["ada@example.com"],
        "BccAddresses": ["bounce@simulator.amazonses.com"],
    }
    mail_id = send(raw=full_mail().as_bytes(), Destination=destination)
    detail = inbox.get(f"/messages/{mail_id}").json()
    assert detail["text"] == "Hello Ada\n"
    assert {"name": "Subject", "value": "Grüße"} in detail["headers"]
    assert [part["filename"] for part in detail["attachments"]] == [None, "Köln.csv", None]
    assert detail["remoteImages"] is False
    assert detail["deliveries"] == [
        {"address": "ada@example.com", "kind": "to", "outcome": "delivered"},
        {
            "address": "bounce@simulator.amazonses.com",
            "kind": "bcc",
            "outcome": "bounced",
            "reason": "550 5.1.1 user unknown",
        },
    ]


def test_parts_are_served(send: Send, inbox: httpx.Client) -> None:
    mail_id = send(raw=full_mail().as_bytes())
    picture, table, attached = inbox.get(f"/messages/{mail_id}").json()["attachments"]
    assert [picture["contentType"], table["contentType"], table["size"]] == [
        *("image/png", "text/csv", 5)
    ]
    inner = inbox.get(f"/messages/{mail_id}/parts/{attached['number']}")
    assert b"inner text" in inner.content
    shown = inbox.get(f"/messages/{mail_id}/parts/{picture['number']}")
    assert shown.content == PNG
    assert shown.headers["content-type"] == "image/png"
    assert shown.headers["content-disposition"].startswith("inline")
    saved = inbox.get(f"/messages/{mail_id}/parts/{table['number']}")
    assert saved.headers["content-disposition"] == "attachment; filename*=UTF-8''K%C3%B6ln.csv"
    for answer in (shown, saved):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in answer.headers["content-security-policy"]


def test_the_frame_has_no_scripts(send: Send, inbox: httpx.Client) -> None:
    mail_id = send(raw=full_mail().as_bytes())
    answer = inbox.get(f"/messages/{mail_id}/html")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-popups allow-popups-to-escape-sandbox;")
    assert "script" not in policy
    assert "https:" not in policy
    assert answer.text.startswith('<!doctype html><base target="_blank">')
    (picture, *_) = inbox.get(f"/messages/{mail_id}").json()["attachments"]
    assert f'<img src="parts/{picture["number"]}">' in answer.text
    policy = inbox.get(f"/messages/{mail_id}/html?remote=1").headers["content-security-policy"]
    assert "img-src 'self' data: https: http:;" in policy
    assert "default-src 'none'" in policy


@for_each(
    ("query", "found"),
    [
        ("", True),
        ("grüße", True),
        ("GRÜSSE", False),
        ("ADA@example", True),
        ("hello ada", True),
        ("köln.csv", True),
        ("0190f2c1-0000-7000", True),
        ("hello nobody", False),
        ('"hello ada"', True),
        ('"ada hello"', False),
        ("from:POST@", True),
        ("from:ada", False),
        ("to:ada@", True),
        ("to:post", False),
        ("subject:grüße hello", True),
        ('subject:"hello ada"', False),
        ("has:attachment is:unread", True),
        ("is:read", False),
        ("since:2020-01-01 before:2999-01-31t08:00z", True),
        ("before:2020-01-01", False),
        ("since:2999-01-01", False),
        ("from: to:", True),
        ("https://x.example/from:ada", False),
    ],
)
def test_a_search_matches_every_word(
    send: Send, inbox: httpx.Client, query: str, *, found: bool
) -> None:
    send(raw=full_mail().as_bytes())
    assert bool(inbox.get("/messages", params={"q": query}).json()["items"]) is found


def test_a_mail_is_unread_until_somebody_marks_it(send: Send, inbox: httpx.Client) -> None:
    mail_id = send()
    other = send()
    marked = inbox.patch(f"/messages/{mail_id}", json={"unread": False})
    assert (marked.status_code, marked.json()) == (200, {"unread": False})
    assert inbox.get(f"/messages/{mail_id}").json()["unread"] is False
    assert inbox.get(f"/messages/{other}").json()["unread"] is True
    found = {
        state: [one["id"] for one in inbox.get("/messages", params={"q": state}).json()["items"]]
        for state in ("is:unread", "is:read")
    }
    assert found == {"is:unread": [other], "is:read": [mail_id]}
    inbox.patch(f"/messages/{mail_id}", json={"unread": True})
    assert inbox.get(f"/messages/{mail_id}").json()["unread"] is True
    assert inbox.patch(f"/messages/{mail_id}", json={"read": True}).status_code == 422


def test_the_check_of_a_mail(send: Send, inbox: httpx.Client) -> None:
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "post@sender.example", "x" * 61
    mail.set_content(
        '<p>Hello</p>\n<img src="https://x.example/l.png">\n<a href="http://127.0.0.1/a">a</a>'
        '<a href="http://x.example/a">a</a><script>1</script>',
        subtype="html",
    )
    problems = inbox.get(f"/messages/{send(raw=mail.as_bytes())}/problems").json()["problems"]
    assert {
        ("no_alt", 2),
        ("local_link", 3),
        ("insecure_link", 3),
        ("removed_element", 3),
        ("subject_too_long", None),
    } <= {(one["code"], one["line"]) for one in problems}
    assert inbox.get(f"/messages/{send()}/problems").json() == {"problems": []}


@for_each(
    "path",
    [
        *("/messages/x", "/messages/x/raw", "/messages/x/html", "/messages/x/parts/0", "/x"),
        *("/messages/ID/html", "/messages/ID/parts/7"),
    ],
)
def test_an_unknown_path_is_not_found(send: Send, inbox: httpx.Client, path: str) -> None:
    answer = inbox.get(path.replace("ID", send()))
    assert answer.status_code == 404
    assert answer.json()["error"]


def events(lines: Iterator[str]) -> Iterator[tuple[str, object]]:
    """Yield the name and the data of each server-sent event."""
    for line in lines:
        if line.startswith("event: "):
            yield line.removeprefix("event: "), json.loads(next(lines).removeprefix("data: "))


def test_live_events(send: Send, inbox: httpx.Client) -> None:
    with inbox.stream("GET", "/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == ": listening"
        told = events(lines)
        send()
        assert next(told) == ("mail", inbox.get("/messages").json()["items"][0])
        inbox.delete("/messages")
        assert next(told) == ("cleared", {})


def test_a_listener_does_not_keep_the_server_from_stopping(
    inbox: httpx.Client, local_ses: LocalSes
) -> None:
    with inbox.stream("GET", "/events") as stream:
        lines = stream.iter_lines()
        next(lines)
        ended = threading.Thread(target=lambda: list(lines))
        ended.start()
        local_ses.on_loop(local_ses.mailbox.close)
        ended.join(timeout=PATIENCE)
        assert not ended.is_alive()
    assert inbox.get("/events").text == ": listening\n\n"


def test_the_page_loads_nothing_from_other_hosts(inbox: httpx.Client) -> None:
    page = inbox.get("/")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "https://" not in page.text
    for path in ("inbox.css", "inbox.js", "icon.svg"):
        assert inbox.get(f"/static/{path}").status_code == 200


def test_only_the_newest_are_kept(send: Send, local_ses: LocalSes) -> None:
    mails = [local_ses.mailbox.get(send()) for _ in range(3)]
    few, small = MailStore(keep=2), MailStore(keep_bytes=len(RAW) - 1)
    for mail in mails:
        assert mail is not None
        few.add(mail)
        small.add(mail)
    assert few.newest_first() == [mails[2], mails[1]]
    assert small.newest_first() == [mails[2]]


@for_each(
    ("query", "found"),
    [
        ({"to": "ADA@example.com"}, True),
        ({"to": "ada@example"}, False),
        ({"subject": "GRÜ"}, True),
        ({"subject": "other"}, False),
        ({"since": "2020-01-01T00:00:00Z"}, True),
        ({"since": "2020-01-01"}, True),
        ({"since": "2999-01-01T00:00:00+02:00"}, False),
        ({"to": "ada@example.com", "subject": "other"}, False),
        ({"subject": "gru\u0308\u00df"}, True),
        ({"q": "gru\u0308\u00df"}, True),
        # A `+` that a client did not encode arrives as a blank.
        ({"since": "2020-01-01T00:00:00 02:00"}, True),
        ({"since": "2020-01-01 02:00"}, True),
        ({"to": "ada @example.com"}, False),
    ],
)
def test_filters(send: Send, inbox: httpx.Client, query: dict[str, str], *, found: bool) -> None:
    mail_id = send("ada@example.com")
    items = inbox.get("/messages", params=query).json()["items"]
    assert [item["id"] for item in items[:1]] == ([mail_id] if found else [])
    assert inbox.get("/messages/latest", params=query).status_code == (200 if found else 404)


def test_since_includes_the_moment(send: Send, inbox: httpx.Client, local_ses: LocalSes) -> None:
    send()
    later = local_ses.mailbox.get(send())
    assert later
    items = inbox.get("/messages", params={"since": later.received_at.isoformat()}).json()["items"]
    assert [item["id"] for item in items] == [later.id]


@for_each(
    "query",
    [
        *("since=yesterday", "wait=61", "wait=-1", "wait=nan", "limit=0", "limit=x", "form=a"),
        *("q=before:yesterday", "q=since:1-1", "q=is:open", "q=has:links"),
        *("before=zzz", "after=zzz", "to=ann@example.com&to=bob@example.com"),
    ],
)
def test_an_invalid_query_is_refused(send: Send, inbox: httpx.Client, query: str) -> None:
    send()
    before = inbox.get("/messages").json()["items"]
    for method, path in (
        ("GET", "/messages"),
        ("DELETE", "/messages"),
        ("GET", "/messages/latest"),
    ):
        answer = inbox.request(method, f"{path}?{query}")
        assert answer.status_code == 422
        assert answer.json()["error"].startswith(query.partition("=")[0])
    assert inbox.get("/messages").json()["items"] == before


@pytest.mark.parametrize("path", ["/messages", "/messages/latest"])
def test_a_request_waits_for_mail(send: Send, inbox: httpx.Client, path: str) -> None:
    send("other@example.com")
    later = threading.Timer(0.5, send, ("ada@example.com",))
    later.start()
    answer = inbox.get(path, params={"to": "ada@example.com", "wait": 15})
    later.join()
    body = answer.json()
    (item,) = body.get("items", [body])
    assert item["recipients"] == ["ada@example.com"]


def test_a_wait_ends(inbox: httpx.Client, local_ses: LocalSes) -> None:
    assert inbox.get("/messages", params={"wait": 0.2}).json() == {"items": []}
    local_ses.on_loop(local_ses.mailbox.close)
    answer = inbox.get("/messages/latest", params={"wait": 60}, timeout=50)
    assert answer.status_code == 404


def test_pages(send: Send, inbox: httpx.Client) -> None:
    ids = [send("ada@example.com") for _ in range(5)]
    send("other@example.com")
    query = {"to": "ada@example.com", "limit": "2"}
    seen: list[str] = []
    page = inbox.get("/messages", params=query).json()
    while True:
        seen += [item["id"] for item in page["items"]]
        if "next" not in page:
            break
        send("ada@example.com")
        page = inbox.get("/messages", params=query | {"before": page["next"]}).json()
    assert seen == ids[::-1]


def test_a_page_begins_where_the_email_before_was(send: Send, inbox: httpx.Client) -> None:
    ids = []
    for _ in range(3):
        ids.append(send())
        time.sleep(0.002)  # ids have milliseconds
    inbox.delete(f"/messages/{ids[1]}")
    older = inbox.get("/messages", params={"before": ids[1]}).json()["items"]
    assert [item["id"] for item in older] == [ids[0]]


def test_selected_emails_are_deleted(send: Send, inbox: httpx.Client) -> None:
    kept = [send("bob@example.com"), send("ann+2@example.com")]
    for query in ("to=ann%2B1@example.com", "to=ANN+1@example.com", "to=ann+1@example.com&limit=1"):
        send("ann+1@example.com")
        assert len(inbox.get(f"/messages?{query}").json()["items"]) == 1
        assert inbox.delete(f"/messages?{query}").status_code == 204
        assert [item["id"] for item in inbox.get("/messages").json()["items"]] == kept[::-1]
    assert inbox.delete("/messages?to=").status_code == 422
    assert inbox.delete("/messages?to=bob@example.com&subject=other").status_code == 204
    assert len(inbox.get("/messages").json()["items"]) == 2


def test_the_document_describes_each_route(inbox: httpx.Client) -> None:
    document = inbox.get("/openapi.json").json()
    validate(document)
    pages = {"/", "/hint", "/static", "/openapi.json", "/docs", "/docs/key.json"}
    pages |= {"/hooks", "/hooks/{name}/hint"}
    routes = {
        (re.sub(r":\w+}", "}", route.path), method.lower())
        for route in inbox_app(MailStore(), WebhookStore()).routes
        if isinstance(route, Route) and route.path not in pages
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert routes == {
        (path, method)
        for path, item in document["paths"].items()
        for method in item.keys() - {"parameters"}
    }
    modes = [mode for kind in get_args(Mode.__value__) for mode in get_args(kind.__value__)]
    assert document["components"]["schemas"]["Behaviour"]["properties"]["mode"]["enum"] == modes
    assert document["components"]["schemas"]["Outcome"]["enum"] == [*get_args(Outcome.__value__)]
    assert document["components"]["schemas"]["Answer"]["properties"]["mode"]["enum"] == [
        *get_args(AnswerMode.__value__)
    ]
    assert document["components"]["schemas"]["Signature"]["enum"] == [
        *get_args(Signature.__value__)
    ]


def test_answers_have_the_documented_shape(send: Send, inbox: httpx.Client) -> None:
    schemas = inbox.get("/openapi.json").json()["components"]["schemas"]
    mail = inbox.get(f"/messages/{send()}").json()
    (item,) = inbox.get("/messages").json()["items"]
    listed = schemas["Summary"]["properties"].keys()
    assert item.keys() == listed
    assert mail.keys() == listed | schemas["Message"]["allOf"][1]["properties"].keys()


REFUSED = {"refused": "true"}
CONTENT = "The message contains content that cannot be sent."


def refused(inbox: httpx.Client, **query: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = inbox.get("/messages", params=REFUSED | query).json()["items"]
    return items


def refuse(send: Send, inbox: httpx.Client, *to: str) -> None:
    """Send an email that SES refuses for its content."""
    inbox.put("/behaviour", json={"mode": "reject", "times": 1})
    with pytest.raises(ClientError):
        send(*to)


def test_a_refused_email_has_its_reason(send: Send, inbox: httpx.Client) -> None:
    refuse(send, inbox, "ada@example.com", "bob@example.com")
    (item,) = refused(inbox)
    assert item["subject"] == "Grüße"
    assert item["messageId"] == "0190f2c1-0000-7000-8000-000000000001"
    assert [(d["address"], d["outcome"], d["reason"]) for d in item["deliveries"]] == [
        ("ada@example.com", "refused", CONTENT),
        ("bob@example.com", "refused", CONTENT),
    ]
    assert inbox.get(f"/messages/{item['id']}").json()["text"] == "Hello\r\n"
    assert inbox.get("/messages").json()["items"] == []
    assert inbox.get("/messages/latest").status_code == 404


@for_each(
    ("overrides", "reason"),
    [
        ({"raw": b"Subject: x\r\n\r\nno sender"}, "Missing required header 'From'."),
        ({"raw": b"\xff"}, "Missing required header 'From'."),
        ({"raw": b"From: b@sender.example\r\n" + RAW}, "Duplicate header 'From'."),
        ({"FromEmailAddress": "a@other.example"}, "Email address is not verified."),
        ({"ConfigurationSetName": "absent"}, "Configuration set <absent> does not exist."),
    ],
)
def test_an_email_of_a_wrong_form_is_kept(
    send: Send, inbox: httpx.Client, overrides: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ClientError):
        send(**overrides)
    item, *_ = refused(inbox, to="ada@example.com")
    assert item["deliveries"][0]["reason"].startswith(reason)


def test_a_request_without_an_email_is_not_kept(send: Send, inbox: httpx.Client) -> None:
    for overrides in (
        {"raw": b"From: post@sender.example\r\n\r\n", "Destination": {}},
        {"Content": {"Simple": {"Subject": {"Data": "s"}, "Body": {}}}, "Destination": {}},
    ):
        with pytest.raises(ClientError):
            send(**overrides)
    assert refused(inbox) == []


def test_refused_emails_are_not_sent_ones(
    send: Send, inbox: httpx.Client, local_ses: LocalSes
) -> None:
    refuse(send, inbox)
    sent = send()
    records: list[Any] = local_ses.await_records(2)
    assert {record["mail"]["messageId"] for record in records} == {sent}
    assert local_ses.mailbox.sent_last_24_hours() == 1


def test_after_selects_what_came_later(send: Send, inbox: httpx.Client) -> None:
    old = send()
    refuse(send, inbox)
    mark = refused(inbox)[0]["id"]
    new = send()
    later = inbox.get("/messages", params={"after": mark}).json()["items"]
    assert [item["id"] for item in later] == [new]
    assert [item["id"] for item in refused(inbox, after=old)] == [new, mark]
    assert inbox.get("/messages/latest", params={"after": new}).status_code == 404
    inbox.delete(f"/messages/{mark}")
    later = inbox.get("/messages", params={"after": mark}).json()["items"]
    assert [item["id"] for item in later] == [new]
