"""The emails about passkeys: invocations of `mail_code` with an event of their own."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from pillarbox.adapters.rows import MILLISECONDS, Row, one_of
from pillarbox.domain.sign_in.passkey_notice import PasskeyChange, PasskeyNotice

_VERSION: Final = 1
_NOTICE: Final = Row(
    PasskeyNotice,
    *("address", "name"),
    notice_id="notice",
    change=("change", one_of(PasskeyChange)),
    at=("at", MILLISECONDS),
)


class LambdaPasskeyNotices:
    """Implements `sign_in.ports.PasskeyNotices`."""

    def __init__(self, invoke: Callable[[Mapping[str, Any]], None]) -> None:
        """Store what invokes the function."""
        self._invoke = invoke

    def put(self, notice: PasskeyNotice) -> None:
        """Invoke the function with a notice."""
        self._invoke({"version": _VERSION, **_NOTICE.write(notice)})


def read_notice(event: Mapping[str, Any]) -> PasskeyNotice:
    """Read what `LambdaPasskeyNotices` wrote.

    Raises:
        KeyError, TypeError, ValueError: it is not a notice of a version that this worker knows.
    """
    if event["version"] != _VERSION:
        raise ValueError("the notice has another version")
    return _NOTICE.read(event)
