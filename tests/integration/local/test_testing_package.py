"""The package pillarbox-testing reads the inbox, keeps tests apart, and says what is missing."""

import asyncio
import json
import threading
from functools import partial
from pathlib import Path

import httpx
import pytest
from botocore.exceptions import ClientError
from pillarbox_testing import (
    Attachment,
    Delivery,
    Inbox,
    NoEmail,
    NoWebhook,
    StackNotRunning,
    Webhooks,
)
from pillarbox_testing.stack import find_stack

from local.ses.receiving import Rule
from tests.integration.local.local_ses import RAW, LocalSes, Send
from tests.integration.local.webhook_posts import PostWebhook
from tests.stack import PATIENCE, free_port
from tests.unit.local.test_inbox_reading import PNG, full_mail


def test_an_email_is_complete(send: Send, local_ses: LocalSes) -> None:
    mail = full_mail()
    mail.replace_header("Subject", "481516 is your code")
    inbox = Inbox(local_ses.inbox_url)
    sent = send("ada@example.com", "bounce@simulator.amazonses.com", raw=mail.as_bytes())
    email = inbox.wait_for(to="ada@example.com", subject="CODE")
    assert (email.id, email.subject) == (sent, "481516 is your code")
    assert email.message_id == "0190f2c1-0000-7000-8000-000000000001"
    assert email.sender == "Pöst <post@sender.example>"
    assert email.recipients == ("ada@example.com", "bounce@simulator.amazonses.com")
    assert (email.text, email.codes, email.links) == ("Hello Ada\n", ("481516",), ())
    assert "<p>Hi</p>" in email.html
    assert ("Subject", "481516 is your code") in email.headers
    picture = email.attachments[0]
    assert picture == Attachment("", "image/png", len(PNG), picture.url)
    assert httpx.get(picture.url, timeout=PATIENCE).content == PNG
    assert email.deliveries[1] == Delivery(
        "bounce@simulator.amazonses.com", "to", "bounced", "550 5.1.1 user unknown"
    )


def test_older_emails_are_left_out(send: Send, local_ses: LocalSes) -> None:
    start = Inbox(local_ses.inbox_url).from_now_on()
    send("ada@example.com")
    inbox = Inbox(local_ses.inbox_url).from_now_on()
    with pytest.raises(NoEmail):
        inbox.wait_for(to="ada@example.com", timeout=0)
    assert inbox.emails() == []
    second, third = send("ada@example.com"), send("bob@example.com")
    assert [email.id for email in inbox.emails()] == [third, second]
    assert [email.id for email in inbox.emails(to="ADA@example.com")] == [second]
    assert inbox.emails(subject="other") == []
    assert len(start.emails()) == 3


def test_a_wait_ends_when_the_email_comes(send: Send, local_ses: LocalSes) -> None:
    inbox = Inbox(local_ses.inbox_url).from_now_on()
    send("other@example.com")
    later = threading.Timer(0.3, send, ("ada@example.com",))
    later.start()
    assert inbox.wait_for(to="ada@example.com", timeout=120).recipients == ("ada@example.com",)
    later.join()


def test_a_missing_email_lists_what_came_instead(send: Send, local_ses: LocalSes) -> None:
    send("old@example.com")
    inbox = Inbox(local_ses.inbox_url).from_now_on()
    with pytest.raises(NoEmail) as caught:
        inbox.wait_for(subject="code", timeout=0.1)
    assert str(caught.value) == (
        "No email with 'code' in its subject came within 0.1 seconds.\n"
        f"None has come since the test began. All emails: {local_ses.inbox_url}"
    )
    send("bob@example.com")
    with pytest.raises(NoEmail) as caught:
        inbox.wait_for(to="ada@example.com", timeout=0)
    assert str(caught.value) == (
        "No email to ada@example.com came within 0 seconds.\n"
        "These have come since the test began:\n"
        "  to bob@example.com: 'Grüße'"
    )


def test_a_refused_email_is_a_failure(send: Send, inbox: httpx.Client, local_ses: LocalSes) -> None:
    inbox.put("/behaviour", json={"mode": "reject", "times": 1})
    with pytest.raises(ClientError):
        send("ada@example.com")
    reading = Inbox(local_ses.inbox_url)
    with pytest.raises(NoEmail, match="SES refused 'Grüße': The message contains content"):
        reading.wait_for(to="ada@example.com", timeout=120)
    (email,) = reading.emails(to="ada@example.com")
    assert email.deliveries[0].outcome == "refused"


