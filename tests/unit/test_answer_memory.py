"""Name servers that do not answer are left alone for a minute."""

from typing import Any

from dns.resolver import NXDOMAIN, NoNameservers

from pillarbox.adapters.dns import Unanswered
from pillarbox.adapters.dns_records import DnsRecords
from pillarbox.adapters.webhook_poster import HttpsWebhookPoster

UNKNOWN_KEPT = 60.0


class SilentResolver:
    """Counts the questions, and answers only those about `here.example`: there is nothing."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def resolve(self, name: str, kind: str, **_: Any) -> Any:
        self.asked.append((name, kind))
        raise NXDOMAIN if name == "here.example." else NoNameservers


def test_a_question_is_forgotten_after_a_minute() -> None:
    now = [5.0]
    questions = Unanswered(lambda: now[0])
    questions.add("a")
    now[0] += UNKNOWN_KEPT - 0.1
    assert "a" in questions
    assert "b" not in questions
    now[0] += 0.2
    assert "a" not in questions
    for number in range(10_001):
        questions.add(number)
    assert 0 not in questions
    assert 1 in questions


def test_records_of_a_silent_server_are_asked_for_once() -> None:
    """A second look costs no query; what has an answer is asked each time, for it may change."""
    records, resolver = DnsRecords(), SilentResolver()
    records.__dict__["_resolver"] = resolver
    assert [records.look_up("silent.example", "TXT") for _ in range(3)] == [None] * 3
    assert records.look_up("silent.example", "MX") is None
    assert [records.look_up("here.example", "TXT") for _ in range(2)] == [()] * 2
    assert resolver.asked == [
        ("silent.example.", "TXT"),
        ("silent.example.", "MX"),
        *[("here.example.", "TXT")] * 2,
    ]


def test_the_host_of_a_webhook_is_asked_for_once() -> None:
    """A second check of a silent host says the same and costs no query; a POST asks again."""
    poster, resolver = HttpsWebhookPoster(), SilentResolver()
    poster.__dict__["_resolver"] = resolver
    first = poster.check("https://silent.example/a")
    assert first == poster.check("https://silent.example/b")
    assert first is not None
    assert "gives no answer now" in first
    assert len(resolver.asked) == 1
    assert poster.post("https://silent.example/a", {}, b"").status_code is None
    assert len(resolver.asked) == 2
