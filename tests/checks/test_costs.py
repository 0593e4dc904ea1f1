"""docs/costs.md has what benchmarks/costs.py computes, and the figures reach the goals."""

import re
from collections import Counter
from dataclasses import replace
from datetime import date
from typing import Final

import pytest

from admin.use_cases import ses_plans
from admin.use_cases.ses_plans import SesPlan
from benchmarks import costs, standing
from benchmarks.dashboard import Hour
from benchmarks.prices import PEERS, PRICES, old
from benchmarks.standing import SECONDS
from local import template
from pillarbox.adapters.dynamodb import keys
from pillarbox.domain.messages.message import EventKind
from tests.fakes.builders import event, message
from tests.fakes.webhook_world import WebhookWorld
from tests.loops import for_each

pytestmark = pytest.mark.slow

_PAGE: Final = "".join(
    (template.ROOT / name).read_text() for name in ("docs/costs.md", "benchmarks/prices.md")
)
_TYPING: Final = "the editor, a word each 5 s"
_HIDDEN: Final = "any page in a hidden tab"
_TABLES: Final = costs.tables()


@for_each("name", _TABLES)
def test_the_page_has_the_computed_tables(name: str) -> None:
    assert _TABLES[name] in _PAGE


def test_an_idle_month_costs_at_most_2_60_dollars() -> None:
    """The goal holds if the AWS account needs no maximum of workers."""
    idle, off = standing.idle(), standing.idle(with_webhooks=False)
    assert sum(idle.values()) <= 2.6
    assert f"and {sum(idle.values()):.2f} dollars a month even without any mail" in _PAGE
    small_account = standing.idle(limits=True)
    assert round(100 * (sum(small_account.values()) - sum(idle.values()))) == 47
    assert round(100 * (sum(idle.values()) - sum(off.values()))) == 10
    used = standing.idle(used=tuple(keys.TIMERS))
    assert round(100 * (used["Timer"] - idle["Timer"])) == 17  # 10, 4 and 4 cents, rounded
    more = standing.idle(production=True)
    assert (
        more["CloudWatch dashboard"] == PRICES["dashboard"].dollars > idle["CloudWatch dashboard"]
    )


def test_a_queue_with_a_maximum_has_five_pollers() -> None:
    poller = SECONDS / 20 / 1e6 * PRICES["sqs"].dollars
    for limits, webhooks, pollers in (
        (True, True, 5 * 5),
        (True, False, 4 * 5),
        (False, True, 2 * 5 + 3 * 2),
        (False, False, 2 * 5 + 2 * 2),
    ):
        bill = standing.idle(with_webhooks=webhooks, limits=limits)
        assert bill["Polling the queues"] == pytest.approx(pollers * poller)


def test_a_million_answers_cost_what_is_counted() -> None:
    """SES takes 0.10 dollars for a thousand mails and 0.09 for a thousand chunks of 256 KB."""
    bill = costs.receiving()
    assert bill["SES, mails"] + bill["SES, chunks of 256 KB"] == pytest.approx(190)
    assert bill["S3, requests"] == pytest.approx(3 * 5 + 0.4)
    assert bill["SQS"] == pytest.approx(1.2)
    assert pytest.approx(0.26, abs=0.005) == 5 * SECONDS / 20 * 0.4e-6
    assert "from then on the queue is polled, for 0.26 a month" in " ".join(_PAGE.split())
    sent, answered = (
        costs.row("accepting.md", name)[:3]
        for name in ("accept, with a key", "accept, with a key and with replies")
    )
    assert sent == answered


def test_the_smallest_relay_costs_at_most_55_dollars_and_40_without_large_requests() -> None:
    parameters = template.load()["Parameters"]
    smallest = sum(standing.relay().values())
    assert smallest <= 55
    assert sum(standing.relay(front=False).values()) <= 40
    assert sum(standing.relay(parameters["RelayTasks"]["Default"]).values()) == smallest


def test_an_open_page_costs_what_its_requests_cost() -> None:
    dollars = {}
    for name in ("Overview", "Activity", "a domain with pending DNS", _TYPING, _HIDDEN):
        requests, reads, writes, recorded, _ = costs.row("dashboard.md", name)
        hour = Hour(Counter({name: int(requests)}), float(reads), int(writes))
        assert f"{hour.dollars:.4f}" == recorded
        dollars[name] = hour.dollars
    assert dollars.pop(_HIDDEN) == 0
    assert dollars.pop(_TYPING) <= 0.0105
    assert max(dollars.values()) <= 0.001
    assert "0.1 cents an hour at most while nothing changes, 1 cent while" in _PAGE


def test_a_million_emails_costs_what_is_counted() -> None:
    assert costs.row("accepting.md", "whole life, with a key")[1] == "7"
    # The events come apart, so the second one is a write beside the seven.
    assert costs.million()["DynamoDB, writes"] == pytest.approx(8 * PRICES["write"].dollars)
    saved = sum(costs.million().values()) - sum(costs.million(key=False).values())
    assert saved == pytest.approx(PRICES["write"].dollars)
    plain = costs.million(key=False)
    assert plain[costs.SEARCH] == pytest.approx(PRICES["write"].dollars)


def test_both_pages_have_the_same_sums() -> None:
    """The goals in accepting.md and costs.md name what is computed: for calls, for everything."""
    goals = (template.ROOT / "benchmarks/accepting.md").read_text()
    keyed, unkeyed = (sum(costs.million(key=key).values()) for key in (True, False))
    assert f"at most 13 dollars | {costs.calls():.2f} |" in goals
    assert f"at most 14.50 dollars | {keyed:.2f} with a key, {unkeyed:.2f} without" in goals
    url = sum(costs.million(url=True).values())
    assert f"at most 11 dollars | {url:.2f} with a key" in goals


