"""Write to people who have not agreed to get email of the service, unless too many bounced."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from pillarbox.application.ports import Clock, DomainVerdict, SendMail, ServiceAddress, StrangerMail
from pillarbox.application.sign_in.ports import Proofs
from pillarbox.application.stranger_pauses import paused
from pillarbox.domain.errors import FieldError, Json, ValidationFailed
from pillarbox.domain.sign_in.preview_key import new_report
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT_ID
from pillarbox.domain.sign_in.strangers import Cause


@dataclass(frozen=True, slots=True, kw_only=True)
class MailToStrangers:
    """Sends such an email, counts it, and adds the link by which its reader stops others."""

    send_mail: SendMail
    records: StrangerMail
    #: Their key signs the link.
    proofs: Proofs
    base_url: ServiceAddress
    clock: Clock

    def paused_until(self, cause: Cause) -> datetime | None:
        """Return until when nothing may be sent; None if it may be now."""
        return paused(self.records, cause, self.clock())

    def send(  # noqa: PLR0913  an email, and what only some have
        self,
        address: str,
        subject: str,
        source: str,
        values: Mapping[str, Json],
        cause: Cause,
        *,
        message_id: UUID | None = None,
        deadline: datetime | None = None,
    ) -> None:
        """Accept an email. The caller has looked whether it may be sent."""
        report = new_report(SERVICE_ACCOUNT_ID, self.proofs.key().hex(), address)
        stop_url = f"{self.base_url()}/widget/report#{report}"
        for name in filter(None, (cause.audience, cause.party and cause.own)):
            self.records.add_sent(name, self.clock().date())
        self.send_mail(
            address,
            subject,
            source,
            values,
            message_id=message_id,
            deadline=deadline,
            stop_url=stop_url,
            tags=cause.tags,
        )


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
