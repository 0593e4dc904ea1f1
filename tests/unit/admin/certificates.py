"""Certificates for tests: a chain of a root, and a server's certificate that it issued."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

NOW: Final = datetime(2026, 11, 22, tzinfo=UTC)


def key_pem(key: Any, passphrase: bytes | None = None) -> bytes:
    encryption = BestAvailableEncryption(passphrase) if passphrase else NoEncryption()
    pem: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
    return pem


def ec_key() -> Any:
    return ec.generate_private_key(ec.SECP256R1())


def rsa_key() -> Any:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def certificate(
    name: str,
    key: Any,
    issuer: tuple[str, Any] | None = None,
    *,
    names: tuple[str, ...] = (),
    starts: datetime = NOW - timedelta(days=1),
    ends: datetime = NOW + timedelta(days=90),
) -> bytes:
    issuer_name, issuer_key = issuer or (name, key)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer_name)]))
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(starts)
        .not_valid_after(ends)
    )
    if names:
        alternative = x509.SubjectAlternativeName([x509.DNSName(text) for text in names])
        builder = builder.add_extension(alternative, critical=False)
    return builder.sign(issuer_key, hashes.SHA256()).public_bytes(Encoding.PEM)
