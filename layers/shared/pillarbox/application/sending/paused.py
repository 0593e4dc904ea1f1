"""Refuse emails of a paused account, key or template.

The pauses are in the account's record, which was just read. Only a brake makes a call: it counts
the emails in a quota of its own, in which each try counts, also one that is refused afterwards.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from pillarbox.application.ports import Quotas
from pillarbox.domain.accounts.quota import Amount, QuotaExceeded, remaining_quota
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.message import MessageOrigin

if TYPE_CHECKING:
    from pillarbox.domain.accounts.key_policy import Principal
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
