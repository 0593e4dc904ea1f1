"""Requests that read many records, or ask the DNS, and accept nothing.

They are refused ones, replays and rehearsals. They use no quota, so one key could repeat them
without an end. A refusal after the DNS was asked counts as one costly refusal of the account, and
so do ten records that were looked up for nothing. An account with too many in a minute
makes no query to the DNS, and its keys are refused before their requests are parsed.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Self

from pillarbox.application.authentication import SeenKeys, SenderLookup
from pillarbox.application.ports import DirectoryResult
from pillarbox.application.sender_quota import check_quotas
from pillarbox.application.sending.ports import SendingPorts
from pillarbox.application.sending.recipients import Recipients
from pillarbox.domain.accounts.key import EMAILS_SEND
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.accounts.quota import QuotaExceeded
from pillarbox.domain.errors import ServiceError

#: A count costs a write, as much as five of these reads.
_RECORDS_A_REFUSAL: Final = 10
_SERVER_ERROR: Final = 500


def http_senders(ports: SendingPorts, seen: SeenKeys) -> SenderLookup:
    """Return what reads the callers that send over HTTP."""
    return SenderLookup(
        ports.directory, seen, lambda principal: principal.require(EMAILS_SEND), ports.key_check
    )


@dataclass(slots=True)
class RequestCost:
    """A context in which a request is accepted. It counts what the request reads for nothing.

    `records` is how many suppressions and templates were looked up. The caller sets `accepted` if
    the request accepts anything. A failure of the service does not count.
    """

    ports: SendingPorts
    seen: SeenKeys
    principal: Principal
    records: int
    accepted: bool = False

    def __enter__(self) -> Self:
        """Return the context."""
        return self

    def __exit__(self, _: object, error: BaseException | None, *trace: object) -> None:
        """Count the records, unless the request was accepted or the service has failed."""
        has_failed = error is not None and not (
            isinstance(error, ServiceError) and error.status < _SERVER_ERROR
        )
        refusals = self.records // _RECORDS_A_REFUSAL
        if refusals and not self.accepted and not has_failed:
            self.seen.costly.add(self.principal.key.digest)
            count_refusals(self.ports, self.principal.account.account_id, refusals)


def count_rehearsal(ports: SendingPorts, principal: Principal, messages: int, records: int) -> None:
    """Count messages that were checked and not sent, and the records that were read for them."""
    count_refusals(ports, principal.account.account_id, messages + records // _RECORDS_A_REFUSAL)


def check_quota(
    ports: SendingPorts, seen: SeenKeys, principal: Principal, directory: DirectoryResult
) -> None:
    """Refuse a request of a sender without quota, before the DNS is asked.

    Raises:
        ServiceError: a quota error; `rate_limit_exceeded` for too many costly refusals.
    """
    try:
        check_quotas(principal, directory, ports.clock())
    except QuotaExceeded:
        raise
    except ServiceError:
        seen.costly.add(principal.key.digest)  # the next request need not read as much
        raise


def check_domains(ports: SendingPorts, account_id: str, recipients: Recipients) -> None:
    """Refuse a message whose recipients' domains accept no mail.

    Raises:
        ServiceError: `invalid_recipient`.
    """
    verdicts = ports.domains.look_up(recipients.domains)
    try:
        recipients.check_domains(verdicts)
    except ServiceError:
        count_refusals(ports, account_id, 1)
        raise


def count_refusals(ports: SendingPorts, account_id: str, count: int) -> None:
    """Count costly refusals of an account in this minute."""
    if count:
        with suppress(ServiceError):  # the caller gets the reason of the refusal in any case
            ports.refusals.count(account_id, count, ports.clock())
