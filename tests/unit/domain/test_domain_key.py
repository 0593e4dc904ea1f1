"""API keys: their text, checksum, presets and scopes (contract section 5)."""

import string

import pytest

from pillarbox.domain.accounts.key import (
    PRESET_SCOPES,
    KeyType,
    Preset,
    account_of_key,
    digest_of_key,
    new_key_text,
)
from pillarbox.domain.ids import is_token, new_token
from tests.fakes import builders

ACCOUNT_ID_LENGTH = 12


@pytest.mark.parametrize("key_type", KeyType)
def test_a_key_contains_its_account_id(key_type: KeyType) -> None:
    account_id = new_token(ACCOUNT_ID_LENGTH)
    text = new_key_text(account_id, key_type)
    assert text.startswith({"preview": "bx_preview_", "live": "bx_live_"}[key_type])
    assert account_of_key(text) == account_id
    assert text != new_key_text(account_id, key_type)


@pytest.mark.parametrize("key_type", KeyType)
def test_the_checksum_catches_every_wrong_character(key_type: KeyType) -> None:
    """A key is invalid if one character is changed, dropped or doubled."""
    text = new_key_text(builders.ACCOUNT, key_type)
    for at, character in enumerate(text):
        for other in set(string.ascii_letters + string.digits + "_ü\n") - {character}:
            assert account_of_key(text[:at] + other + text[at + 1 :]) is None
        assert account_of_key(text[:at] + text[at + 1 :]) is None
        assert account_of_key(text[:at] + character + text[at:]) is None


@pytest.mark.parametrize("text", ["", "x", "bx_live_", "bx_live_" + "0" * 52, "ü" * 60, "0" * 8192])
def test_text_that_is_not_a_key_has_no_account(text: str) -> None:
    assert account_of_key(text) is None


def test_only_a_digest_is_stored() -> None:
    """The record has a SHA-256 digest in hex, and not the key."""
    text = builders.key_text()
    assert len(digest_of_key(text)) == 64
    assert text not in repr(builders.api_key(text))


@pytest.mark.parametrize(
    ("preset", "scopes"),
    [
        (Preset.SEND, "emails:send emails:read"),
        (
            Preset.MARKETING,
            """emails:send emails:read templates:read templates:write
            marketing:campaigns:read marketing:campaigns:write
            marketing:contacts:read marketing:contacts:write""",
        ),
        (
            Preset.ANALYTICS,
            "emails:read templates:read marketing:campaigns:read marketing:contacts:read",
        ),
        (Preset.CUSTOM, ""),
    ],
)
def test_presets_grant_their_scopes(preset: Preset, scopes: str) -> None:
    assert PRESET_SCOPES[preset] == set(scopes.split())


def test_tokens_have_a_fixed_form() -> None:
    """A token has the requested length and no letters that people misread."""
    token = new_token(40)
    assert is_token(token, 40)
    assert not is_token(token, 39)
    assert not any(map(is_token, ("i" * 4, "L123", "ab-d", "abc"), (4,) * 4))
