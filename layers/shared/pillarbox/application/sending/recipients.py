"""Check the recipients of an email, and what keys that send tests only may send to them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from pillarbox.application.ports import DomainVerdict
from pillarbox.application.validation import to_a_label
from pillarbox.domain.address import AddressSyntaxError, domain_of, mailbox_key, parse_address
from pillarbox.domain.errors import Json, ServiceError, cut
from pillarbox.domain.messages.mail import Mail, StarterBody
from pillarbox.domain.templates.template import fill_subject
from pillarbox.rendering.starters import find_starter
from pillarbox.rendering.values import values_or_samples

#: Every other verdict is accepted: if the DNS gave no answer, delivery will find out.
_REFUSALS: Final[Mapping[DomainVerdict, str]] = {
    DomainVerdict.NO_DOMAIN: "the domain does not exist",
    DomainVerdict.NO_MX: "the domain accepts no mail: it has no MX record",
    DomainVerdict.NULL_MX: "the domain accepts no mail: its MX record says so (RFC 7505)",
}

#: Why mail to an address is suppressed, by the reason that the record has.
_SUPPRESSIONS: Final[Mapping[str, str]] = {
    "bounced": "an earlier email to it bounced permanently",
    "complained": "it reported an earlier email as unwanted",
    "manual": "the operator suppressed it",
    "stopped": "its owner has stopped the test mail of preview keys",
}

#: The response repeats at most this many bytes of an invalid address.
_MAX_SHOWN: Final = 320


@dataclass(frozen=True, slots=True)
class Recipients:
    """The addresses of a request by the text that the caller sent: normalized, or an error."""

    normalized: Mapping[str, str]
    syntax_errors: Mapping[str, str]

    @classmethod
    def parse(cls, texts: Iterable[str]) -> "Recipients":
        """Parse addresses. Nothing is raised here, because other checks may come first."""
        normalized, syntax_errors = {}, {}
        for text in texts:
            try:
                normalized[text] = parse_address(text, to_a_label)
            except AddressSyntaxError as error:
                syntax_errors[text] = str(error)
        return cls(normalized, syntax_errors)

    @property
    def mailboxes(self) -> frozenset[str]:
        """Return the keys under which suppressions of these addresses are stored.

        After a syntax error there are none: suppressions are not checked then.
        """
        if self.syntax_errors:
            return frozenset()
        return frozenset(map(mailbox_key, self.normalized.values()))

    @property
    def domains(self) -> frozenset[str]:
        return frozenset(map(domain_of, self.normalized.values()))

    def check_syntax(self) -> None:
        """Refuse addresses with a syntax error."""
        _refuse_invalid(
            [_recipient(text, reason, code="syntax") for text, reason in self.syntax_errors.items()]
        )

    def check_domains(self, verdicts: Mapping[str, DomainVerdict]) -> None:
        """Refuse addresses whose domains accept no mail."""
        _refuse_invalid(
            [
                _recipient(text, _REFUSALS[verdict], code=verdict.value)
                for text, address in self.normalized.items()
                if (verdict := verdicts[domain_of(address)]) in _REFUSALS
            ]
        )

    def check_suppressed(self, suppressed: Mapping[str, str]) -> None:
        """Refuse addresses that bounced or complained before."""
        reasons = [
            _recipient(text, reason)
            for text, address in self.normalized.items()
            if (reason := suppressed.get(mailbox_key(address)))
        ]
        if reasons:
            raise _refused("recipient_suppressed", reasons)

    def normalize(self, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(self.normalized[text] for text in texts)


def refused_recipients(details: Mapping[str, Json] | None) -> list[tuple[str, str]]:
    """Return the refused addresses in the details of an error, each with the reason in words."""
    listed = (details or {}).get("recipients")
    return [
        (str(item["address"]), _SUPPRESSIONS.get(str(item["reason"]), str(item["reason"])))
        for item in (listed if isinstance(listed, list) else [])
        if isinstance(item, dict) and {"address", "reason"} <= item.keys()
    ]


def count_refused(count: int) -> str:
    return (
        "One recipient of this email is refused"
        if count == 1
        else f"{count} recipients of this email are refused"
    )


def _recipient(address: str, reason: str, **more: str) -> Json:
    return {"address": cut(address, _MAX_SHOWN), "reason": reason, **more}


def _refuse_invalid(recipients: list[Json]) -> None:
    if recipients:
        raise _refused("invalid_recipient", recipients)


def _refused(code: str, recipients: list[Json]) -> ServiceError:
    details: dict[str, Json] = {"recipients": recipients}
    count = len(recipients)
    address, reason = refused_recipients(details)[0]
    more = f" (and {count - 1} more)" if count > 1 else ""
    message = f"{count_refused(count)}: {address}: {reason}{more}; nothing was sent."
    return ServiceError(code, message, details=details)


#: The start of the subject of a test.
TEST_PREFIX: Final = "[Test] "
#: The sample of `app_name`.
_SAMPLE_BRAND: Final = "Harbour"


def as_test(mail: Mail, report: str | None = None) -> Mail:
    """Return the test that such a key sends instead of an email.

    With `report`, its footer has the link by which the recipient stops such mail.

    It keeps the sender, the recipient and the choice of the template. The values are the samples:
    the caller's were checked as in any send, but a name, an amount or a link could deceive the
    recipient. The top of the email says so. Neither the brand nor the name of the account is in it.
    """
    starter = find_starter(mail.body.slug) if isinstance(mail.body, StarterBody) else None
    if starter is None:
        raise TypeError("a self-service key sends starter templates only")
    body = StarterBody(
        slug=starter.slug,
        values=values_or_samples(starter, {}),
        brand_name=_SAMPLE_BRAND,
        logo_url=None,
        attribution=True,
        is_test=True,
        report=report,
    )
    return Mail(
        sender=mail.sender,
        from_name=None,
        to=mail.to,
        subject=TEST_PREFIX + fill_subject(starter.subject, body.subject_values()),
        body=body,
    )
