"""A message through the server, as the standard library sends it."""

from tests.relay.running_relay import MESSAGE, QUEUED_ID, SENDER, TO, RunningRelay


def test_message_is_taken_as_it_was_written(relay: RunningRelay) -> None:
    """What smtplib sends after STARTTLS and AUTH reaches the service octet for octet."""
    with relay.smtplib() as client:
        client.sendmail(SENDER, [TO, "bob@example.org"], MESSAGE)
        code, text = client.docmd("NOOP")
    assert (code, text) == (250, b"2.0.0 Ok")
    ((envelope, octets),) = relay.service.accepted
    assert (envelope.sender, envelope.recipients) == (SENDER, (TO, "bob@example.org"))
    assert octets == MESSAGE


def test_reply_names_the_message(relay: RunningRelay) -> None:
    """The queue id in the 250 is the message's id in the history."""
    with relay.connect_authenticated() as client:
        assert client.deliver() == f"250 2.0.0 Ok: queued as {QUEUED_ID}\r\n".encode()
