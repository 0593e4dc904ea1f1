"""The configuration set that the local stack's SES gets from the template."""

from copy import deepcopy
from typing import Any

import pytest

from local import template
from local.ses.deployed import create_declared_set
from local.ses.store import MailStore, StoredConfigurationSet


def created(**options: Any) -> StoredConfigurationSet:
    """Return the set that the template makes with more options."""
    resources = deepcopy(template.load()["Resources"])
    resources["ConfigurationSet"]["Properties"] |= options
    mailbox = MailStore()
    create_declared_set(mailbox, resources, "set-1")
    return mailbox.configuration_sets["set-1"]


@pytest.mark.parametrize(
    ("event_type", "published"),
    [
        *((name, True) for name in ("SEND", "DELIVERY", "BOUNCE", "COMPLAINT", "REJECT")),
        *((name, True) for name in ("RENDERING_FAILURE", "DELIVERY_DELAY")),
        *((name, False) for name in ("OPEN", "CLICK", "SUBSCRIPTION")),
    ],
)
def test_the_set_publishes_what_the_template_says(event_type: str, *, published: bool) -> None:
    """A type that the template does not name never reaches the service, as in AWS."""
    assert created().publishes(event_type) is published


def test_the_set_has_the_options_of_the_template() -> None:
    off: dict[str, list[str]] = {"SuppressedReasons": []}
    assert created(SuppressionOptions=off).suppression.reasons == ()
    assert created().sending_enabled
    assert not created(SendingOptions={"SendingEnabled": False}).sending_enabled