def test_a_webhook_is_read(post_webhook: PostWebhook, local_ses: LocalSes) -> None:
    post_webhook("email.sent", messageId="m1")
    webhooks = Webhooks(local_ses.inbox_url).from_now_on()
    with pytest.raises(NoWebhook) as caught:
        webhooks.wait_for("email.sent", message="m1", timeout=0)
    assert str(caught.value) == (
        "No webhook (type email.sent, message m1) came to /hooks/shop within 0 seconds.\n"
        f"None has come since the test began: {local_ses.inbox_url}/hooks/shop"
    )
    later = threading.Timer(0.3, post_webhook, ("email.delivered",), {"messageId": "m2"})
    later.start()
    webhook = webhooks.wait_for("email.delivered", message="m2", timeout=120)
    later.join()
    assert (webhook.type, webhook.signature, webhook.attempt) == ("email.delivered", "valid", 1)
    assert webhook.payload["data"]["messageId"] == webhook.message_id == "m2"
    assert ("webhook-id", webhook.event_id) in webhook.headers
    assert webhooks.all() == [webhook]
    with pytest.raises(NoWebhook, match=r"\n  email\.delivered of m2$"):
        webhooks.wait_for("email.bounced", timeout=0)
    post_webhook(receiver="mine", body=b"no JSON")
    (other,) = webhooks.at("mine").all()
    assert (other.signature, other.payload) == ("unknown", None)


def test_an_email_is_answered(send: Send, post_webhook: PostWebhook, local_ses: LocalSes) -> None:
    """The webhook is that of this answer, and not of an earlier one to the same email."""
    receipts = local_ses.mailbox.receipts
    receipts.sets["set"] = {"rule": Rule("rule", True, frozenset({"in.shop.example"}), "b", "")}
    receipts.active = "set"
    send("ada@example.com", raw=b"Reply-To: r.token@in.shop.example\r\n" + RAW)
    email = Inbox(local_ses.inbox_url).wait_for(to="ada@example.com")
    answered = {"messageId": "", "inReplyTo": {"messageId": email.message_id}}
    post_webhook("email.received", reply="An earlier one", **answered)

    async def announce(_bucket: str, _key: str, octets: bytes) -> None:
        written = octets.partition(b"\n\n")[2].partition(b"\n")[0].decode()
        post = partial(post_webhook, "email.received", reply=written, **answered)
        asyncio.get_running_loop().run_in_executor(None, post)

    local_ses.mailbox.receipts.put_object = announce
    webhook = Webhooks(local_ses.inbox_url).wait_for_reply(email, "Yes.", timeout=120)
    assert webhook.payload["data"]["reply"] == "Yes."
    receipts.active = None
    with pytest.raises(ValueError, match=r"409.*receives mail for r\.token@in\.shop\.example"):
        Webhooks(local_ses.inbox_url).wait_for_reply(email, "Yes.")


def test_a_stopped_stack_is_named(tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    smtp = {"host": "127.0.0.1", "port": 5870, "certificate": "smtp.pem"}
    state = {"base_url": url, "inbox_url": url, "keys": {"live": "bx_live_x"}, "smtp": smtp}
    (tmp_path / "stack.json").write_text(json.dumps(state))
    with pytest.raises(StackNotRunning) as caught:
        find_stack({}, tmp_path)
    assert str(caught.value).startswith(f"No Pillarbox stack answers at {url}/healthz (")
    assert "make up" in str(caught.value)


def test_another_server_is_no_stack(local_ses: LocalSes) -> None:
    url = local_ses.inbox_url
    variables = {"PILLARBOX_URL": f"{url}/", "PILLARBOX_INBOX_URL": url, "PILLARBOX_KEY": "x"}
    with pytest.raises(StackNotRunning, match=f"{url} is no Pillarbox stack"):
        find_stack(variables, Path("absent"))


def test_an_incomplete_environment_is_named() -> None:
    with pytest.raises(StackNotRunning) as caught:
        find_stack({"PILLARBOX_URL": "http://127.0.0.1:8080", "PILLARBOX_KEY": ""}, Path("absent"))
    assert str(caught.value).startswith(
        "PILLARBOX_URL is set, but not PILLARBOX_INBOX_URL, PILLARBOX_KEY.\nStart one with"
    )
