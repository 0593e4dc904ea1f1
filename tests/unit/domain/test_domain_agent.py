"""The limits of an agent's key."""

import pytest

from admin.use_cases.agents import agent_settings
from pillarbox.domain.accounts.key import AgentSettings, Confirmation
from tests.refusals import faults, refusal


@pytest.mark.parametrize(
    ("recipients", "address", "allowed"),
    [
        (("*",), "anyone@elsewhere.example", True),
        (("ann@shop.example",), "ann@shop.example", True),
        (("ann@shop.example",), "Ann@shop.example", True),
        (("ann@shop.example",), "bob@shop.example", False),
        (("shop.example",), "bob@shop.example", True),
        (("shop.example",), "bob@mail.shop.example", False),
        (("shop.example",), "bob@evilshop.example", False),
        (("shop.example",), "shop.example@elsewhere.example", False),
    ],
)
def test_recipients(recipients: tuple[str, ...], address: str, *, allowed: bool) -> None:
    """An address is allowed by itself in any case, by its exact domain, or by *."""
    settings = AgentSettings(recipients=recipients)
    if allowed:
        settings.check_recipients([address])
        return
    error = refusal(settings.check_recipients, ["ann@shop.example", address])
    listed = {"address": address, "reason": "not_allowed"}
    assert error.code == "recipient_not_allowed"
    assert listed in (error.details or {})["recipients"]  # type: ignore[operator]


def test_entries_are_normalized() -> None:
    """Entries have one form each: lower case, A-labels, no repetitions."""
    entries = ["Ann@Shop.Example", "bücher.example", "ann@shop.example", "SHOP.example"]
    settings = agent_settings(entries, Confirmation.OFF, 5)
    assert settings.recipients == ("ann@shop.example", "xn--bcher-kva.example", "shop.example")
    assert (settings.limits.per_day, settings.limits.of("recipients")) == (5, 50)


@pytest.mark.parametrize(
    ("recipients", "per_day", "field"),
    [
        ([], 5, "agent-recipient"),
        (["not an address@x"], 5, "agent-recipient"),
        (["localhost"], 5, "agent-recipient"),
        (["**"], 5, "agent-recipient"),
        ([f"a{n}@shop.example" for n in range(101)], 5, "agent-recipient"),
        (["*"], 0, "agent-per-day"),
        (["*"], -1, "agent-per-day"),
    ],
)
def test_wrong_settings(recipients: list[str], per_day: int, field: str) -> None:
    """A key for everybody must be asked for, and each entry is an address or a domain."""
    assert faults(agent_settings, recipients, Confirmation.ASK, per_day)[0][0] == field
