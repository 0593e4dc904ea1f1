"""The ports of the operator's command."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from pillarbox.domain.errors import Json
from pillarbox.domain.messages.message import Message


class MessageRecords(Protocol):
    """The records of messages, as an operator reads them; times are in milliseconds."""

    def newest_first(
        self, account_id: str, since: int, until: int, shards: int | None = None
    ) -> Iterable[Message]:
        """Return the messages of an account created from `since` to before `until`."""

    def in_accounts(self, account_ids: Sequence[str], message_id: UUID) -> Iterable[Message]:
        """Return the message with an id from the account that has it, among up to a hundred."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableProtectionState:
    """How the table is protected against loss."""

    point_in_time_recovery: bool
    deletion_protection: bool
    #: The attribute that says when items expire; None if items do not expire.
    expiry_attribute: str | None


class StackMonitoring(Protocol):
    """The alarms and metrics of the stack."""

    def firing_alarms(self) -> Sequence[str]:
        """Return the names of the stack's alarms in state ALARM."""

    def silent_alarms(self) -> Mapping[str, datetime]:
        """Return the alarms that lack data that they need, and since when they lack it."""

    def alarm_subscribers(self) -> int:
        """Return how many recipients get notifications of alarms."""

    def function_concurrency(self) -> int:
        """Return the AWS account's limit of concurrent functions."""


@dataclass(frozen=True, slots=True)
class Receipts:
    """What SES does with mail that comes for a stack."""

    #: The host that receives it.
    host: str
    #: The name of the active set of rules.
    active: str | None
    #: The domains for which the stack has a rule in it, and whether that is enabled.
    rules: Mapping[str, bool]
    #: Whether the policy of the stack's bucket lets SES write.
    may_write: bool


class ApiProbe(Protocol):
    """Requests to the API at its public address."""

    def request(
        self,
        method: str,
        path: str,
        *,
        key: str | None = None,
        body: Json = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, Json]:
        """Make a request as a client does; return the status and the JSON body."""
