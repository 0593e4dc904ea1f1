"""What somebody wrote in an answer, as mail programs quote in many languages.

The cases of `quotations.txt` are written by hand after what these programs send.
"""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.mime import quotation
from pillarbox.mime.quotation import reply_of


def _cases() -> dict[str, tuple[str, str]]:
    """Return the answers and what their writers wrote, by the program."""
    text = (Path(__file__).parent / "quotations.txt").read_text(encoding="utf-8")
    _, *blocks = text.split("@@ ")
    mails = [block.partition("\n") for block in blocks[::2]]
    written = [block.removeprefix("=\n").strip() for block in blocks[1::2]]
    return {name: (mail, own) for (name, _, mail), own in zip(mails, written, strict=True)}


CASES = _cases()


def test_the_cases_have_many_programs_and_languages() -> None:
    programs = {name.partition(",")[0] for name in CASES}
    languages = {name.split(", ")[1] for name in CASES if ", " in name}
    assert len(programs) >= 12
    assert len(languages) >= 8


@pytest.mark.parametrize("name", CASES)
def test_only_what_its_writer_wrote_is_left(name: str) -> None:
    mail, written = CASES[name]
    assert reply_of(mail) == written
    assert reply_of(mail.replace("\n", "\r\n")) == written


@given(
    st.lists(st.sampled_from([*{line for mail, _ in CASES.values() for line in mail.split("\n")}]))
)
def test_every_line_of_an_answer_is_one_of_the_mail(lines: list[str]) -> None:
    written = reply_of("\n".join(lines)).split("\n")
    given_lines = {line.replace("\ufeff", "").strip() for line in lines}
    assert {line.strip() for line in written} <= given_lines | {""}


class _Counted(list[str]):
    """Lines that count how often one of them is looked at."""

    looks = 0

    def __getitem__(self, key: Any) -> Any:
        self.looks += len(range(*key.indices(len(self)))) if isinstance(key, slice) else 1
        return super().__getitem__(key)


@pytest.mark.parametrize(
    "line", ["> a", "--", "On 1.1.2026 9:15 a@b.example", "From: a", "", "9:15 <a@b.c>:"]
)
def test_a_long_answer_takes_steps_in_proportion(line: str) -> None:
    lines = _Counted([line] * 2_000)
    for part in quotation._parts(lines):
        quotation._without_signature(part)
    assert lines.looks < 60 * len(lines)
