"""A message from the standard library's client reaches the service."""

from tests.relay.running_relay import MESSAGE, SENDER, TO, RunningRelay


def test_message_reaches_the_service_unchanged(relay: RunningRelay) -> None:
    """A message that smtplib sends after STARTTLS and AUTH reaches the service unchanged."""
    with relay.smtplib() as client:
        client.sendmail(SENDER, [TO, "bob@example.org"], MESSAGE)
        code, text = client.docmd("NOOP")
    assert (code, text) == (250, b"2.0.0 Ok")
    ((envelope, octets),) = relay.service.accepted
    assert (envelope.sender, envelope.recipients) == (SENDER, (TO, "bob@example.org"))
    assert octets == MESSAGE
