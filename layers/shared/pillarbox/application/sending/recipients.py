"""The recipients of a mail: their spelling, their domains, their suppressions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from pillarbox.application.ports import DomainVerdict, MailDomains
from pillarbox.application.validation import to_a_label
from pillarbox.domain.address import AddressSyntaxError, domain_of, mailbox_key, parse_address
from pillarbox.domain.errors import Json, ServiceError

#: Anything but these is accepted: what the DNS could not say now is left to delivery.
_REFUSALS: Final[Mapping[DomainVerdict, str]] = {
    DomainVerdict.NO_DOMAIN: "the domain does not exist",
    DomainVerdict.NO_MX: "the domain takes no mail: it has no MX record",
    DomainVerdict.NULL_MX: "the domain takes no mail: its MX record says so (RFC 7505)",
}

#: Characters of what was given for an address that the answer repeats; an address is shorter.
_SHOWN: Final = 320


@dataclass(frozen=True, slots=True)
class Recipients:
    """What the given texts come to: addresses in their one spelling, and faults."""

    spelling: Mapping[str, str]
    faults: Mapping[str, str]

    @classmethod
    def parse(cls, texts: Iterable[str]) -> "Recipients":
        """Parse addresses as given; nothing is raised, since another check may come first."""
        spelling, faults = {}, {}
        for text in texts:
            try:
                spelling[text] = parse_address(text, to_a_label)
            except AddressSyntaxError as error:
                faults[text] = str(error)
        return cls(spelling, faults)

    @property
    def mailboxes(self) -> frozenset[str]:
        """The keys under which suppressions of these addresses are kept."""
        return frozenset(map(mailbox_key, self.spelling.values()))

    def check(self, domains: MailDomains) -> None:
        """Refuse addresses that are none and domains that take no mail.

        Raises:
            ServiceError: `invalid_recipient`; `details.recipients` lists each.
        """
        verdicts = domains.look_up(set(map(domain_of, self.spelling.values())))
        faults = [_listed(text, reason, code="syntax") for text, reason in self.faults.items()]
        for text, address in self.spelling.items():
            verdict = verdicts[domain_of(address)]
            if verdict in _REFUSALS:
                faults.append(_listed(text, _REFUSALS[verdict], code=verdict.value))
        if faults:
            raise _refused("invalid_recipient", "cannot be mailed", faults)

    def check_suppressed(self, suppressed: Mapping[str, str]) -> None:
        """Refuse addresses that bounced or complained before.

        Raises:
            ServiceError: `recipient_suppressed`; `details.recipients` lists each.
        """
        reasons = [
            _listed(text, reason)
            for text, address in self.spelling.items()
            if (reason := suppressed.get(mailbox_key(address)))
        ]
        if reasons:
            raise _refused("recipient_suppressed", "bounced or complained before", reasons)

    def spelled(self, texts: Iterable[str]) -> tuple[str, ...]:
        """The given texts in their one spelling."""
        return tuple(self.spelling[text] for text in texts)


def _listed(address: str, reason: str, **more: str) -> Json:
    return {"address": address[:_SHOWN], "reason": reason, **more}


def _refused(code: str, what: str, listed: list[Json]) -> ServiceError:
    subject = "One recipient" if len(listed) == 1 else f"{len(listed)} recipients"
    return ServiceError(
        code, f"{subject} of this mail {what}; nothing was sent.", details={"recipients": listed}
    )
