"""Refuse addresses that no mail reaches, before the service itself writes to them."""

from typing import Final

from pillarbox.application.ports import DomainVerdict
from pillarbox.domain.errors import FieldError, ValidationFailed

_REFUSALS: Final = {
    DomainVerdict.NO_DOMAIN: "has a domain that does not exist",
    DomainVerdict.NO_MX: "has a domain that accepts no mail",
    DomainVerdict.NULL_MX: "has a domain that accepts no mail",
    DomainVerdict.UNKNOWN: "has a domain whose DNS does not answer: try again later",
}


def refuse_domain(verdict: DomainVerdict, field: str) -> None:
    """Raise unless the domain of the address in a field accepts mail."""
    if verdict is not DomainVerdict.ACCEPTS:
        raise ValidationFailed(FieldError(field, _REFUSALS[verdict], "not_allowed"))
