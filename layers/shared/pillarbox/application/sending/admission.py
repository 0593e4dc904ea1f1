"""What is refused before an email is checked: what is paused, and requests that cost much.

The pauses are in the account's record, which was just read. Only a brake makes a call: it counts
the emails in a quota of its own, in which each try counts, also one that is refused afterwards.

They are refused ones, replays and rehearsals. They use no quota, so one key could repeat them
without an end. A refusal after the DNS was asked counts as one costly refusal of the account, and
so do ten records that were looked up for nothing. An account with too many in a minute
makes no query to the DNS, and its keys are refused before their requests are parsed.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, Self

from pillarbox.application.authentication import SeenKeys, SenderLookup
from pillarbox.application.ports import DirectoryResult, Quotas
from pillarbox.application.sender_quota import check_quotas
from pillarbox.application.sending.ports import SendingPorts
from pillarbox.application.sending.recipients import Recipients
from pillarbox.domain.accounts.key import EMAILS_SEND
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.accounts.quota import Amount, QuotaExceeded, remaining_quota
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.message import MessageOrigin

if TYPE_CHECKING:
    from pillarbox.domain.accounts.pause import Pause
    from pillarbox.domain.sign_in.session import MemberPrincipal

type _Sender = "Principal | MemberPrincipal"


def check_paused(quotas: Quotas, principal: _Sender, origin: MessageOrigin, now: datetime) -> None:
    """Refuse an email that a stop is about, or that a brake leaves no room for.

    Raises:
        ServiceError: `sending_paused`; `rate_limit_exceeded`.
    """
    for refusal in find_paused(quotas, principal, {0: origin}, now).values():
        raise refusal


def find_paused(
    quotas: Quotas, principal: _Sender, origins: Mapping[int, MessageOrigin], now: datetime
) -> Mapping[int, ServiceError]:
    """Return the refusals of those emails that `check_paused` refuses, by their position.

    Raises:
        ServiceError: `service_unavailable`.
    """
    pauses, refusals = principal.account.pauses, dict[int, ServiceError]()
    if not pauses:
        return refusals
    from pillarbox.domain.accounts.pause import (  # noqa: PLC0415  few accounts have pauses
        PauseLevel,
        find_pause,
        sending_paused,
    )

    braked: dict[Pause, list[int]] = {}
    for position, origin in origins.items():
        template = origin.template
        pause = find_pause(pauses, key_id=origin.key_id, template=template, now=now)
        if pause is None:
            continue
        if pause.level_for(template) is PauseLevel.STOP:
            refusals[position] = sending_paused(pause)
        else:
            braked.setdefault(pause, []).append(position)
    for pause, positions in braked.items():
        refusals |= _brake(quotas, principal, pause, positions, now)
    return refusals


def _brake(
    quotas: Quotas, principal: _Sender, pause: "Pause", positions: list[int], now: datetime
) -> Mapping[int, ServiceError]:
    """Count as many emails as a brake leaves room for, and return the refusals of the others."""
    from pillarbox.domain.accounts.pause import brake_limits, slowed_down  # noqa: PLC0415  as above

    limits = brake_limits(principal.limits)
    quota_id = f"{principal.account.account_id}#brake#{pause.scope.value}#{pause.id}"
    fitting, refusals = len(positions), dict[int, ServiceError]()
    while fitting:
        try:
            quotas.reserve(quota_id, Amount(fitting, fitting), limits, now)
            break
        except QuotaExceeded as exceeded:
            left = remaining_quota(limits, exceeded.used) or 0
            fitting = min(left, fitting - 1)
            refusals = dict.fromkeys(positions[fitting:], slowed_down(pause, exceeded))
    return refusals


#: A count costs a write, as much as five of these reads.
_RECORDS_A_REFUSAL: Final = 10
_SERVER_ERROR: Final = 500


def http_senders(ports: SendingPorts, seen: SeenKeys) -> SenderLookup:
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


def admit(
    ports: SendingPorts,
    principal: _Sender,
    recipients: Recipients,
    origin: MessageOrigin,
    now: datetime,
) -> None:
    """Check an email that answers or repeats another one, before its content is read.

    Raises:
        ServiceError: those of a send about recipients, suppressions, pauses and quotas.
    """
    recipients.check_syntax()
    if isinstance(principal, Principal):
        principal.check_recipients(recipients.normalized.values())
    account_id = principal.account.account_id
    directory = ports.directory.look_up(account_id, addresses=recipients.mailboxes, quota=True)
    recipients.check_suppressed(directory.suppressed)
    check_paused(ports.quotas, principal, origin, now)
    directory.quota.check(principal.limits, now)


def check_domains(ports: SendingPorts, account_id: str, recipients: Recipients) -> None:
    """Refuse a message whose recipients' domains accept no mail."""
    verdicts = ports.domains.look_up(recipients.domains)
    try:
        recipients.check_domains(verdicts)
    except ServiceError:
        count_refusals(ports, account_id, 1)
        raise


def count_refusals(ports: SendingPorts, account_id: str, count: int) -> None:
    if count:
        with suppress(ServiceError):  # the caller gets the reason of the refusal in any case
            ports.refusals.count(account_id, count, ports.clock())
