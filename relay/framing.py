"""Split a stream of octets into command lines and messages (RFC 5321 2.3.8, 4.1.1.4, 4.5.2).

Only CR LF ends a line. A program that accepts a bare CR or LF as a line end, here or
downstream, can be made to see two messages in one (SMTP smuggling). So a bare CR or LF
is refused, and so is NUL.
"""

from typing import Final

from relay.memory import MessageMemory

#: RFC 5321 section 4.5.3.1: octets including CR LF.
MAX_COMMAND: Final = 512
MAX_TEXT_LINE: Final = 1_000
#: RFC 4954 section 4.
MAX_SASL_LINE: Final = 12_288

_CRLF: Final = b"\r\n"
_END_OF_CONTENT: Final = b"\r\n.\r\n"


class BareControlCharacter(Exception):
    """There is a NUL, or a CR or LF that is not part of a CR LF."""


class LineTooLong(Exception):
    """A line is longer than RFC 5321 section 4.5.3.1 allows."""


class ContentFarTooLarge(Exception):
    """A message has reached twice the limit, so its client ignores the announced SIZE."""


class LineBuffer:
    """Command lines and SASL responses, in the order of their arrival."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._skipping = False

    def feed(self, octets: bytes) -> None:
        self._buffer += octets

    def next_line(self, longest: int = MAX_COMMAND) -> bytes | None:
        """Return the next line without its CR LF, or None if no line is complete."""
        buffer = self._buffer
        if not buffer:
            return None
        if self._skipping:
            self._skip()
        end = buffer.find(_CRLF, 0, longest)
        if end < 0:
            self._check_unfinished(min(len(buffer), longest))
            if len(buffer) < longest:
                return None
            self._skipping = True
            self._skip()
            raise LineTooLong
        line = bytes(memoryview(buffer)[:end])
        del buffer[: end + len(_CRLF)]
        if b"\n" in line or b"\r" in line or b"\0" in line:
            raise BareControlCharacter
        return line

    def pop_all(self) -> bytes:
        """Remove and return all octets."""
        octets = bytes(self._buffer)
        self._buffer.clear()
        return octets

    def _skip(self) -> None:
        """Drop an overlong line. If its end has not arrived, keep a CR that may begin it."""
        buffer = self._buffer
        end = buffer.find(_CRLF)
        if end >= 0:
            del buffer[: end + len(_CRLF)]
            self._skipping = False
        else:
            del buffer[: len(buffer) - buffer.endswith(b"\r")]

    def _check_unfinished(self, end: int) -> None:
        """Check an incomplete line; its last octet may be a CR that waits for its LF."""
        buffer = self._buffer
        if (
            buffer.find(b"\n", 0, end) >= 0
            or buffer.find(b"\0", 0, end) >= 0
            or 0 <= buffer.find(b"\r", 0, end) < end - 1
        ):
            raise BareControlCharacter


class ContentBuffer:
    """The message of one DATA command while it arrives.

    Nothing is processed line by line. CR and LF are counted, and the lengths of lines are
    checked in steps of a thousand octets.
    """

    def __init__(self, limit: int, memory: MessageMemory) -> None:
        self._limit = limit + len(b".\r\n")
        self._memory = memory
        # Begin as after a line end, since a message may be empty.
        self._octets = bytearray(_CRLF)
        self._checked = len(_CRLF)
        self._total = 0
        self.too_large = self.out_of_memory = False

    def feed(self, chunk: bytes | bytearray) -> bytes | None:
        """Append received octets. Return those after the message, or None before its end."""
        octets = self._octets
        start = max(len(octets) - len(_END_OF_CONTENT) + 1, 0)
        self._reserve(len(chunk))
        octets += chunk
        end = octets.find(_END_OF_CONTENT, start)
        self._check(len(octets) if end < 0 else end + len(_END_OF_CONTENT))
        if end < 0:
            self._total += len(chunk)
            self._enforce_limit()
            return None
        rest = bytes(memoryview(octets)[end + len(_END_OF_CONTENT) :])
        self._total += len(chunk) - len(rest)
        self._enforce_limit()
        del octets[end + len(_CRLF) :]
        return rest

    def finish(self) -> bytearray:
        """Return the message, its dots unstuffed (RFC 5321 section 4.5.2), ending with CR LF."""
        self._memory.arriving = False
        octets, self._octets = self._octets, bytearray()
        if octets.find(b"\r\n.") >= 0:
            octets = octets.replace(b"\r\n.", _CRLF)
        _check_lines(octets)
        del octets[: len(_CRLF)]
        return octets

    def release(self) -> None:
        """Release the memory after the message has been handed over or dropped."""
        self._memory.release()
        self._octets = bytearray()

    @property
    def discarding(self) -> bool:
        """Whether the message is refused already and is only read to its end."""
        return self.too_large or self.out_of_memory

    def _reserve(self, size: int) -> None:
        if self.discarding:
            return
        # Twice the size, since unstuffing and handing over each make a short-lived copy.
        self.out_of_memory = not self._memory.reserve(2 * size)

    def _enforce_limit(self) -> None:
        if self._total > self._limit:
            self.too_large = True
        if not self.discarding:
            return
        kept = len(_END_OF_CONTENT) - 1
        if len(self._octets) > kept:
            self._checked -= len(self._octets) - kept
            del self._octets[:-kept]
        self._memory.release()
        if self._total > 2 * self._limit:
            raise ContentFarTooLarge

    def _check(self, stop: int) -> None:
        """Check that each CR and LF is part of a CR LF. A CR at the end is checked later."""
        octets, start = self._octets, self._checked
        if octets[stop - 1] == _CRLF[0]:
            stop -= 1
        pairs = octets.count(_CRLF, start, stop)
        if (
            octets.count(b"\n", start, stop) != pairs
            or octets.count(b"\r", start, stop) != pairs
            or octets.find(b"\0", start, stop) >= 0
        ):
            raise BareControlCharacter
        self._checked = stop


def _check_lines(octets: bytearray) -> None:
    """Check line lengths in steps: from a line's start to the last line end within the limit."""
    position, size = 0, len(octets)
    while size - position > MAX_TEXT_LINE:
        end = octets.rfind(b"\n", position, position + MAX_TEXT_LINE)
        if end < 0:
            raise LineTooLong
        position = end + 1
