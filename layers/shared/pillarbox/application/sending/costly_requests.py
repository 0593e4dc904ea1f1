"""Requests that read many records and accept nothing: refused ones, replays and rehearsals.

They use no quota, so one key could repeat them without an end. Ten of these records count as one
late refusal. After such a request a process reads the key's quota record first. If the account has
used up its late refusals of the minute, the request ends there, before it is parsed.
"""

from collections.abc import Callable
from typing import Final

from pillarbox.application.authentication import parse_key
from pillarbox.application.ports import StoredResponse
from pillarbox.application.sending.acceptance import SendingPorts
from pillarbox.application.sending.late_checks import count_refusals
from pillarbox.domain.accounts.key import Principal
from pillarbox.domain.errors import ServiceError

#: A count costs a write, as much as five of these reads.
_RECORDS_A_REFUSAL: Final = 10
_SERVER_ERROR: Final = 500


def authenticate_early(ports: SendingPorts, key_text: str) -> None:
    """Refuse a wrong key, or one with too many refusals, before its request is parsed.

    Raises:
        ServiceError: `invalid_api_key`, `account_suspended`, `scope_required` or
            `rate_limit_exceeded`.
    """
    key = parse_key(key_text)
    if key.digest not in ports.costly_keys:
        ports.authentication.authenticate_stranger(key_text)
        return
    principal, directory = ports.authentication.look_up(key_text)
    try:
        directory.quota.check_refusals(principal.limits, ports.clock())
    except ServiceError as error:
        error.log_fields = {"account_id": principal.account.account_id}
        raise
    ports.costly_keys.discard(key.digest)


def count_rehearsal(ports: SendingPorts, principal: Principal, messages: int, records: int) -> None:
    """Count messages that were checked and not sent, and the records that were read for them."""
    count = messages + records // _RECORDS_A_REFUSAL
    if count:
        count_refusals(ports, principal.account.account_id, count)


def count_if_costly(
    ports: SendingPorts,
    principal: Principal,
    records: int,
    accept: Callable[[], StoredResponse],
) -> StoredResponse:
    """Accept a request; count the records that it read if it accepts nothing.

    Args:
        ports: the stores that count.
        principal: the sender.
        records: how many suppressions and templates were looked up for it.
        accept: accepts the request or raises its error.

    Raises:
        ServiceError: that of `accept`.
    """

    def count() -> None:
        if refusals := records // _RECORDS_A_REFUSAL:
            ports.costly_keys.add(principal.key.digest)
            count_refusals(ports, principal.account.account_id, refusals)

    try:
        response = accept()
    except ServiceError as error:
        if error.status < _SERVER_ERROR:
            count()
        raise
    if response.replayed or not any(response.message_ids):
        count()
    return response
