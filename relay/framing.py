"""From a stream of octets to command lines and messages (RFC 5321 sections 2.3.8, 4.1.1.4, 4.5.2).

A line ends with CR LF and with nothing else. Whatever takes a bare CR or LF for
a line end, here or behind us, can be made to see two messages in one (SMTP
smuggling), so neither is passed on, nor is NUL.
"""

from typing import Final

from relay.memory import MemoryBudget

#: RFC 5321 section 4.5.3.1: octets with the CR LF.
MAX_COMMAND: Final = 512
MAX_TEXT_LINE: Final = 1_000
#: RFC 4954 section 4.
MAX_SASL_LINE: Final = 12_288

_CRLF: Final = b"\r\n"
_END: Final = b"\r\n.\r\n"


class BareControlCharacter(Exception):
    """A CR or LF stands alone, or there is a NUL: no line of SMTP."""


class LineTooLong(Exception):
    """A line is longer than RFC 5321 section 4.5.3.1 allows."""


class ContentFarTooLarge(Exception):
    """A message went on to twice the limit: whoever sends it does not listen."""


class LineBuffer:
    """Command lines, and the responses of SASL, in the order they came."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._skipping = False

    def feed(self, octets: bytes) -> None:
        """Take octets in."""
        self._buffer += octets

    def next_line(self, longest: int = MAX_COMMAND) -> bytes | None:
        """Take the next line, without its CR LF; None when none is complete.

        Raises:
            LineTooLong: it is longer than so many octets; what follows it is the next line.
            BareControl: it has a CR, LF or NUL within.
        """
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

    def remaining(self) -> bytes:
        """Take what is there, whatever it is."""
        octets = bytes(self._buffer)
        self._buffer.clear()
        return octets

    def _skip(self) -> None:
        """Drop an over-long line; of one without an end, all but what may begin its end."""
        buffer = self._buffer
        end = buffer.find(_CRLF)
        if end >= 0:
            del buffer[: end + len(_CRLF)]
            self._skipping = False
        else:
            del buffer[: len(buffer) - buffer.endswith(b"\r")]

    def _check_unfinished(self, end: int) -> None:
        """A CR at the end may still get its LF."""
        buffer = self._buffer
        if (
            buffer.find(b"\n", 0, end) >= 0
            or buffer.find(b"\0", 0, end) >= 0
            or 0 <= buffer.find(b"\r", 0, end) < end - 1
        ):
            raise BareControlCharacter


class ContentBuffer:
    """The message of one DATA command, taken in as it comes.

    Nothing here goes line by line: what must be known of the lines is counted,
    and their length is looked at in strides of a thousand octets.
    """

    def __init__(self, limit: int, memory: MemoryBudget) -> None:
        self._limit = limit + len(b".\r\n")
        self._memory = memory
        # As if the line before had just ended: a message may end at once.
        self._octets = bytearray(_CRLF)
        self._checked = len(_CRLF)
        self._total = self._held = 0
        self.too_large = self.out_of_memory = False

    def feed(self, chunk: bytes | bytearray) -> bytes | None:
        """Take octets in; give what follows the end of the message, None before it came.

        Raises:
            BareControl: the message has a bare CR, LF or NUL.
            FarTooLarge: it is at twice the limit and goes on.
        """
        octets = self._octets
        start = max(len(octets) - len(_END) + 1, 0)
        self._make_room(len(chunk))
        octets += chunk
        end = octets.find(_END, start)
        self._check(len(octets) if end < 0 else end + len(_END))
        if end < 0:
            self._total += len(chunk)
            self._bound()
            return None
        rest = bytes(memoryview(octets)[end + len(_END) :])
        self._total += len(chunk) - len(rest)
        self._bound()
        del octets[end + len(_CRLF) :]
        return rest

    def finish(self) -> bytearray:
        """The message, its dots unstuffed (RFC 5321 section 4.5.2), with CR LF at its end.

        Raises:
            LineTooLong: it has a line of more than 1,000 octets.
        """
        octets, self._octets = self._octets, bytearray()
        _check_lines(octets)
        if octets.find(b"\r\n.") >= 0:
            octets = octets.replace(b"\r\n.", _CRLF)
        del octets[: len(_CRLF)]
        return octets

    def release(self) -> None:
        """Give back the memory, once the message is where it is kept, or given up."""
        self._memory.release(self._held)
        self._held = 0
        self._octets = bytearray()

    @property
    def discarding(self) -> bool:
        """Whether the message is refused already and only its end is waited for."""
        return self.too_large or self.out_of_memory

    def _make_room(self, size: int) -> None:
        if self.discarding:
            return
        # Twice: unstuffing and handing over each make a copy for a moment.
        if self._memory.reserve(2 * size):
            self._held += 2 * size
        else:
            self.out_of_memory = True

    def _bound(self) -> None:
        if self._total > self._limit:
            self.too_large = True
        if not self.discarding:
            return
        kept = len(_END) - 1
        if len(self._octets) > kept:
            self._checked -= len(self._octets) - kept
            del self._octets[:-kept]
        self._memory.release(self._held)
        self._held = 0
        if self._total > 2 * self._limit:
            raise ContentFarTooLarge

    def _check(self, stop: int) -> None:
        """Every CR and LF up to here belongs to a CR LF; a CR at the end waits for the next."""
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
    """In strides: from the start of a line to the last line end within its longest length."""
    position, size = 0, len(octets)
    while size - position > MAX_TEXT_LINE:
        end = octets.rfind(b"\n", position, position + MAX_TEXT_LINE)
        if end < 0:
            raise LineTooLong
        position = end + 1
