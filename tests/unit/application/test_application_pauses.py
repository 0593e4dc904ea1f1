"""Setting and ending pauses: nothing is lost if two do it at the same time."""

from datetime import timedelta
from unittest import mock

from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.application.pauses import Pauses
from pillarbox.domain.accounts.pause import Pause, PauseCause, PauseLevel, PauseScope
from tests.fakes.builders import ACCOUNT, NOW, account
from tests.fakes.memory_tables import MemoryTable
from tests.refusals import refusal

STOP = Pause(
    scope=PauseScope.KEY,
    id="key_1",
    level=PauseLevel.STOP,
    cause=PauseCause.BOUNCES,
    since=NOW,
    until=NOW + timedelta(days=1),
    counts_from=NOW,
    stopped_before=NOW,
    owner_resumed=NOW,
)
PROVIDER = Pause(
    scope=PauseScope.ACCOUNT, level=PauseLevel.STOP, cause=PauseCause.PROVIDER, since=NOW
)


def stored() -> DynamoAccounts:
    accounts = DynamoAccounts(MemoryTable("table"))
    accounts.add(account(pauses=(PROVIDER,)))
    return accounts


def test_pauses_are_stored_as_they_were() -> None:
    """Every field is read back, and the pause of another key stays."""
    accounts = stored()
    Pauses(accounts).put(ACCOUNT, STOP)
    read = accounts.get(ACCOUNT)
    assert read
    assert read.pauses == (PROVIDER, STOP)
    Pauses(accounts).remove(ACCOUNT, PROVIDER.key)
    Pauses(accounts).remove(ACCOUNT, STOP.key)
    assert accounts.get(ACCOUNT) == account()
    assert Pauses(accounts).put("unknown", STOP) is None


def test_a_change_in_between_is_kept() -> None:
    """If another pause is stored between the read and the write, both stay."""
    accounts = stored()
    late = mock.Mock(wraps=accounts)
    late.get.side_effect = [accounts.get(ACCOUNT), mock.DEFAULT]
    Pauses(accounts).put(ACCOUNT, STOP)
    other = Pause(scope=PauseScope.ACCOUNT, level=PauseLevel.WARN, cause=STOP.cause, since=NOW)
    Pauses(late).put(ACCOUNT, other)
    read = accounts.get(ACCOUNT)
    assert read
    assert {one.key for one in read.pauses} == {PROVIDER.key, STOP.key, other.key}
    late.get.side_effect = lambda _: account()
    assert refusal(Pauses(late).put, ACCOUNT, STOP).code == "service_unavailable"


def test_no_difference_is_not_written() -> None:
    """A pause that is stored already costs no write."""
    accounts = mock.Mock(wraps=stored())
    Pauses(accounts).put(ACCOUNT, PROVIDER)
    Pauses(accounts).remove(ACCOUNT, STOP.key)
    accounts.set_pauses.assert_not_called()
