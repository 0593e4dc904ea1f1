"""Fuzzing of the relay's framing and of the MIME parser, led by coverage (atheris).

    .uv/bin/uv run --with atheris python -m tests.fuzz.fuzz_relay -max_total_time=60

Only the errors that the parsers document may come out of them, and a message must be the
same in whatever pieces it comes.
"""

import contextlib
import sys

# Wanted by this script alone: `uv run --with` brings it along.
import atheris  # type: ignore[import-not-found,import-untyped,unused-ignore]

with atheris.instrument_imports(include=["relay", "pillarbox"]):
    from pillarbox.domain.errors import ServiceError
    from pillarbox.mime.parse import decoded_size, first_octets, parse
    from relay import framing
    from relay.memory import Memory

_ROOM = 10**8
_REFUSALS = (framing.BareControl, framing.LineTooLong, framing.FarTooLarge)


def message_of(octets: bytes, step: int) -> tuple[type[Exception] | None, bytes | None]:
    """What a message comes to that comes in pieces of a size: its refusal, or its octets."""
    content = framing.Content(10**6, Memory(_ROOM))
    try:
        for start in range(0, len(octets), step):
            if content.feed(octets[start : start + step]) is not None:
                return None, bytes(content.take())
    except _REFUSALS as refusal:
        return type(refusal), None
    finally:
        content.release()
    return None, None


def check_lines(octets: bytes, step: int) -> None:
    """Take commands as they come, until one is refused."""
    lines = framing.Lines()
    with contextlib.suppress(*_REFUSALS):
        for start in range(0, len(octets), step):
            lines.feed(octets[start : start + step])
            while (line := lines.take()) is not None:
                assert not {0, 10, 13} & set(line), "a line has no control that could end it"


def check_message(octets: bytes) -> None:
    """Parse a message, and decode every part of it."""
    with contextlib.suppress(ServiceError):
        for part in parse(octets).parts:
            assert 0 <= part.start <= part.end <= len(octets), "a part lies in its message"
            assert decoded_size(octets, part) <= len(octets), "decoding makes nothing larger"
            first_octets(octets, part)


def check(octets: bytes) -> None:
    """Check one input; its first octet says how it is cut."""
    if not octets:
        return
    step, octets = octets[0] % 16 + 1, octets[1:]
    check_lines(octets, step)
    refused, message = message_of(octets, step)
    whole = message_of(octets, len(octets) + 1)
    if refused is None and message is not None and whole[0] is None:
        assert whole[1] == message, "a message is the same in whatever pieces"
    check_message(octets)


if __name__ == "__main__":
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()
