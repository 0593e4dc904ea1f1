"""The configuration set of a stack, as CloudFormation creates it from the template."""

import re
from collections.abc import Mapping
from typing import Any, Final

from local.ses.store import MailStore
from local.ses.suppression_routes import read_suppression

_WORD: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def create_declared_set(mailbox: MailStore, resources: Mapping[str, Any], name: str) -> None:
    """Create the only configuration set of a template, with its options and event destination.

    Args:
        mailbox: gets the set.
        resources: the template's.
        name: the set's, which CloudFormation has chosen.
    """
    options = _properties(resources, "AWS::SES::ConfigurationSet")
    destination = _properties(resources, "AWS::SES::ConfigurationSetEventDestination")
    # CloudFormation writes `deliveryDelay`, and the API DELIVERY_DELAY.
    types = destination["EventDestination"]["MatchingEventTypes"]
    published = frozenset(_WORD.sub("_", event_type).upper() for event_type in types)
    created = mailbox.create_configuration_set(name, publish=published)
    created.sending_enabled = options["SendingOptions"]["SendingEnabled"]
    created.suppression = read_suppression(options.get("SuppressionOptions", {}))


def _properties(resources: Mapping[str, Any], resource_type: str) -> Mapping[str, Any]:
    (found,) = (each for each in resources.values() if each["Type"] == resource_type)
    properties: Mapping[str, Any] = found["Properties"]
    return properties
