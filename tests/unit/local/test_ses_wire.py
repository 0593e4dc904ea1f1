"""What SES changes in an email: Message-ID and Date."""

from datetime import UTC, datetime

import pytest

from local.ses.wire import as_delivered, message_id

AT = datetime(2026, 11, 28, 9, 30, tzinfo=UTC)
OWN = b"Message-ID: <0100-1@email.amazonses.com>\r\nDate: Sat, 28 Nov 2026 09:30:00 +0000\r\n"


def test_the_host_of_the_id_names_the_region() -> None:
    assert message_id("0100-1", "us-east-1") == "<0100-1@email.amazonses.com>"
    assert message_id("0100-1", "eu-west-1") == "<0100-1@eu-west-1.amazonses.com>"


@pytest.mark.parametrize(
    ("raw", "rest"),
    [
        (b"From: a@b.c\r\n\r\nHi", b"From: a@b.c\r\n\r\nHi"),
        (b"date: x\r\nFrom: a@b.c\r\n\r\nDate: y\r\n", b"From: a@b.c\r\n\r\nDate: y\r\n"),
        (b"From: a@b.c\r\nMESSAGE-ID :\r\n <x@y>\r\n\r\n", b"From: a@b.c\r\n\r\n"),
        (
            b"Resent-Date: x\r\nOriginal-Message-ID: <x@y>\r\nReferences: <r@s>\r\n\r\n",
            b"Resent-Date: x\r\nOriginal-Message-ID: <x@y>\r\nReferences: <r@s>\r\n\r\n",
        ),
    ],
)
def test_only_these_fields_are_replaced(raw: bytes, rest: bytes) -> None:
    assert as_delivered(raw, "0100-1", "us-east-1", AT) == OWN + rest


def test_line_ends_stay_what_they_are() -> None:
    delivered = as_delivered(b"Date: x\nFrom: a@b.c\n\nHi", "0100-1", "us-east-1", AT)
    assert delivered == OWN.replace(b"\r\n", b"\n") + b"From: a@b.c\n\nHi"
