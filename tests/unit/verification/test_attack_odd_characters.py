"""The attack with odd characters: a short run, and what it would notice."""

import pytest

from pillarbox.domain.messages import mail
from verification.attacks.odd_characters import CHARACTERS, LETTERS, attack

pytestmark = pytest.mark.slow


def test_what_has_an_odd_character_is_sent_or_refused() -> None:
    """Of each 401st try, and each 17th of what reads as ASCII in another case, none fails."""
    for tally in (attack(LETTERS, step=17), attack(CHARACTERS, step=401)):
        print(tally)  # noqa: T201  for pytest -s
        assert not tally.failed, tally.findings
        assert tally["tried"] > 500
        assert tally["accepted"] > 100


def test_a_name_that_cannot_be_written_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the case of names were ignored beyond ASCII, a long s would be accepted and not built."""
    monkeypatch.setattr(mail, "_NAME", mail._NAME.replace("(?ai)", "(?i)"))
    tally = attack(LETTERS[2:3], step=4)
    assert tally["crashes"] > 0
