"""Check a certificate before the relay shows it to clients."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)

from pillarbox.domain.errors import FieldError, ValidationFailed


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayCertificate:
    """What a certificate says, and what an operator should know about it."""

    names: Sequence[str]
    expires_at: datetime
    warnings: Sequence[str]


def check(chain: bytes, key: bytes, host: str | None, now: datetime) -> RelayCertificate:
    """Return what the server's certificate says, the first of the chain.

    Chain and key are PEM, the key without a passphrase. Clients connect to `host`, if it is known.
    """
    try:
        certificates = x509.load_pem_x509_certificates(chain)
    except ValueError:
        raise _refusal("--chain", "is not a list of certificates in PEM") from None
    leaf = certificates[0]
    if _public(leaf.public_key()) != _public(_load_key(key).public_key()):
        raise _refusal("--key", "does not belong to the first certificate of the chain")
    for certificate in certificates:
        if certificate.not_valid_after_utc <= now:
            raise _refusal("--chain", f"ended on {certificate.not_valid_after_utc:%Y-%m-%d}")
    if leaf.not_valid_before_utc > now:
        raise _refusal("--chain", f"begins on {leaf.not_valid_before_utc:%Y-%m-%d}")
    for certificate, issuer in pairwise(certificates):
        try:
            certificate.verify_directly_issued_by(issuer)
        except (InvalidSignature, TypeError, ValueError):
            message = "is not in order: the server's certificate first, then each issuer"
            raise _refusal("--chain", message) from None
    names = _names(leaf)
    if host and not any(_matches(name, host) for name in names):
        raise _refusal("--chain", f"is for {', '.join(names) or 'no name'}, not for {host}")
    return RelayCertificate(
        names=names,
        expires_at=leaf.not_valid_after_utc,
        warnings=[*_warnings(certificates)],
    )


def _warnings(certificates: Sequence[x509.Certificate]) -> Iterator[str]:
    leaf = certificates[0]
    if leaf.issuer == leaf.subject:
        yield "The certificate is self-signed: only clients that you set up for it trust it."
    elif len(certificates) == 1:
        yield "The chain has no issuer. If yours has intermediates, use the file with all of them."
    if isinstance(leaf.public_key(), RSAPublicKey):
        yield "An ECDSA certificate on P-256 costs the relay less CPU than RSA."


def _load_key(key: bytes) -> Any:  # noqa: ANN401  any kind of key
    try:
        return load_pem_private_key(key, password=None)
    except TypeError:
        raise _refusal("--key", "has a passphrase; the relay needs a key without one") from None
    except ValueError:
        raise _refusal("--key", "is not a private key in PEM") from None


def _public(key: Any) -> bytes:  # noqa: ANN401  any kind of key
    return bytes(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))


def _names(certificate: x509.Certificate) -> list[str]:
    try:
        extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return []
    return extension.value.get_values_for_type(x509.DNSName)


def _matches(name: str, host: str) -> bool:
    """Return whether a name covers a host; `*` stands for its first label (RFC 6125)."""
    if name.startswith("*."):
        return host.lower().partition(".")[2] == name[2:].lower()
    return host.lower() == name.lower()


def _refusal(option: str, message: str) -> ValidationFailed:
    return ValidationFailed(FieldError(option, message, "invalid"))
