"""One fault has one wording: over HTTP, over SMTP, and in the operator's command."""

from dataclasses import replace

import pytest

from pillarbox.application.authentication import Authentication
from pillarbox.application.sending.smtp import read_message
from pillarbox.application.validation import check_text, normalize_address
from pillarbox.domain.accounts.account import Suspension
from pillarbox.domain.accounts.key_policy import SUSPENDED, Principal
from pillarbox.domain.errors import Json
from pillarbox.domain.messages import attachment, header_text
from pillarbox.http.messages.wire import SendEmailRequest
from pillarbox.http.wire import validate
from pillarbox.rendering.starters import get_starter
from relay import replies
from relay.commands import CommandRejected, parse_rcpt
from tests.fakes import builders
from tests.fakes.world import World
from tests.refusals import fault, refusal
from tests.unit.admin.use_cases import UseCases

FROM = f"From: {builders.SENDER}\r\n"
FILE: Json = {"filename": "CON", "contentType": "image/png", "content": ""}


def over_http(**fields: Json) -> str:
    """Return the message of the only error that a field of a send gets."""
    body: dict[str, Json] = {"to": "a@b.example", "html": "x", "subject": "x"}
    return fault(validate, SendEmailRequest, body | fields).message


def over_smtp(header: str) -> str:
    """Return the message of the only error that a message gets."""
    octets = bytearray(f"{header}\r\n\r\n".encode())
    return fault(read_message, ("a@b.example",), octets).message


@pytest.mark.parametrize("address", ["ann", "ann@localhost", "a b@c.example", "ann@-.example"])
def test_an_invalid_address(address: str) -> None:
    """HTTP, RCPT and the operator's command say the same of an invalid address."""
    with pytest.raises(CommandRejected) as rejected:
        parse_rcpt(f"TO:<{address}>".encode())
    said = over_http(replyTo=address)
    assert fault(normalize_address, address).message == said
    assert rejected.value.reply.lines == (f"<{address}> {said}",)


def test_a_text_that_is_not_shown_as_it_is() -> None:
    """Control characters have one text in a subject over HTTP, over SMTP and in a name."""
    assert {
        over_http(subject="a\u202eb"),
        over_smtp(f"{FROM}Subject: =?utf-8?q?a=E2=80=AEb?="),
        fault(check_text, "name", "a\u202eb").message,
    } == {header_text.UNSAFE}


def test_a_text_that_shows_nothing() -> None:
    smtp = over_smtp(f"{FROM}Subject: =?utf-8?q?=E2=80=8B?=")
    assert over_http(subject="\u200b") == smtp == header_text.INVISIBLE


def test_a_misleading_file_name() -> None:
    smtp = over_smtp(f"{FROM}Content-Type: image/png; name=CON")
    assert over_http(attachments=[FILE]) == smtp == attachment.UNSAFE_NAME


def test_a_sender_that_is_not_verified() -> None:
    """MAIL FROM, the From field and `from` over HTTP get the same sentence."""
    account = builders.account()
    message = read_message(("a@b.example",), bytearray(b"From: x@y.example\r\n\r\n"))
    principal = Principal(builders.api_key(builders.key_text()), account)
    said = str(refusal(account.sender, "x@y.example"))
    assert str(refusal(account.check_sends_from, "x@y.example")) == said
    in_from = refusal(message.prepare, principal, {}, builders.NOW)
    assert str(in_from) == f"From: {said}"


def test_an_unknown_starter() -> None:
    """The API and the operator's command name the same slugs."""
    cases = UseCases()
    in_command = refusal(cases.templates.starter_source, cases.create_account(), "welcom")
    assert str(in_command) == str(refusal(get_starter, "welcom"))


def test_a_suspended_account(world: World) -> None:
    """HTTP and SMTP give the holder of a valid key the same message."""
    world.set_account(replace(builders.account(), suspension=Suspension(builders.NOW, "x")))
    over_http = refusal(
        Authentication(world.ports.directory, world.ports.key_check).authenticate, world.live
    )
    assert str(over_http) == SUSPENDED
    assert replies.refusal(over_http).lines == (SUSPENDED,)
