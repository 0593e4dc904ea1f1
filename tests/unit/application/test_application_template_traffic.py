"""What recent sends by a template lack of what its next version needs."""

from collections import Counter
from collections.abc import Mapping

from pillarbox.application.templates.traffic import TemplateTraffic
from pillarbox.domain.accounts.account import Account, Brand
from pillarbox.domain.timing import milliseconds
from tests.fakes.builders import NOW, account

_WEEK = 7 * 24 * 3_600_000


def warnings(shapes: Mapping[str, int], *required: str, brand: Brand | None = None) -> list[str]:
    asked: list[tuple[str, int, int]] = []

    def count(_: Account, template_id: str, since: int, until: int) -> Counter[str]:
        asked.append((template_id, since, until))
        return Counter(shapes)

    traffic = TemplateTraffic(count_shapes=count, clock=lambda: NOW)
    problems = traffic.check(account(brand=brand or Brand()), "t", required)
    now = milliseconds(NOW)
    assert asked == ([("t", now - _WEEK, now + 1)] if required else [])
    assert {(one.severity, one.code, one.field) for one in problems} <= {
        ("warning", "variable_not_sent", "variables")
    }
    return [one.message.partition(" of the last")[0] for one in problems]


def test_what_some_sends_did_not_give_is_named_with_their_share() -> None:
    """Each missing path has the number of emails without it, the most frequent first."""
    shapes = {"{name,order:{id}}": 388, "{name}": 10, "{lines:[{}],order:{id,total}}": 2}
    assert warnings(shapes, "name", "order.total", "lines[].price") == [
        "order.total is required, and 398 of 400 emails",
        "name is required, and 2 of 400 emails",
        "lines[].price is required, and 2 of 400 emails",
    ]
    assert warnings(shapes, "order") == ["order is required, and 10 of 400 emails"]


def test_what_all_sends_gave_is_no_problem() -> None:
    """Neither is what the brand gives, nor a template without sends or required variables."""
    assert warnings({"{a,b:[]}": 5}, "a", "b", "b[].c") == []
    assert warnings({"{}": 5}, "brandName", brand=Brand(name="Shop")) == []
    assert warnings({}, "a") == []
    assert warnings({"{}": 5}) == []


def test_sends_whose_variables_are_not_known_do_not_count() -> None:
    """Too many or too long shapes say nothing, neither for a share nor against it."""
    assert warnings({"{}": 1, "{a}": 3, "*": 96}, "a") == ["a is required, and 1 of 4 emails"]
    assert warnings({"*": 96}, "a") == []


def test_a_share_is_in_whole_percent() -> None:
    traffic = TemplateTraffic(
        count_shapes=lambda *_: Counter({"{}": 4, "{a}": 996, "{a,b}": 1}), clock=lambda: NOW
    )
    of_a, of_b = (traffic.check(account(), "t", [path])[0].message for path in "ab")
    assert "4 of 1,001 emails of the last 7 days (less than 1 %) had no value" in of_a
    assert "1,000 of 1,001 emails of the last 7 days (100 %) had no value" in of_b
