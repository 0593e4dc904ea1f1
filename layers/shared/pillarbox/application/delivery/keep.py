"""Keep what is handed over, for accounts that asked for it. The delivery never depends on it."""

from collections.abc import Callable

from pillarbox.domain.errors import Unavailable
from pillarbox.domain.messages.message import Message


def keeping(write: Callable[[Message, bytes], None]) -> Callable[[Message, bytes], str | None]:
    """Return what keeps a message that needs it, and returns why that failed, for the log."""

    def keep(message: Message, raw: bytes) -> str | None:
        if not message.keep or message.unkept or message.is_erased:
            return None
        try:
            write(message, raw)
        except Exception as error:  # noqa: BLE001  the message is sent all the same; the caller logs it
            said = error.aws_error if isinstance(error, Unavailable) else None
            return said or type(error).__name__
        return None

    return keep
