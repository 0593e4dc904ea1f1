"""Put all messages of accounts into the search index: those of older versions are not in it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pillarbox.application.accounts.ports import AccountRecords
from pillarbox.application.history.ports import SearchIndex
from pillarbox.application.history.search_index import index_again
from pillarbox.application.ports import MessageLog
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.messages.message import Message
from pillarbox.domain.messages.statistics import END_OF_TIME


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindex:
    """Indexes accounts. It reads every record of an account and can be repeated."""

    accounts: AccountRecords
    log: MessageLog
    index: SearchIndex

    def index_account(self, account: Account, report: Callable[[int], None]) -> int:
        """Index all messages of an account, note that, and return their number.

        `report` receives the number of messages read so far.

        Raises:
            ServiceError: `service_unavailable`; run it again.
        """
        messages = self.log.newest_first(account.account_id, 0, END_OF_TIME, account.shards)
        number = index_again(self.log, self.index, account.account_id, _counted(messages, report))
        self.accounts.set_indexed(account.account_id)
        return number


def _counted(messages: Iterable[Message], report: Callable[[int], None]) -> Iterator[Message]:
    for number, message in enumerate(messages, start=1):
        report(number)
        yield message
