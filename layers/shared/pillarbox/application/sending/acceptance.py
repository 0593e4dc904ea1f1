"""The steps that make the promise, for several mails of one account at once.

They are those of one mail in their order (`submission.py`): count, queue, record,
and whatever fails gives back what it took. Drafts are known by their position among
what was asked for; each step takes those that failed out of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from pillarbox.application.sending.single import PreparedMessage, SingleSend
from pillarbox.domain.errors import ServiceError, Unavailable
from pillarbox.domain.key import Principal
from pillarbox.domain.quota import QuotaExceeded, first_full, left

#: Others may take from the quota between being told what is left and taking it.
_QUOTA_TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Accepts drafts of one account, in few calls."""

    one: SingleSend
    principal: Principal

    def reserve(
        self, drafts: dict[int, PreparedMessage], *, anything_else: bool
    ) -> dict[int, ServiceError]:
        """Draw the quota in order; gives the refusals of those that do not fit.

        Raises:
            ServiceError: a 429 when not one fits, unless there is anything else to
                tell; `service_unavailable`.
        """
        over: dict[int, ServiceError] = {}
        limits = self.principal.limits
        for _ in range(_QUOTA_TRIES):
            if not drafts:
                return over
            now = self.one.clock()
            try:
                self.one.quotas.reserve(self._account_id, len(drafts), limits, now)
            except QuotaExceeded as refusal:
                room = left(limits, refusal.used) or 0
                if not room and not anything_else:
                    raise
                used = {window: count + room for window, count in refusal.used.items()}
                error = first_full(limits, used, 1, now) or refusal
                for position in list(drafts)[room:]:
                    over[position] = error
                    del drafts[position]
            else:
                for position, draft in drafts.items():
                    drafts[position] = replace(draft, now=now)
                return over
        raise Unavailable("quota", "The account's quota is contended; try again.")

    def queue(self, drafts: dict[int, PreparedMessage]) -> dict[int, ServiceError]:
        """Queue the jobs; gives an error for those that the queue did not take.

        Raises:
            Unavailable: it took none.
        """
        pairs = [(draft.job(), draft.mail) for draft in drafts.values()]
        try:
            refused = self.one.jobs.put_all(pairs)
        except Exception:
            self._refund(drafts.values())
            raise
        lost = {at: draft for at, draft in drafts.items() if draft.message.message_id in refused}
        self._refund(lost.values())
        error = Unavailable("queue", "The queue did not take this message.")
        if lost and len(lost) == len(drafts):
            raise error
        for position in lost:
            del drafts[position]
        return dict.fromkeys(lost, error)

    def commit(self, drafts: Mapping[int, PreparedMessage]) -> None:
        """Put the records, all or none.

        Raises:
            ServiceError: they are not there.
        """
        messages = [draft.message for draft in drafts.values()]
        try:
            self.one.messages.commit_all(messages)
        except Exception:
            ids = [message.message_id for message in messages]
            there = self.one.messages.get_all(self._account_id, ids)
            lost = [draft for draft in drafts.values() if draft.message.message_id not in there]
            if lost:
                self._refund(lost)
                raise

    @property
    def _account_id(self) -> str:
        return self.principal.account.account_id

    def _refund(self, drafts: Iterable[PreparedMessage]) -> None:
        moments = [draft.now for draft in drafts]
        if moments:
            self.one.quotas.refund(self._account_id, len(moments), moments[0])
