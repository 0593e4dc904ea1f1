"""File names: which are refused because they mislead, and which because SES refuses them."""

import pytest

from pillarbox.domain.messages.attachment import (
    UNSUPPORTED_EXTENSIONS,
    is_safe_filename,
    unsupported_extension,
)


@pytest.mark.parametrize(
    "name",
    [
        *("invoice.pdf", "Grüße 2026.docx", "日本語", ".profile", "a.tar.gz", "it's (1).pdf", "a"),
        *("console.txt", "common.pdf", "com.pdf", "COM10.pdf", "nullable", "What?.pdf", "x" * 255),
        *("❤\ufe0f.png", "👩\u200d👧.png", "می\u200cخواهم.pdf"),  # noqa: RUF001
    ],
)
def test_plain_names_are_safe(name: str) -> None:
    """Names in any script are safe, also with the joiners that Persian and emoji need."""
    assert is_safe_filename(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "../a", "a/b", "a\\b", "C:a", "a:b", "a.", "a.pdf.", "a ", "a.pdf. ", " "),
        *("CON", "con", "Con.txt", "NUL.txt", "nul .pdf", "aux.tar.gz", "PRN", "COM1", "lpt9.pdf"),
        *("COM\u00b2.txt", "a\x00", "a\nb", "a\tb", "a\x7f", "a\x85b", "a\u2028b", "x" * 256),
        *("a\u202efdp.txt", "a\u2066b", "a\u200eb", "a\u061cb", "a\u200bb", "\ufeffa", "a\u00adb"),
        *("=?utf-8?q?a?=", "=?.pdf", "a=?"),
        *("\u3164", "\u200d", "\u200c\ufe0f.", "\u2800", "\u00a0", "\u115f"),
    ],
)
def test_misleading_names_are_not_safe(name: str) -> None:
    """Paths, devices, trailing dots and blanks, encoded-words, and the invisible are not safe."""
    assert not is_safe_filename(name)


@pytest.mark.parametrize(
    "form",
    [
        *("a.{}", "a.pdf.{}", "a..{}", ".{}", "a.{}.", "a.{} ", "a.{}. . ", "a.{}\u00a0", "a. {}"),
        *(
            "a.\ufffd{}",
            '"a.{}"',
            "'a.{}'",
            "a.{}\u200b",
            "\u202ea.{}",
            "a\uff0e{}",
            "a.{}\U000e0041",
        ),
    ],
)
def test_extensions_that_ses_refuses_are_found(form: str) -> None:
    """An extension is found behind dots, blanks, quotes and invisible characters, in any case."""
    for extension in UNSUPPORTED_EXTENSIONS:
        split = f"{extension[0]}\u200b{extension[1:]}"
        for written in (extension, extension.upper(), split):
            assert unsupported_extension(form.format(written)) == f".{extension}"


@pytest.mark.parametrize(
    "name", ["a.pdf", "exe", "a.exe.pdf", "a.exec", "a.js2", "exe.", "a", "", ".", "a.ex e"]
)
def test_other_extensions_pass(name: str) -> None:
    """Only the last extension counts, because programs open a file by it."""
    assert unsupported_extension(name) is None
