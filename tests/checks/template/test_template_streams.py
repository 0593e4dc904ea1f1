"""The readers of the table's stream get the changes that they need, and no others."""

from typing import Any, Final

from local import template
from tests.loops import for_each
from tests.stream_filters import change, invokes, matches, patterns


def _item(pk: str, **attributes: dict[str, Any]) -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": "1"}} | attributes


_EVENTS: Final = ("INSERT", "MODIFY", "REMOVE")
_MESSAGES: Final = ("MSG#acct1", "MSG#acct1#7")
#: Records of other kinds, which an email or a visit writes, or whose kinds begin alike.
_OTHERS: Final = (
    *("MSG", "MSGS#acct1", "msg#acct1", "SEEN#acct1#MSG#1", "STAT#acct1", "IDEM#acct1#1", "RATE"),
    *("RCPT#acct1", "TAG#acct1", "LATER#acct1", "QUOTA#acct1", "ACCTS", "DOM#a", "HOOKD#acct1#1"),
)
_TIME: Final = {"S": "2026-01-01T00:00:00.000Z"}
_ANNOUNCED: Final = {"announced": {"BOOL": True}}
#: What is announced: an image, and by which events.
_NEWS: Final = (
    *((_item(pk, **_ANNOUNCED), {"INSERT", "MODIFY"}) for pk in _MESSAGES),
    (_item("SUP#acct1"), {"INSERT"}),
    (_item("ACCT#acct1", suspended=_TIME), {"INSERT", "MODIFY"}),
    (_item("ACCT#acct1", paused_since=_TIME), {"INSERT", "MODIFY"}),
    (_item("DOMAIN#acct1", changed=_TIME), {"INSERT", "MODIFY"}),
    (_item("RECD#acct1", received=_TIME), {"INSERT"}),
)


def test_the_statistics_get_each_change_of_a_message() -> None:
    for event in _EVENTS:
        for pk in _MESSAGES:
            assert invokes("AggregateStats", change(_item(pk), event))
        for pk in _OTHERS:
            assert not invokes("AggregateStats", change(_item(pk, **_ANNOUNCED), event)), pk


def test_webhooks_get_what_is_announced() -> None:
    for image, events in _NEWS:
        found = {event for event in _EVENTS if invokes("AnnounceEvents", change(image, event))}
        assert found == events, image
    for pk in (*_MESSAGES, *_OTHERS, "ACCT#acct1", "DOMAIN#acct1"):
        marks = {} if pk in _MESSAGES else _ANNOUNCED
        for event in _EVENTS:
            assert not invokes("AnnounceEvents", change(_item(pk, **marks), event)), pk


@for_each("function", ["AggregateStats", "AnnounceEvents"])
def test_each_filter_is_needed(function: str) -> None:
    for pattern in patterns(function):
        others = [one for one in patterns(function) if one != pattern]
        changes = [change(image, event) for image, events in _NEWS for event in events]
        assert any(
            matches(pattern, one) and not any(matches(other, one) for other in others)
            for one in changes
        )


def test_ses_reports_each_event_that_a_status_follows_from() -> None:
    """The contract's statuses, a mail with a virus, and a delay; opens and clicks are not tracked.

    Their names in CloudFormation: AWS::SES::ConfigurationSetEventDestination.
    """
    destination = template.load()["Resources"]["EventDestination"]["Properties"]
    assert sorted(destination["EventDestination"]["MatchingEventTypes"]) == [
        "bounce",
        "complaint",
        "delivery",
        "deliveryDelay",
        "reject",
        "renderingFailure",
        "send",
    ]
