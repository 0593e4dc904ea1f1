"""The certificate that the relay shows to an SMTP client."""

import smtplib
import ssl
from datetime import UTC, datetime
from typing import Any, Final, cast

from pillarbox.domain.errors import ServiceError

_TIME_OUT: Final = 10.0


class SmtpProbe:
    """Fulfils `administration.ports.CertificateProbe`, with the eyes of a client."""

    def __init__(self, host: str, port: int, trusted: str = "") -> None:
        """Keep where the relay is, and the PEM file to trust; the system's if it is empty."""
        self._host = host
        self._port = port
        self._trusted = trusted or None

    def certificate_expiry(self) -> datetime:
        """Read the end of the certificate that STARTTLS shows.

        Raises:
            ServiceError: `service_unavailable`: not reached, or not to be trusted, be it
                that the certificate has ended, is another name's, or nobody's known.
        """
        try:
            with smtplib.SMTP(self._host, self._port, timeout=_TIME_OUT) as client:
                client.starttls(context=ssl.create_default_context(cafile=self._trusted))
                shown: Any = cast("ssl.SSLSocket", client.sock).getpeercert()
        except (OSError, smtplib.SMTPException) as error:
            message = f"A client cannot use the relay at {self._host}:{self._port}: {error}"
            raise ServiceError("service_unavailable", message) from error
        return datetime.fromtimestamp(ssl.cert_time_to_seconds(shown["notAfter"]), UTC)
