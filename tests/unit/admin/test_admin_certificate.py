"""The check of a certificate for the relay."""

from datetime import timedelta
from typing import Final

import pytest

from admin.use_cases.certificate import check
from tests.loops import for_each
from tests.refusals import refusal
from tests.unit.admin.certificates import NOW, certificate, ec_key, key_pem, rsa_key

KEY: Final = ec_key()
ROOT_KEY: Final = ec_key()
ISSUER: Final = ("Root", ROOT_KEY)
ROOT: Final = certificate("Root", ROOT_KEY)
LEAF: Final = certificate("smtp", KEY, ISSUER, names=("smtp.shop.example", "*.mail.example"))
NO_NAMES: Final = certificate("smtp", KEY, ISSUER)
ENDED: Final = certificate("smtp", KEY, ISSUER, ends=NOW - timedelta(hours=1))
LATER: Final = certificate("smtp", KEY, ISSUER, starts=NOW + timedelta(days=1))


@pytest.mark.parametrize(
    "host", ["smtp.shop.example", "SMTP.shop.example", "eu.mail.example", None]
)
def test_a_certificate_that_clients_accept(host: str | None) -> None:
    checked = check(LEAF + ROOT, key_pem(KEY), host, NOW)
    assert checked.names == ["smtp.shop.example", "*.mail.example"]
    assert checked.expires_at == NOW + timedelta(days=90)
    assert checked.warnings == []


@for_each(
    ("chain", "key", "host", "message"),
    [
        (b"nothing", key_pem(KEY), None, "--chain: is not a list of certificates"),
        (LEAF, b"nothing", None, "--key: is not a private key"),
        (LEAF, key_pem(KEY, b"secret"), None, "--key: has a passphrase"),
        (LEAF, key_pem(ROOT_KEY), None, "--key: does not belong to the first certificate"),
        (ROOT + LEAF, key_pem(KEY), None, "--key: does not belong to the first certificate"),
        (LEAF + LEAF, key_pem(KEY), None, "--chain: is not in order"),
        (ENDED + ROOT, key_pem(KEY), None, "--chain: ended on 2026-11-21"),
        (LATER + ROOT, key_pem(KEY), None, "--chain: begins on 2026-11-23"),
        (LEAF, key_pem(KEY), "mail.example", "not for mail.example"),
        (LEAF, key_pem(KEY), "a.b.mail.example", "not for a.b.mail.example"),
        (NO_NAMES, key_pem(KEY), "smtp", "is for no name, not for smtp"),
    ],
)
def test_a_certificate_that_no_client_accepts(
    chain: bytes, key: bytes, host: str | None, message: str
) -> None:
    refused = refusal(check, chain, key, host, NOW)
    assert message in refused.message


def test_what_an_operator_should_know() -> None:
    (alone,) = check(LEAF, key_pem(KEY), None, NOW).warnings
    assert "The chain has no issuer" in alone
    key = rsa_key()
    self_signed, ecdsa = check(certificate("smtp", key), key_pem(key), None, NOW).warnings
    assert "self-signed" in self_signed
    assert "P-256" in ecdsa
