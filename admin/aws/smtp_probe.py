"""The certificate that the relay presents to SMTP clients."""

import smtplib
import ssl
from datetime import UTC, datetime
from typing import Any, Final, cast

from pillarbox.domain.errors import ServiceError

#: Seconds.
_TIMEOUT: Final = 10.0


class SmtpProbe:
    """Implements `operations.ports.CertificateProbe` by connecting as an SMTP client does."""

    def __init__(self, host: str, port: int) -> None:
        """Store the relay's address. Its certificate must be one that the system trusts."""
        self._host = host
        self._port = port

    def certificate_expiry(self) -> datetime:
        """Return the end of the certificate that the relay presents after STARTTLS."""
        try:
            with smtplib.SMTP(self._host, self._port, timeout=_TIMEOUT) as client:
                client.starttls(context=ssl.create_default_context())
                certificate: Any = cast("ssl.SSLSocket", client.sock).getpeercert()
        except (OSError, smtplib.SMTPException) as error:
            message = f"A client cannot use the relay at {self._host}:{self._port}: {error}"
            raise ServiceError("service_unavailable", message) from error
        return datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)
