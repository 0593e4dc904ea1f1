"""Secrets Manager, and the edge's secret in it."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from pillarbox.adapters.aws import make_client, service_errors
from pillarbox.application.ports import Clock
from pillarbox.domain.client_origin import is_of_edge
from pillarbox.domain.errors import ServiceError

#: What is not the secret as it was read may be a newer one. Shorter than a rotation waits between
#: storing a secret and sending it.
_REMEMBERED: Final = timedelta(minutes=1)
#: The secret as it was read may not be one any more. Each read costs as much as an email's log.
_LONGEST: Final = timedelta(minutes=10)


def read_secret(name: str) -> str:
    with service_errors("secret store"):
        text: str = make_client("secretsmanager").get_secret_value(SecretId=name)["SecretString"]
        return text


class EdgeSecret:
    """Knows the secret that shows that a request came through the edge.

    Args:
        name: of the secret; if it is empty, there is no edge.
    """

    def __init__(self, name: str, clock: Clock, read: Callable[[str], str] = read_secret) -> None:
        self._name = name
        self._clock = clock
        self._read = read
        self._text = ""
        self._read_at: datetime | None = None

    def is_sent(self, given: str) -> bool:
        """Return whether a request has the secret: what it has in X-Pillarbox-Edge."""
        if not self._name or not given:
            return False
        now = self._clock()
        was_right = is_of_edge(given, self._text)
        kept = _LONGEST if was_right else _REMEMBERED
        if self._read_at is None or now - self._read_at >= kept:
            try:
                self._text, self._read_at = self._read(self._name), now
            except ServiceError:
                if not was_right:  # in an outage of the store the known secret still counts
                    raise
        return is_of_edge(given, self._text)
