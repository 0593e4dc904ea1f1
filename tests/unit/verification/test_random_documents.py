"""The text part says what two parsers of HTML show of random documents."""

import pytest

from pillarbox.rendering.text import text_from_html
from verification.documents.__main__ import in_tree
from verification.documents.judges import differences, seen_in_tree


@pytest.mark.slow
def test_a_text_has_what_a_tree_shows() -> None:
    """In 800 documents no word or link is lost, and nothing hidden and no markup is shown."""
    found = {
        seed: {kind: values for kind, values in different.items() if values}
        for seed, seen, different in in_tree(range(800))
        if seen.words
    }
    assert len(found) > 700
    assert {seed: values for seed, values in found.items() if values} == {}


def test_the_judge_finds_differences() -> None:
    seen = seen_in_tree("<ol start=3><li>w1q <a href='https://x.example/1/end'>w2q</a></ol>")
    wrong = "1. w1q w3q <b c4q> https://x.example/2/end"
    assert {kind for kind, values in differences(wrong, seen).items() if values} == {
        *("words lost", "hidden words shown", "markup shown"),
        *("links lost", "links that are none", "numbers"),
    }
    right = "3. w1q w2q (https://x.example/1/end)"
    assert not any(differences(right, seen).values())
    assert text_from_html("<ol start=3><li>w1q") == "3. w1q"
