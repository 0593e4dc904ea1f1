"""Text in header fields: which text is refused, and how a subject is filled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.errors import Json
from pillarbox.domain.messages.header_text import is_header_safe, is_visible
from pillarbox.domain.templates.template import (
    fill_subject,
    fill_text,
    nearest_locale,
    subject_references,
)
from tests.fakes import builders
from tests.fakes.builders import SENDER
from tests.refusals import refusal

MAX_SUBJECT = 998


@pytest.mark.parametrize(
    "character",
    [
        *map(chr, [*range(32), *range(0x7F, 0xA0)]),
        *"\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    ],
)
def test_controls_and_overrides_are_unsafe(character: str) -> None:
    """CR, LF, NEL, other controls, separators and direction overrides are unsafe in a header."""
    assert not is_header_safe(f"a{character}b")


@pytest.mark.parametrize(
    "text", ["", "Grüße 日本語 😀", "a\u00a0b", 'x" <e@evil>,"', "עברית", "\u200d"]
)
def test_other_text_is_safe(text: str) -> None:
    """Any other text is safe in a header, because the encoder takes care of it."""
    assert is_header_safe(text)


@pytest.mark.parametrize(
    "text", [" ", "\u200b", "\u200d \u200c", "\u3164", "\ufe0f", "\u2800", "\U000e0041", "\u00a0"]
)
def test_invisible_text(text: str) -> None:
    """Text of blanks and characters that show nothing is invisible; with a letter it is not."""
    assert not is_visible(text)
    assert is_visible(text + "a")
    assert is_visible(""), "there is nothing that it could hide"


@pytest.mark.parametrize(
    ("subject", "values", "filled"),
    [
        ("Hello", {}, "Hello"),
        ("Your {{ app }} code", {"app": "Shop"}, "Your Shop code"),
        ("{{a}}{{ a }}", {"a": "x"}, "xx"),
        ("{{ order.total.amount }}", {"order": {"total": {"amount": 5}}}, "5"),
        ("{{ order.total }}", {"order": "x"}, ""),
        ("Hello {{ name }}!", {}, "Hello !"),
        ("Hello {{ name }}", {"name": None}, "Hello"),
        ("{{ a }}", {"a": "{{ b }}", "b": "no"}, "{{ b }}"),
        ("{{ a }}", {"a": "{{ 7*7 }}"}, "{{ 7*7 }}"),
        ("{{ a }}", {"a": "<b>&"}, "<b>&"),
        ("{{ a }}", {"a": "x\r\nBcc: e@evil.example"}, "x Bcc: e@evil.example"),
        ("{{ a.__class__ }} {{ a|upper }}", {"a": "x"}, "{{ a|upper }}"),
        ("  two   spaces ", {}, "two spaces"),
    ],
)
def test_subjects_are_filled_in_one_pass(
    subject: str, values: dict[str, Json], filled: str
) -> None:
    """References become plain text on one line; references within values stay text."""
    assert fill_subject(subject, values) == filled


@given(st.text(), st.text())
def test_a_filled_subject_is_one_line(subject: str, value: str) -> None:
    assert len(fill_subject(f"{subject} {{{{ v }}}}", {"v": value}).splitlines()) <= 1


def test_references_are_listed_in_order() -> None:
    assert subject_references("{{ b }} {{a.c}} {{ b }}") == ("b", "a.c", "b")


@pytest.mark.parametrize(
    ("plan", "requested", "sender"),
    [
        (Plan.FREE, None, SENDER),
        (Plan.FREE, "other@shop.example", SENDER),
        (Plan.STANDARD, None, SENDER),
        (Plan.STANDARD, SENDER, SENDER),
        (Plan.STANDARD, "news@shop.example", "news@shop.example"),
        (Plan.ENTERPRISE, "other@shop.example", None),
        (Plan.STANDARD, "new@shop.example", None),
    ],
)
def test_the_sender_depends_on_the_plan(
    plan: Plan, requested: str | None, sender: str | None
) -> None:
    """A free plan always sends from the default sender; a paid one from any verified sender."""
    senders = {SENDER: True, "news@shop.example": True, "new@shop.example": False}
    account = builders.account(plan=plan, senders=senders)
    if sender is not None:
        assert account.sender(requested) == sender
        return
    refused = refusal(account.sender, requested)
    assert (refused.code, refused.details) == ("no_verified_sender", {"from": requested})


def test_a_subject_repeats_no_long_value() -> None:
    """A value that makes the subject too long is cut, and stays too long."""
    repeated = "{{ v }}" * 140
    assert MAX_SUBJECT < len(fill_subject("{{ v }}", {"v": "x" * 250_000})) < 2 * MAX_SUBJECT
    assert MAX_SUBJECT < len(fill_subject("{{ v }}", {"v": " x" * 125_000})) < 2 * MAX_SUBJECT
    assert len(fill_subject(repeated, {"v": "x" * 250_000})) < 150 * MAX_SUBJECT
    assert fill_subject("{{ v }}!", {"v": "x" + " " * 250_000}) == "x !"


def test_a_text_part_keeps_its_lines_and_is_bounded() -> None:
    """Values go in as they are, references in values stay, and a result over the limit is none."""
    values: dict[str, Json] = {"a": "1\n{{ b }}", "b": {"c": "<&>"}}
    assert fill_text("x\n {{ a }} {{ b.c }}{{ d }}\n", values, 100) == "x\n 1\n{{ b }} <&>\n"
    large: dict[str, Json] = {"v": "y" * 200_000}
    text = "{{ v }}" * 50_000  # 10 GB: only counted
    assert fill_text(text, large, 1024 * 1024) is None
    assert fill_text("{{v}}", {"v": "yyy"}, 8) == "yyy"


@pytest.mark.parametrize(
    ("locale", "found"),
    [
        ("de-CH", "de-ch"),
        ("DE-ch-1996", "de-ch"),
        ("de-AT", "de"),
        ("de", "de"),
        ("den", None),
        ("e", None),
        ("", None),
        (None, None),
    ],
)
def test_the_nearest_locale_is_found(locale: str | None, found: str | None) -> None:
    """Subtags are removed from the end until there is such a locale (RFC 4647 section 3.4)."""
    assert nearest_locale({"de", "de-ch", "fr"}, locale) == found
