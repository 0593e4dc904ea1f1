"""The lists of SES's guide that the stand-in judges by, and those of the service."""

from local.ses.lists import SINGLE_FIELDS, SINGLE_RECIPIENT_FIELDS, UNSUPPORTED_TYPES
from pillarbox.domain.messages.attachment import UNSUPPORTED_EXTENSIONS
from pillarbox.domain.messages.header_fields import MESSAGE_FIELDS, PART_FIELDS


def test_the_service_refuses_the_same_twice_as_ses() -> None:
    """From and Sender have a check of their own in the service."""
    refused = {name.decode() for name in MESSAGE_FIELDS | PART_FIELDS} | {"from", "sender"}
    assert refused == SINGLE_FIELDS | SINGLE_RECIPIENT_FIELDS


def test_the_service_refuses_the_same_attachments_as_ses() -> None:
    assert UNSUPPORTED_EXTENSIONS == UNSUPPORTED_TYPES
