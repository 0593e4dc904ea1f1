"""The order in which several pytest workers run the tests."""

from collections.abc import Hashable, Sequence


def dealt[T: Hashable](owners: Sequence[T], workers: int) -> list[int]:
    """Return the indexes of the tests in a new order, in which each worker gets equal work.

    pytest-xdist cuts the order into parts of equal length, one for each worker, and the tests of
    browsers and of the stack come first in it: one worker would have them all. So this deals out
    the files in turn, and each part begins with slow tests and ends with quick ones.

    Args:
        owners: the file of each test, or what else one worker should run as a whole.
        workers: how many workers there are.
    """
    files: dict[T, list[int]] = {}
    for index, owner in enumerate(owners):
        files.setdefault(owner, []).append(index)
    hands: list[list[int]] = [[] for _ in range(workers)]
    for indexes in files.values():
        min(hands, key=len).extend(indexes)
    # What is too long goes to the next worker, which does not begin with a part of another's start.
    return [index for hand in sorted(hands, key=len, reverse=True) for index in hand]
