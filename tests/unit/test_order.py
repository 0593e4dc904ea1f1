"""The order in which the workers of pytest get the tests."""

from tests.order import dealt


def test_each_owner_stays_together_and_each_worker_gets_as_much() -> None:
    owners = ["a", "firefox", "a", "b", "firefox", "c", "b"]
    order = dealt(owners, 2)
    assert sorted(order) == [*range(len(owners))]
    dealt_owners = [owners[index] for index in order]
    assert dealt_owners == ["a", "a", "b", "b", "firefox", "firefox", "c"]
