"""Keep what was handed over, for accounts that asked for it. The delivery never depends on it."""

from collections.abc import Callable

from pillarbox.domain.messages.message import Message


def keeping(write: Callable[[Message, bytes], None]) -> Callable[[Message, bytes], bool]:
    """Return what keeps a message that needs it, and returns False if that failed."""

    def keep(message: Message, raw: bytes) -> bool:
        if not message.keep or message.is_erased:
            return True
        try:
            write(message, raw)
        except Exception:  # noqa: BLE001  the message is sent and saved; the caller counts it
            return False
        return True

    return keep
