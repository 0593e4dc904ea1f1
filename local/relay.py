"""Runs the SMTP relay beside the local API, with a self-signed certificate."""

import contextlib
import datetime as dt
import ipaddress
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pillarbox.wiring import Wiring
from relay import log
from relay.limits import ServerLimits
from relay.server import Server
from relay.service import ThreadedService
from relay.session import ServerContext
from relay.tls import Certificate, make_context

_NAME: Final = "localhost"
_VALID: Final = dt.timedelta(days=365)
#: For clients with a slow clock.
_BACKDATED: Final = dt.timedelta(days=1)


@contextlib.asynccontextmanager
async def serving(
    listener: socket.socket, state: Path, wiring: Wiring, certificate: Certificate
) -> AsyncIterator[Path]:
    """Serve on a bound socket until the block ends; yield the file of the certificate to trust."""
    certificate_file = state / "smtp.pem"
    certificate_file.write_bytes(certificate.chain)
    # A local stack does not wait long for slow clients when it stops.
    limits = ServerLimits(drain=2)
    server_context = ServerContext(
        name=_NAME,
        limits=limits,
        service=ThreadedService(lambda: wiring.smtp_submission),
    )
    tls_context = make_context(certificate)
    server = Server(server_context, lambda: tls_context)
    with (state / "relay.log").open("w") as log_file:
        log.set_up(log_file)
        await server.start(listener)
        try:
            yield certificate_file
        finally:
            await server.drain()


def self_signed() -> Certificate:
    """Create a self-signed certificate for localhost and 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _NAME)])
    names = x509.SubjectAlternativeName(
        [x509.DNSName(_NAME), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    )
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(now + _VALID)
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return Certificate(certificate.public_bytes(serialization.Encoding.PEM), private)
