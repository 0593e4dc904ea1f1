"""One fault has one wording: over HTTP, over SMTP, and in the operator's command."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from pillarbox.application.authentication import Authentication
from pillarbox.application.sending.smtp_message import read_message
from pillarbox.application.validation import check_text, normalize_address
from pillarbox.domain.accounts.account import Suspension
from pillarbox.domain.accounts.key_policy import SUSPENDED, Principal
from pillarbox.domain.errors import Json, ServiceError, ValidationFailed
from pillarbox.domain.messages import filename, header_text
from pillarbox.http.messages.wire import SendEmailRequest
from pillarbox.http.validation import validate
from pillarbox.rendering.starters import get_starter
from relay import replies
from relay.commands import CommandRejected, parse_rcpt
from tests.fakes import builders
from tests.fakes.world import PREVIEW, World
from tests.unit.admin.use_cases import UseCases

FROM = f"From: {builders.SENDER}\r\n"
FILE: Json = {"filename": "CON", "contentType": "image/png", "content": ""}


def over_http(**fields: Json) -> str:
    """Return the message of the only error that a field of a send gets."""
    body: dict[str, Json] = {"to": "a@b.example", "html": "x", "subject": "x"}
    with pytest.raises(ValidationFailed) as failed:
        validate(SendEmailRequest, body | fields)
    (error,) = failed.value.errors
    return error.message


def over_smtp(header: str) -> str:
    """Return the message of the only error that a message gets."""
    with pytest.raises(ValidationFailed) as failed:
        read_message(("a@b.example",), bytearray(f"{header}\r\n\r\n".encode()))
    (error,) = failed.value.errors
    return error.message


def in_command(check: Callable[[], object]) -> str:
    """Return the message of the only error that a value of the operator gets."""
    with pytest.raises(ValidationFailed) as failed:
        check()
    (error,) = failed.value.errors
    return error.message


@pytest.mark.parametrize("address", ["ann", "ann@localhost", "a b@c.example", "ann@-.example"])
def test_an_invalid_address(address: str) -> None:
    """HTTP, RCPT and the operator's command say the same of an invalid address."""
    with pytest.raises(CommandRejected) as rejected:
        parse_rcpt(f"TO:<{address}>".encode())
    said = over_http(replyTo=address)
    assert in_command(lambda: normalize_address(address)) == said
    assert rejected.value.reply.lines == (f"<{address}> {said}",)


def test_a_text_that_is_not_shown_as_it_is() -> None:
    """Control characters have one text in a subject over HTTP, over SMTP and in a name."""
    assert {
        over_http(subject="a\u202eb"),
        over_smtp(f"{FROM}Subject: =?utf-8?q?a=E2=80=AEb?="),
        in_command(lambda: check_text("name", "a\u202eb")),
    } == {header_text.UNSAFE}


def test_a_text_that_shows_nothing() -> None:
    """An invisible subject has one text over HTTP and SMTP."""
    smtp = over_smtp(f"{FROM}Subject: =?utf-8?q?=E2=80=8B?=")
    assert over_http(subject="\u200b") == smtp == header_text.INVISIBLE


def test_a_misleading_file_name() -> None:
    """A misleading file name has one text over HTTP and SMTP."""
    smtp = over_smtp(f"{FROM}Content-Type: image/png; name=CON")
    assert over_http(attachments=[FILE]) == smtp == filename.UNSAFE_NAME


def test_a_sender_that_is_not_verified() -> None:
    """MAIL FROM, the From field and `from` over HTTP get the same sentence."""
    account = builders.account()
    with pytest.raises(ServiceError) as over_http:
        account.sender("x@y.example")
    with pytest.raises(ServiceError) as at_mail:
        account.check_sends_from("x@y.example")
    message = read_message(("a@b.example",), bytearray(b"From: x@y.example\r\n\r\n"))
    principal = Principal(builders.api_key(builders.key_text()), account)
    with pytest.raises(ServiceError) as in_from:
        message.prepare(principal, {}, PREVIEW, builders.NOW)
    said = str(over_http.value)
    assert str(at_mail.value) == said
    assert str(in_from.value) == f"From: {said}"


def test_an_unknown_starter() -> None:
    """The API and the operator's command name the same slugs."""
    cases = UseCases()
    with pytest.raises(ServiceError) as in_command:
        cases.templates.starter_source(cases.create_account(), "welcom")
    with pytest.raises(ServiceError) as over_http:
        get_starter("welcom")
    assert str(in_command.value) == str(over_http.value)


def test_a_suspended_account() -> None:
    """HTTP and SMTP give the holder of a valid key the same message."""
    world = World()
    world.set_account(replace(builders.account(), suspension=Suspension(builders.NOW, "x")))
    with pytest.raises(ServiceError) as over_http:
        Authentication(world.ports.directory).authenticate(world.live)
    assert str(over_http.value) == SUSPENDED
    assert replies.refusal(over_http.value).lines == (SUSPENDED,)
