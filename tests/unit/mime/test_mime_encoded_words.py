"""Encoded-words as mail programs show them, in every way that they may."""

import base64
import quopri
import time
from encodings.aliases import aliases

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.mime.fields import (
    addresses_in,
    decode_words,
    every_reading,
    is_clear,
    read_mailbox,
    read_text,
    readings,
)
from tests.loops import for_each


@for_each(
    ("text", "shown"),
    [
        ("Привет =?utf-8?q?x?=", "Привет x"),
        ("Büro =?utf-8?q?x?=", "Büro x"),
        ("\\U0001f389 😀 =?utf-8?q?x?=", "\\U0001f389 😀 x"),
        ("=?utf-8?q?a=C3=BC?=.", "aü."),
        ("=?utf-8?q?x=2Ej?=s", "x.js"),
        ("a  =?utf-8?q?b?= \t =?utf-8?q?c?=  d", "a  bc  d"),
        ("=?utf-8*en?B?SMOkbGzDtg==?=", "Hällö"),
        ("=?utf-8?b?SMOkbGzDtg==?= =?iso-8859-1?q?=E4?=", "Hällöä"),
        ("=?utf-8?q?=C3?= =?UTF8?b?vA==?=", "ü"),
        ("=?utf-8?q?a=C3?= =?iso-8859-1?q?b?=", "a\ufffdb"),
        ("=?utf-8?b?/2E=?=", "\ufffda"),
        ("=?utf-8?b?YQ?=", "a"),
        ("=?utf-8?q?=4?= =?utf-8?q?1_= 42?=", "A B"),
        ("=?gb2312?B?1tDOxKLj?=", "中文€"),
        ("=?iso-8859-1?q?=93a=94?=", "“a”"),
        ("=?ks_c_5601-1987?b?x9E=?= =?x-sjis?b?k/o=?= =?iso-8859-8-i?q?=E0?=", "한日א"),
        ("=?iso-2022-jp?b?GyRCLSF8YhsoQg==?= =?iso-2022-jp?q?=1B$B=7D!=1B(I1?=", "①髙\ufffdｱ"),
        ("=?euc-jp?b?raH84g==?= =?euc-jp?q?=AD<=AD?=", "①髙\ufffd<\ufffd"),
        ("=?nonsense?q?=C3=BC?=", "ü"),
        ("=?utf-7?q?+AGoAcw-?= =?hex?q?61?= =?unicode_escape?q?=5Cud800?=", "+AGoAcw-61\\ud800"),
        ("=?utf-8?x?a?= =?utf-8?q?a =??= ?=", "=?utf-8?x?a?= =?utf-8?q?a =??= ?="),
    ],
)
def test_what_programs_show(text: str, shown: str) -> None:
    """Words are decoded as mailparser and browsers do it, and everything else stays."""
    assert decode_words(text) == readings(text)[0] == shown


@for_each(
    ("text", "reading"),
    [
        ("=?utf-8?q?x=2Ej?= s", "x.js"),
        ("=?iso-2022-jp?q?x.=1B$B?= =?iso-2022-jp?q?js?=", "x.js"),
        ("=?utf-8?b?ww?= =?utf-8?b?vA?=", "ü"),
        ("=?utf-8?q?a?b?=", "a?b"),
        ("=?utf 8?q?a?=", "a"),
        ("=?utf-7?q?+AGoAcw-?=", "js"),
        ("=?utf-16?b?AGE=?=", "a"),
        ("=?utf-16?b?YQA=?=", "a"),
        ("=?csunicode?q?a?=", "a"),
    ],
)
def test_what_some_programs_show(text: str, reading: str) -> None:
    assert reading in readings(text)


def test_escapes_are_removed_first() -> None:
    """In a quoted string, a program may remove the escapes before it decodes the words."""
    assert '"a"' in every_reading(b'"=?utf-8?q?=6\\1?="')


@for_each("charset", ["utf-8", "US-ASCII", "gb2312", "iso-2022-jp", "utf-8*en", "cp437"])
def test_words_that_all_programs_decode(charset: str) -> None:
    assert is_clear(f"a =?{charset}?Q?b?= =?{charset}?b?Yw==?=.pdf")


@for_each(
    "text",
    [
        *("=?utf-7?q?a?=", "=?utf-16?q?a?=", "=?ucs-2?q?a?=", "=?cp037?q?a?=", "=?hz?q?a?="),
        *("=?x-unknown?q?a?=", "=?utf-8?q?a", "=?utf-8?q?a?b?=", "=?utf-8?x?a?=", "=?", "=??q?a?="),
    ],
)
def test_words_that_only_some_programs_decode(text: str) -> None:
    assert not is_clear(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        *(
            "=?a?q?x",
            "=?a?q?x?=",
            "=?utf-16?q?x?= ",
            "=?",
            "=?a?q?=",
            "?=",
            "=?a?b?=",
            "=?a?",
            "= ",
        ),
        *(" =?a?q?", "=?a?q?= ", "=?a?q?" + " " * 40),
    ],
)
def test_time_is_linear(piece: str) -> None:
    """A header of 32 KB of one hostile piece takes tenths of a second, not many seconds."""
    text = piece * (32 * 1024 // len(piece))
    started = time.process_time()
    for hostile in (text, text + "?=", "=?a?q?" + text + "?="):
        readings(hostile)
        is_clear(hostile)
    assert time.process_time() - started < 1


CHARSETS = sorted({*aliases.values(), "undefined", "unknown-8bit", "x\xc6"})


@given(
    st.binary(max_size=80)
    | st.text(alphabet="=?utf-8qbB Q_=", max_size=40).map(str.encode)
    | st.builds(
        lambda charset, coding, text: f"=?{charset}?{coding}?".encode() + text + b"?=",
        st.sampled_from(CHARSETS),
        st.sampled_from("qb"),
        st.binary(max_size=12).map(quopri.encodestring)
        | st.binary(max_size=12).map(base64.b64encode),
    )
)
def test_any_text_can_be_read(value: bytes) -> None:
    read_text(value).encode()
    read_mailbox(value)
    addresses_in(value)
    every_reading(value)
