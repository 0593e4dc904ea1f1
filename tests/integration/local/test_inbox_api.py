"""The inbox over HTTP: JSON, the frame, live events, and refused hosts."""

import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from local.ses.store import MailStore
from tests.integration.local.local_ses import RAW, LocalSes
from tests.unit.local.test_inbox_reading import PNG, full_mail

Send = Callable[..., str]


def test_the_list_is_newest_first(send: Send, inbox: httpx.Client) -> None:
    """The list is newest first; an item has ids, envelope, subject, time and size."""
    first = send("a@example.com")
    second = send("b@example.com", EmailTags=[])
    answer = inbox.get("/messages").json()
    assert list(answer) == ["items"]
    newest, oldest = answer["items"]
    assert (newest["id"], oldest["id"]) == (second, first)
    assert newest["messageId"] is None
    received = datetime.fromisoformat(oldest.pop("receivedAt"))
    assert datetime.now(UTC) - received < timedelta(minutes=5)
    assert oldest == {
        "id": first,
        "messageId": "0190f2c1-0000-7000-8000-000000000001",
        "from": "Post <post@sender.example>",
        "recipients": ["a@example.com"],
        "subject": "Grüße",
        "size": len(RAW),
    }


def test_raw_is_what_was_sent(send: Send, inbox: httpx.Client) -> None:
    """The raw mail has the sent bytes and the type message/rfc822."""
    raw = RAW + bytes(range(256))
    answer = inbox.get(f"/messages/{send(raw=raw)}/raw")
    assert answer.content == raw
    assert answer.headers["content-type"] == "message/rfc822"


def test_the_detail_of_a_mail(send: Send, inbox: httpx.Client) -> None:
    """The detail has headers, bodies, attachments and the outcome for each recipient."""
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
        {"address": "bounce@simulator.amazonses.com", "kind": "bcc", "outcome": "bounced"},
    ]


def test_parts_are_served(send: Send, inbox: httpx.Client) -> None:
    """A picture is served inline, every other part as an attachment with its filename."""
    mail_id = send(raw=full_mail().as_bytes())
    picture, table, _ = inbox.get(f"/messages/{mail_id}").json()["attachments"]
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
    """The response with a mail's HTML has a sandbox policy without scripts."""
    mail_id = send(raw=full_mail().as_bytes())
    answer = inbox.get(f"/messages/{mail_id}/html")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-popups allow-popups-to-escape-sandbox;")
    assert "script" not in policy
    assert "https:" not in policy
    assert 'src="parts/' in answer.text


def test_remote_images_load_only_when_asked_for(send: Send, inbox: httpx.Client) -> None:
    """With ?remote the policy allows remote images and nothing else."""
    mail_id = send(raw=full_mail().as_bytes())
    policy = inbox.get(f"/messages/{mail_id}/html?remote=1").headers["content-security-policy"]
    assert "img-src 'self' data: https: http:;" in policy
    assert "default-src 'none'" in policy


@pytest.mark.parametrize(
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
    ],
)
def test_a_search_matches_every_word(
    send: Send, inbox: httpx.Client, query: str, *, found: bool
) -> None:
    """Every word must occur in the subject, addresses, ids, text or filenames."""
    send(raw=full_mail().as_bytes())
    assert bool(inbox.get("/messages", params={"q": query}).json()["items"]) is found


def test_delete_removes_every_mail(send: Send, inbox: httpx.Client) -> None:
    """DELETE removes all mails from the list and by id."""
    mail_id = send()
    assert inbox.delete("/messages").status_code == 204
    assert inbox.get("/messages").json() == {"items": []}
    assert inbox.get(f"/messages/{mail_id}").status_code == 404


@pytest.mark.parametrize(
    "path", ["/messages/x", "/messages/x/raw", "/messages/x/html", "/messages/x/parts/0", "/x"]
)
def test_an_unknown_path_is_not_found(inbox: httpx.Client, path: str) -> None:
    """An unknown mail, part or path gives a 404 in JSON."""
    answer = inbox.get(path)
    assert answer.status_code == 404
    assert answer.json()["error"]


def test_a_mail_without_html_has_no_frame(send: Send, inbox: httpx.Client) -> None:
    """A mail without HTML gives a 404 for its frame, and an unknown part too."""
    mail_id = send()
    assert inbox.get(f"/messages/{mail_id}/html").status_code == 404
    assert inbox.get(f"/messages/{mail_id}/parts/7").status_code == 404


def events(lines: Iterator[str]) -> Iterator[tuple[str, object]]:
    """Yield the name and the data of each server-sent event."""
    for line in lines:
        if line.startswith("event: "):
            yield line.removeprefix("event: "), json.loads(next(lines).removeprefix("data: "))


def test_live_events(send: Send, inbox: httpx.Client) -> None:
    """A new mail gives an event with its list item, and a deletion gives one too."""
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
    """Closing the mailbox ends open event streams and later ones."""
    with inbox.stream("GET", "/events") as stream:
        lines = stream.iter_lines()
        next(lines)
        ended = threading.Thread(target=lambda: list(lines))
        ended.start()
        local_ses.on_loop(local_ses.mailbox.close)
        ended.join(timeout=20)
        assert not ended.is_alive()
    assert inbox.get("/events").text == ": listening\n\n"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example"])
def test_other_hosts_are_refused(inbox: httpx.Client, host: str) -> None:
    """A request with another host name reads no mail (DNS rebinding)."""
    assert inbox.get("/messages", headers={"Host": host}).status_code == 400


def test_the_page_loads_nothing_from_other_hosts(inbox: httpx.Client) -> None:
    """The page's files come from this server, and the policy allows nothing else."""
    page = inbox.get("/")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "https://" not in page.text
    for path in ("inbox.css", "inbox.js", "icon.svg"):
        assert inbox.get(f"/static/{path}").status_code == 200


def test_the_hint_is_the_command_of_the_stack(inbox: httpx.Client, local_ses: LocalSes) -> None:
    """/hint returns the command that the stack set."""
    local_ses.mailbox.hint = "curl …"
    assert inbox.get("/hint").json() == {"curl": "curl …"}


def test_only_the_newest_are_kept(send: Send, local_ses: LocalSes) -> None:
    """Over the limit of mails or bytes the oldest are dropped, but never the newest."""
    mails = [local_ses.mailbox.get(send()) for _ in range(3)]
    few, small = MailStore(keep=2), MailStore(keep_bytes=len(RAW) - 1)
    for mail in mails:
        assert mail is not None
        few.add(mail)
        small.add(mail)
    assert few.newest_first() == [mails[2], mails[1]]
    assert small.newest_first() == [mails[2]]
