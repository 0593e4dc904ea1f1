"""Keys move to `Credentials` while requests, revocations and other runs go on.

The tests let something happen before and after each call that the migration makes. An older release
of the command knows the first table only.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Final

import pytest

from admin.aws.key_migration import DynamoFormerKeys
from admin.use_cases.key_migration import KeyMigration, MigrationResult
from pillarbox.adapters.dynamodb import keys, records
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.accounts.api_keys import DynamoApiKeys
from pillarbox.adapters.dynamodb.accounts.directory import DynamoDirectory
from pillarbox.adapters.dynamodb.table import ConditionFailed
from pillarbox.application.authentication import Authentication
from pillarbox.domain.accounts.key import digest_of_key
from pillarbox.domain.errors import ServiceError
from tests.fakes.builders import ACCOUNT, NOW, account, api_key, key_text
from tests.fakes.quick_tables import QuickTables

NEW_ACCOUNT: Final = "acct00000002"
LATER: Final = NOW + timedelta(hours=1)


class Interrupted(Exception):
    """The process ends."""


class Stack:
    """An account of an older release, with a valid and a revoked key, and a new account."""

    def __init__(self) -> None:
        self.tables = QuickTables()
        table, credentials = self.tables.table, self.tables.credentials
        self.older_command = DynamoApiKeys(table, table)
        self.command = DynamoApiKeys(credentials, table)
        DynamoAccounts(table, keys_moved=False).add(account())
        DynamoAccounts(table).add(account(NEW_ACCOUNT))
        self.valid, self.revoked, self.new = key_text(), key_text(), key_text(NEW_ACCOUNT)
        self.older_command.add(api_key(self.valid, key_id="key_valid"))
        self.older_command.add(api_key(self.revoked, key_id="key_revoked", revoked_at=NOW))
        self.command.add(api_key(self.new, NEW_ACCOUNT))
        self.created: list[str] = []

    def migrate(self, pause: Callable[[float], None] = lambda _: None) -> MigrationResult:
        records_ = DynamoFormerKeys(self.tables.table, self.tables.credentials)
        return KeyMigration(records=records_, pause=pause).run(lambda _: None)

    def accepts(self, key: str) -> bool:
        directory = DynamoDirectory(self.tables.table, self.tables.credentials)
        try:
            Authentication(directory).authenticate(key)
        except ServiceError:
            return False
        return True

    def check(self) -> None:
        """Each key that is valid works, and the revoked one does not."""
        assert self.accepts(self.valid)
        assert self.accepts(self.new)
        assert all(map(self.accepts, self.created))
        assert not self.accepts(self.revoked)

    def check_moved(self) -> None:
        """Every key is in `Credentials` only, and a key that does not exist costs two items."""
        for key in (self.valid, self.revoked):
            place = keys.api_key(digest_of_key(key))
            assert self.tables.table.get(place) is None
            assert self.tables.credentials.get(place) is not None
        assert [*self.tables.table.query(keys.key_list(ACCOUNT))] == []
        assert {key.key_id for key in self.command.of_account(ACCOUNT)} >= {
            "key_valid",
            "key_revoked",
        }
        with self.at_each_call(lambda _: None) as calls:
            assert not self.accepts(key_text())
        assert set(calls) == {"batch_get_item"}

    @contextmanager
    def at_each_call(self, happen: Callable[[int], None]) -> Iterator[list[str]]:
        """Let something happen before and after each call, which itself is not disturbed."""
        steps: list[str] = []

        def step(operation: str) -> None:
            steps.append(operation)
            self.tables.step = lambda _: None
            happen(len(steps))
            self.tables.step = step

        self.tables.step = step
        try:
            yield steps
        finally:
            self.tables.step = lambda _: None


def number_of_steps() -> int:
    stack = Stack()
    with stack.at_each_call(lambda _: None) as steps:
        stack.migrate()
    return len(steps)


STEPS: Final = number_of_steps()


def interrupt_at(number: int) -> Callable[[int], None]:
    def happen(step: int) -> None:
        if step == number:
            raise Interrupted

    return happen


def migrate_until(stack: Stack, number: int) -> None:
    """Run the migration up to one of its steps, where its process ends."""
    with stack.at_each_call(interrupt_at(number)), pytest.raises(Interrupted):
        stack.migrate()


def test_no_key_changes_while_it_moves() -> None:
    """Before and after each call, valid keys work, also new ones, and the revoked one does not."""
    stack = Stack()

    def happen(step: int) -> None:
        text = key_text()
        stack.command.add(api_key(text, key_id=f"key_{step}"))
        stack.created.append(text)
        stack.check()

    with stack.at_each_call(happen):
        assert stack.migrate() == MigrationResult(moved_keys=2, marked_accounts=1)
    assert len(stack.created) == STEPS > 30
    stack.check()
    stack.check_moved()


def test_a_second_run_changes_nothing() -> None:
    """A repeated migration moves no key, marks no account, and does not wait."""
    stack = Stack()
    stack.migrate()
    assert stack.migrate(_end_of_run) == MigrationResult(moved_keys=0, marked_accounts=0)
    stack.check_moved()


def test_an_interrupted_run_goes_on() -> None:
    """Whenever the process ends, keys work, and the next run moves the rest."""
    for step in range(1, STEPS + 1):
        stack = Stack()
        migrate_until(stack, step)
        stack.check()
        stack.migrate()
        stack.check()
        stack.check_moved()


@pytest.mark.parametrize("older", [True, False])
def test_a_revocation_at_any_moment_stays(*, older: bool) -> None:
    """A key that is revoked at any step is refused at each later one, and after a second run.

    The older command fails, once the key has moved.
    """
    refused = 0
    for at in range(1, STEPS + 1):
        stack = Stack()

        def happen(step: int, stack: Stack = stack, at: int = at) -> None:
            if step == at:
                try:
                    command = stack.older_command if older else stack.command
                    done = command.revoke(ACCOUNT, "key_valid", LATER)
                except ConditionFailed:
                    done = None
                if done is None:
                    nonlocal refused
                    refused += 1
                    assert stack.command.revoke(ACCOUNT, "key_valid", LATER) is not None
            assert stack.accepts(stack.valid) is (step < at)

        with stack.at_each_call(happen):
            stack.migrate()
        stack.migrate()
        assert not stack.accepts(stack.valid)
        stack.check_moved()
    assert (0 < refused < STEPS) is older


def test_a_request_may_begin_and_end_at_any_moment() -> None:
    """A request that reads a part at one step of the migration and the rest at another is accepted.

    It may take any time, except that its first read ends before the wait of the migration.
    """
    for first in range(1, STEPS, 2):
        for reading in range(1, 8):
            stack = Stack()
            migrate_until(stack, first)

            def happen(step: int, stack: Stack = stack, reading: int = reading) -> None:
                if step == reading:
                    # Steps 1 and 2 are before the first read ends.
                    with suppress(Interrupted):
                        stack.migrate(_end_of_run if step <= 2 else _go_on)

            with stack.at_each_call(happen):
                assert stack.accepts(stack.valid), (first, reading)


def _end_of_run(_: float) -> None:
    raise Interrupted


def _go_on(_: float) -> None:
    """The wait is over."""


def test_a_list_has_every_key_at_any_moment() -> None:
    """A list that the operator reads while keys move has each key once, as it was."""
    for reading in range(1, 7):
        stack = Stack()

        def happen(step: int, stack: Stack = stack, reading: int = reading) -> None:
            if step == reading:
                stack.migrate()

        with stack.at_each_call(happen) as steps:
            listed = [*stack.command.of_account(ACCOUNT)]
        assert len(steps) >= reading
        assert sorted((key.key_id, key.revoked_at) for key in listed) == [
            ("key_revoked", NOW),
            ("key_valid", None),
        ]


def test_two_runs_at_once_undo_no_revocation() -> None:
    """A run that was stopped at any step, and goes on after another one, revives no key."""
    for at in range(1, STEPS + 1):
        stack = Stack()

        def happen(step: int, stack: Stack = stack, at: int = at) -> None:
            if step == at:
                stack.migrate()
                assert stack.command.revoke(ACCOUNT, "key_valid", LATER) is not None

        with stack.at_each_call(happen):
            stack.migrate()
        assert not stack.accepts(stack.valid)
        stack.check_moved()


def test_a_copy_that_differs_stops_the_run() -> None:
    """The migration deletes no key whose copy says something else."""
    stack = Stack()
    wrong = api_key(stack.valid, key_id="key_valid", name="other")
    stack.tables.credentials.put(records.key_item(wrong))
    with pytest.raises(ServiceError, match="The copy of key key_valid differs"):
        stack.migrate()
    assert stack.accepts(stack.valid)


def test_a_key_of_an_older_command_is_reported() -> None:
    """A key that an older command creates during the wait is named, and the next run moves it."""
    stack = Stack()
    late = key_text()
    with pytest.raises(ServiceError, match="created 1 keys meanwhile"):
        stack.migrate(lambda _: stack.older_command.add(api_key(late)))
    stack.migrate()
    assert stack.accepts(late)


def test_an_account_that_is_deleted_meanwhile_stays_deleted() -> None:
    """The mark creates no account."""
    stack = Stack()
    stack.migrate(lambda _: stack.tables.table.delete(keys.account(ACCOUNT)))
    assert stack.tables.table.get(keys.account(ACCOUNT)) is None
