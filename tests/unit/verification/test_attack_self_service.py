"""The attack on self-service keys finds nothing, and would find something."""

import pytest

from pillarbox.application.sending import prepare
from pillarbox.domain.accounts import key_policy
from verification.attacks import self_service
from verification.attacks.self_service import attack

pytestmark = pytest.mark.slow
#: Enough for a rule that is missing: a text, an address and several.
FEW_VALUES = (
    "https://qzx.example/login",
    "qzx@qzx.example",
    ["victim@example.com", "a@qzx.example"],
)


def test_nothing_of_a_stranger_reaches_an_email() -> None:
    """No field or variable changes the email of two starters; some requests are accepted."""
    tally = attack(["team_invite", "otp"])
    assert not tally.failed, tally.findings
    assert tally["tried"] > 1000
    assert tally["accepted"]
    assert tally["403"]


@pytest.mark.parametrize(
    ("module", "rule", "broken", "found"),
    [
        (key_policy, "_refused_in_tests", lambda _: [], "recipients"),
        (prepare, "as_test", lambda mail, _: mail, "marked"),
    ],
)
def test_a_missing_rule_is_found(
    monkeypatch: pytest.MonkeyPatch, module: object, rule: str, broken: object, found: str
) -> None:
    """Without the refusals or without the samples, the attack reports what gets through."""
    monkeypatch.setattr(module, rule, broken)
    monkeypatch.setattr(self_service, "_VALUES", FEW_VALUES)
    assert attack(["otp"])[found] > 0
