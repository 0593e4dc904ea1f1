"""The checks of a message that cost the most: its recipients' domains, and its content.

They come after all others. An account whose quota is used up, or whose messages were refused here
too often in this minute, makes no query to the DNS. A refusal here is counted, because it uses no
quota.
"""

from collections.abc import Mapping
from contextlib import suppress

from pillarbox.application.ports import DirectoryResult
from pillarbox.application.sender_quota import check_key_quota
from pillarbox.application.sending.acceptance import Preparation, SendingPorts
from pillarbox.application.sending.prepare import Draft, PreparedMessage
from pillarbox.application.sending.recipients import Recipients
from pillarbox.domain.accounts.key import Principal
from pillarbox.domain.accounts.quota import QuotaExceeded
from pillarbox.domain.errors import ServiceError, error_of
from pillarbox.rendering.fuel import RequestFuel


def prepare_all(
    ports: SendingPorts,
    drafts: Mapping[int, Draft],
    principal: Principal,
    directory: DirectoryResult,
    *,
    may_refuse_all: bool = False,
) -> Preparation:
    """Prepare the messages of a request; return the errors of the others.

    Args:
        ports: what is asked.
        drafts: the messages by position.
        principal: the sender.
        directory: what was read with its key.
        may_refuse_all: whether to return a quota error for each message, not to raise it.

    Raises:
        ServiceError: a quota error.
    """
    prepared: dict[int, PreparedMessage] = {}
    errors: dict[int, ServiceError] = {}
    if not drafts:
        return prepared, errors
    refusal = error_of(lambda: directory.quota.check(principal.limits, ports.clock()))
    refusal = refusal or error_of(
        lambda: check_key_quota(ports.directory, principal, ports.clock())
    )
    if refusal and not isinstance(refusal, QuotaExceeded):
        ports.costly_keys.add(principal.key.digest)  # the next request need not read as much
    if refusal and may_refuse_all:
        return prepared, dict.fromkeys(drafts, refusal)
    if refusal:
        raise refusal
    domains = frozenset().union(*(draft.recipients.domains for draft in drafts.values()))
    verdicts = ports.domains.look_up(domains)
    now, fuel = ports.clock(), RequestFuel()
    for position, draft in drafts.items():
        try:
            prepared[position] = draft.prepare(verdicts, now, fuel)
        except ServiceError as error:
            errors[position] = error
    if errors:
        count_refusals(ports, principal.account.account_id, len(errors))
    return prepared, errors


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
    """Count late refusals of an account in this minute."""
    with suppress(ServiceError):  # the caller gets the reason of the refusal in any case
        ports.refusals.count(account_id, count, ports.clock())
