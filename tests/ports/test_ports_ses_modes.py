"""What the service reads from each event that the stand-in of SES can send: no form stops it."""

import base64
import json
from typing import Any, Final, get_args

import pytest

from local.ses.account import StoredAccount
from local.ses.behaviour import Mode, OddMode, OutcomeMode
from local.ses.events import records
from local.ses.sending import accept, parse
from local.ses.store import MailStore
from pillarbox.adapters.ses.events import read_provider_event
from pillarbox.application.delivery.ports import ProviderEvent, UnreadableEvent

_MODES: Final[list[Mode]] = [
    *get_args(OutcomeMode.__value__),
    *get_args(OddMode.__value__),
]
MESSAGE: Final = "0190f2c1-0000-7000-8000-000000000001"


def events(mode: Mode) -> list[dict[str, Any]]:
    """Return the events of an email to two recipients that meet a mode."""
    mailbox = MailStore(account=StoredAccount(review="GRANTED"))
    mailbox.create_identity("sender.example")
    mailbox.create_configuration_set("mails")
    recipients = ["ada@example.com", "bob@example.com"]
    request = {
        "Content": {"Raw": {"Data": base64.b64encode(b"From: a@sender.example\r\n\r\n").decode()}},
        "Destination": {"ToAddresses": recipients},
        "ConfigurationSetName": "mails",
        "EmailTags": [{"Name": "account", "Value": "a1"}, {"Name": "message", "Value": MESSAGE}],
    }
    mail = accept(mailbox, parse(json.dumps(request).encode()), dict.fromkeys(recipients, mode))
    return [*records(mail, mailbox, [mode])]


@pytest.mark.parametrize("mode", _MODES)
def test_each_event_of_ses_can_be_read(mode: Mode) -> None:
    """It is about its message or about nothing that the service follows; only a new type is odd."""
    odd = []
    for event in events(mode):
        try:
            read = read_provider_event(json.dumps(event))
        except UnreadableEvent:
            odd.append(event["eventType"])
            continue
        assert read is None or isinstance(read, ProviderEvent)
        assert read is None or str(read.message_id) == MESSAGE
    assert set(odd) == ({"Quarantine"} if mode == "unknown-event" else set())
