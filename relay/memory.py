"""The memory that messages in transit may take, all connections together."""


class MemoryBudget:
    """A count of octets with a ceiling: refused in time, instead of killed by the system."""

    def __init__(self, ceiling: int) -> None:
        self._ceiling = ceiling
        self._used = 0

    def has_room(self, size: int) -> bool:
        """Whether so many octets would fit now."""
        return self._used + size <= self._ceiling

    def reserve(self, size: int) -> bool:
        """Count octets in, or give False and count nothing."""
        if not self.has_room(size):
            return False
        self._used += size
        return True

    def release(self, size: int) -> None:
        """Count octets out again."""
        self._used -= size