def test_a_url_saves_what_the_gateway_costs() -> None:
    for batch, rate in ((10, 50), (1, costs.EVENLY)):
        api, url = (
            sum(costs.million(batch=batch, rate=rate, url=url).values()) for url in (False, True)
        )
        assert 3.4 < api - url <= PRICES["gateway"].dollars


def test_single_messages_cost_more_than_batches() -> None:
    """A sender whose queues never fill pays for each receipt and invocation."""
    batches, single = costs.million(batch=10), costs.million(batch=1)
    # Three messages, each received and deleted alone instead of a tenth of a request for both.
    more = single["SQS"] - batches["SQS"]
    assert more == pytest.approx(3 * 2 * (1 - 0.1) * PRICES["sqs"].dollars)
    more = single["Lambda, requests"] - batches["Lambda, requests"]
    assert more == pytest.approx(3 * (1 - 0.1) * PRICES["invocation"].dollars)


def test_a_rare_email_starts_each_function() -> None:
    rare, steady, busy = (
        costs.million(batch=1, rate=rate)["Lambda, cold starts"]
        for rate in (1 / 86_400, costs.EVENLY, 50)
    )
    # 2.25 GB for half a second each, and one in a hundred more.
    assert rare == pytest.approx(1.125e6 * PRICES["gb-second"].dollars, rel=0.03)
    assert rare > 10 * steady > 10 * busy / 2 > 0


def test_email_that_waits_for_the_rate_costs_what_was_counted() -> None:
    none, four = (costs.million(rate=14, waiting=waiting) for waiting in (None, 4))
    writes, reads = costs.tokens(4)
    assert 0 < writes <= 1.2  # the goal of latency.md
    more = four["DynamoDB, writes"] - none["DynamoDB, writes"]
    assert more == pytest.approx((writes - 1) * PRICES["write"].dollars)
    more = four["DynamoDB, reads"] - none["DynamoDB, reads"]
    assert more == pytest.approx(reads * PRICES["read"].dollars)


@for_each(("rate", "units"), [(100, 0.27), (50, 0.27), (10, 0.30), (0.4, 1.00), (0.001, 2.56)])
def test_statistics_cost_what_was_measured_at_a_rate(rate: float, units: float) -> None:
    writes = costs.million(rate=rate)["Statistics, writes"] / PRICES["write"].dollars
    assert writes == pytest.approx(units)


def test_between_measured_rates_the_units_are_between() -> None:
    figures = [costs.million(rate=rate)["Statistics, writes"] for rate in (0.02, 0.1, 1, 5, 40)]
    assert figures == sorted(figures, reverse=True)
    assert len(set(figures)) == len(figures)


def test_a_row_that_is_missing_is_an_error() -> None:
    with pytest.raises(ValueError, match="0 rows nothing"):
        costs.row("accepting.md", "nothing")


def test_each_price_has_a_source_or_says_that_it_has_none() -> None:
    for price in (*PRICES.values(), *PEERS):
        assert price.dollars > 0
        assert price.source is None or re.match(r"https?://\S+$", price.source)
        assert str(price.found) in _PAGE
        assert ("not verified" in price.cite()) == (price.source is None)


def test_a_price_is_old_after_120_days() -> None:
    price = replace(PRICES["sqs"], found=date(2026, 1, 1))
    assert list(old([price], date(2026, 5, 1))) == []
    (line,) = old([price, replace(price, found=date(2026, 1, 2))], date(2026, 5, 2))
    assert line.startswith("0.4 dollars for a million requests, SQS: found 121 days ago")


def test_the_bills_grow_with_the_operators() -> None:
    """Each larger operator pays more, but less for an email; SES is most of the largest bill."""
    totals = [sum(costs.bill(operator).values()) for operator in costs.OPERATORS]
    each = [total / o.emails for total, o in zip(totals, costs.OPERATORS, strict=True)]
    assert totals == sorted(totals)
    assert each == sorted(each, reverse=True)
    assert ses_plans.cost(SesPlan.NONE, costs.OPERATORS[-1].emails) > totals[-1]


def test_a_million_webhook_events_cost_at_most_1_20_dollars() -> None:
    """The goals hold: for a million posts, and for a million emails without an endpoint."""
    assert sum(costs.webhooks().values()) <= 1.2
    assert costs.announcing() <= 0.05


def test_the_page_has_what_announcing_adds() -> None:
    figures = [costs.announcing(), costs.announcing(4 / 200), costs.announcing(1)]
    none, fast, slow, alone = (f"{dollars:.2f}" for dollars in (*figures, costs.announcing(4, 3)))
    page = " ".join(_PAGE.split())
    assert f"add at most {none} dollars a million emails" in page
    assert f"{fast} at 50 emails a second" in page
    assert f"{slow} at one a second, and {alone} if each of an email's four changes" in page


def test_the_calls_of_a_webhook_event_are_counted() -> None:
    world = WebhookWorld()
    world.add_endpoint()
    for _ in range(10):
        world.change(message(), event(EventKind.SENT, 1))
    world.gate.calls.clear()
    world.settle()
    calls = Counter(world.gate.calls)
    assert calls == {
        "endpoints.of_account": 1,
        "queue.put_all": 1,
        "endpoints.get": 1,
        "healths.get": 1,
        "deliveries.peek": 10,
        "messages.peek": 10,
        "poster.post": 10,
        "deliveries.put": 10,
    }
    consistent = calls["endpoints.get"] + calls["healths.get"]
    reads = consistent + 0.5 * (calls["deliveries.peek"] + calls["messages.peek"])
    assert reads / 10 == pytest.approx(costs.WEBHOOK_READS)
