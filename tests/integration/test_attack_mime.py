"""The attack on the parser of messages: a short run, and what it would notice."""

from tests.fakes.client_messages import CLIENT_MESSAGES
from tests.loops import for_each
from verification.attacks.mime import attack
from verification.attacks.sendable import faults_in


def test_hostile_messages_are_refused() -> None:
    """Each thirtieth hostile message is refused; none is accepted that SES would refuse."""
    tally = attack(mutations=150, step=30)
    assert not tally.failed, tally.findings
    assert tally["bad inputs tried"] > 1_500
    assert tally["changed and accepted"] > 15


@for_each(
    ("old", "new"),
    [
        (b"To: ", b"From: "),
        (b"To: ann", b"To: ann; bob"),
        (b"a_rather", b"a\r\nrather"),
        (b'*1="split.csv', b'*1="split.exe'),
        (b"text/csv", b"application/zip"),
        (b"YSxiCjEsMgo=", b"TVqQAAMAAAAE"),
        (b"text/plain", b"message/rfc822"),
        (b'boundary="---', b'boundary="--x'),
    ],
)
def test_an_unsendable_message_is_noticed(old: bytes, new: bytes) -> None:
    message = CLIENT_MESSAGES["Thunderbird"].replace(b"undisclosed-recipients:;", b"ann@x.example")
    assert faults_in(message) == []
    assert old in message
    assert faults_in(message.replace(old, new))
