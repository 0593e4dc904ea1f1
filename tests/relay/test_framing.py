"""Lines and messages, however they are split, compared with a reader that works octet by octet."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay import commands, sasl
from relay.framing import (
    BareControlCharacter,
    ContentBuffer,
    ContentFarTooLarge,
    LineBuffer,
    LineTooLong,
)
from relay.limits import ServerLimits
from relay.memory import MemoryBudget, MessageMemory
from relay.proxy import ProxyHeaderError, read_header

PIECES = st.lists(
    st.sampled_from([b"\r", b"\n", b"\r\n", b".", b"..", b"\r\n.\r\n", b"\0", b"a", b"x" * 999])
    | st.binary(max_size=5),
    max_size=30,
)


def end_of(octets: bytes) -> int | None:
    """Return the length of a message, read octet by octet; raise at the first invalid octet."""
    line = b""
    for position, octet in enumerate(octets):
        line += bytes((octet,))
        if octet == 0:
            raise BareControlCharacter
        if line.endswith(b"\n"):
            if not line.endswith(b"\r\n"):
                raise BareControlCharacter
            if line == b".\r\n":
                return position + 1
            line = b""
        elif line[-2:-1] == b"\r":
            raise BareControlCharacter
    return None


def memory_of(ceiling: int) -> MessageMemory:
    budget = MemoryBudget(ServerLimits(memory=ceiling))
    return budget.begin("account", "192.0.2.1", lambda: None)


def feed(content: ContentBuffer, octets: bytes, step: int) -> None:
    """Feed octets in pieces of `step` octets."""
    for start in range(0, len(octets), step):
        content.feed(octets[start : start + step])


def message_of(octets: bytes) -> bytes:
    """Return a message's lines without the final dot, their dots unstuffed.

    RFC 5321 section 4.5.3.1.6: a line has at most 998 octets, not counting the dot that the client
    added.
    """
    lines = [line.removeprefix(b".") for line in octets.split(b"\r\n")[:-2]]
    if any(len(line) > 998 for line in lines):
        raise LineTooLong
    return b"".join(line + b"\r\n" for line in lines)


@given(PIECES, st.integers(1, 7))
def test_messages(pieces: list[bytes], step: int) -> None:
    """A message ends at the same octet, or is refused, however it is split."""
    octets = b"".join(pieces)
    content = ContentBuffer(10**6, memory_of(10**8))
    try:
        end = end_of(octets)
    except BareControlCharacter:
        # A final CR may still get its LF, so one more octet follows.
        with pytest.raises(BareControlCharacter):
            feed(content, octets + b"x", step)
        return
    rest = None
    for start in range(0, len(octets), step):
        rest = content.feed(octets[start : start + step])
        if rest is not None:
            assert rest == octets[end : start + step]
            break
    assert (rest is None) == (end is None)
    if end is not None:
        try:
            expected = message_of(octets[:end])
        except LineTooLong:
            with pytest.raises(LineTooLong):
                content.finish()
            return
        assert content.finish() == expected


@given(PIECES, st.integers(1, 7), st.integers(0, 2))
def test_refused_messages_end_in_the_same_place(pieces: list[bytes], step: int, limit: int) -> None:
    octets = b"".join(pieces)
    memory = memory_of(limit)
    small, large = ContentBuffer(limit, memory), ContentBuffer(10**6, memory_of(10**8))
    ends: list[object] = []
    for content in (small, large):
        end: object = None
        for start in range(0, len(octets), step):
            try:
                rest = content.feed(octets[start : start + step])
            except (BareControlCharacter, ContentFarTooLarge) as error:
                end = type(error)
                break
            if rest is not None:
                end = start + step - len(rest)
                break
        ends.append(end)
    small.release()
    assert memory.size == 0
    assert ends[0] in {ends[1], ContentFarTooLarge}


@given(PIECES, st.integers(1, 600))
def test_command_lines(pieces: list[bytes], step: int) -> None:
    """Lines come out as sent, however they are split; a bare control ends them."""
    octets = b"".join(pieces) + b"\r\n"
    results: list[list[object]] = []
    for size in (step, len(octets)):
        lines, outcomes = LineBuffer(), []
        for start in range(0, len(octets), size):
            lines.feed(octets[start : start + size])
            outcomes += drain(lines)
            if BareControlCharacter in outcomes:
                break
        results.append(outcomes)
    if BareControlCharacter not in results[0] + results[1]:
        expected = [line if len(line) < 511 else LineTooLong for line in octets.split(b"\r\n")[:-1]]
        assert results[0] == results[1] == expected


def drain(lines: LineBuffer) -> list[object]:
    outcomes: list[object] = []
    while True:
        try:
            line = lines.next_line()
        except LineTooLong:
            outcomes.append(LineTooLong)
            continue
        except BareControlCharacter:
            return [*outcomes, BareControlCharacter]
        if line is None:
            return outcomes
        outcomes.append(line)


WORDS = st.lists(
    st.sampled_from([b"FROM:<", b"TO:<", b"a@b.example", b">", b" ", b"SIZE=", b"9", b"BODY="])
    | st.binary(max_size=6),
    max_size=10,
).map(b"".join)


@given(WORDS)
def test_any_argument_is_parsed_or_rejected(argument: bytes) -> None:
    commands.parse_command(argument)
    for parse in (commands.parse_mail, commands.parse_rcpt, commands.check_host):
        try:
            parsed = parse(argument)
        except commands.CommandRejected:
            continue
        if isinstance(parsed, str):
            assert parsed.count("@") == 1


@given(st.binary(max_size=60), st.sampled_from([sasl.plain, sasl.login]))
def test_any_response_is_parsed_or_rejected(response: bytes, mechanism: sasl.Exchange) -> None:
    exchange = mechanism(response)  # type: ignore[operator]
    with contextlib.suppress(StopIteration, sasl.BadResponse, sasl.ExchangeCancelled):
        next(exchange)
        exchange.send(response)


@given(st.binary(max_size=60) | st.binary(max_size=40).map(lambda b: b"\r\n\r\n\0\r\nQUIT\n" + b))
def test_any_proxy_header_is_parsed_or_rejected(octets: bytes) -> None:
    try:
        header = read_header(octets)
    except ProxyHeaderError:
        return
    assert header is None or octets.endswith(header.rest)
