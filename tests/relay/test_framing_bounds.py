"""Lines and messages at the exact octet of each limit, and what a buffer keeps of them."""

import pytest

from relay.framing import (
    BareControlCharacter,
    ContentBuffer,
    ContentFarTooLarge,
    LineBuffer,
    LineTooLong,
)
from relay.limits import ServerLimits
from relay.memory import MemoryBudget
from tests.loops import for_each

END = b"\r\n.\r\n"


def content_of(limit: int = 10**6, ceiling: int = 10**8) -> tuple[ContentBuffer, MemoryBudget]:
    budget = MemoryBudget(ServerLimits(memory=ceiling, message_size=ceiling))
    return ContentBuffer(limit, budget.begin("account", "192.0.2.1", lambda: None)), budget


def lines_of(octets: bytes) -> LineBuffer:
    lines = LineBuffer()
    lines.feed(octets)
    return lines


# --- command lines ------------------------------------------------------------------------------


@pytest.mark.parametrize("longest", [5, 512])
def test_the_longest_line(longest: int) -> None:
    """A line may have the limit with its CR LF; one octet more is too long."""
    assert lines_of(b"x" * (longest - 2) + b"\r\n").next_line(longest) == b"x" * (longest - 2)
    lines = lines_of(b"x" * (longest - 1) + b"\r\nNOOP\r\n")
    with pytest.raises(LineTooLong):
        lines.next_line(longest)
    assert lines.next_line(6) == b"NOOP"
    assert lines.next_line(6) is None


def test_an_unfinished_line_is_refused_at_the_limit() -> None:
    lines = lines_of(b"1234")
    assert lines.next_line(5) is None
    lines.feed(b"5")
    with pytest.raises(LineTooLong):
        lines.next_line(5)
    assert lines.pop_all() == b""


def test_an_overlong_line_is_skipped_in_pieces() -> None:
    """Nothing of an overlong line is kept except a CR, whose LF may follow in the next piece."""
    lines = lines_of(b"123456")
    with pytest.raises(LineTooLong):
        lines.next_line(5)
    for piece in (b"more", b"and\r", b"\nNOOP"):
        lines.feed(piece)
        assert lines.next_line(5) is None
        assert piece.endswith(b"NOOP") or lines._buffer == piece[len(piece.rstrip(b"\r")) :]
    lines.feed(b"\r")
    with pytest.raises(LineTooLong):
        lines.next_line(5)
    lines.feed(b"\nRSET\r\n")
    assert lines.next_line(6) == b"RSET"


@for_each(
    "octets",
    [b"\n", b"\0", b"\r\r", b"\rx", b"a\n", b"a\0", b"a\rb", b"abc\n", b"abc\0", b"\nx", b"a\0b"],
)
def test_a_bare_control_is_seen_before_the_end_of_its_line(octets: bytes) -> None:
    """A bare control is refused at once; a CR at the end of what has arrived may get its LF."""
    with pytest.raises(BareControlCharacter):
        lines_of(octets).next_line(10)


def test_controls_after_the_limit_belong_to_the_skipped_line() -> None:
    for octets in (b"12345\n", b"12345\0", b"12345\rx", b"1234\rx"):
        with pytest.raises(LineTooLong):
            lines_of(octets).next_line(5)


# --- messages -----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [3, 50])
def test_the_size_of_a_message(size: int) -> None:
    """A message may have as many octets as the limit, not counting its final dot."""
    message = b"x" * (size - 2) + b"\r\n"
    for octets, too_large in ((message, False), (b"x" + message, True)):
        content, budget = content_of(size)
        assert content.feed(octets + b".\r\nNOOP") == b"NOOP"
        assert (content.too_large, content.discarding) == (too_large, too_large)
        assert (budget.used == 0) == too_large


def test_an_unfinished_message_over_the_limit() -> None:
    content, budget = content_of(10)
    assert content.feed(b"x" * 13) is None
    assert not content.too_large
    assert budget.used == 26
    assert content.feed(b"x") is None
    assert content.too_large
    assert budget.used == 0
    assert content.feed(b"x" * 12) is None
    with pytest.raises(ContentFarTooLarge):
        content.feed(b"x")


def test_a_discarded_message_keeps_four_octets() -> None:
    content, _ = content_of(10)
    content.feed(b"x" * 20)
    assert bytes(content._octets) == b"xxxx"
    for piece in (b"\r", b"\n.", b"\r"):
        assert content.feed(piece) is None
        assert len(content._octets) == 4
    assert content.feed(b"\nNOOP") == b"NOOP"


@pytest.mark.parametrize("size", range(44, 52))
@pytest.mark.parametrize("last", [b"x", b"\r\n", b"\r\nx", b"\r\nxx", b"\r\nxxx"])
def test_a_discarded_message_is_checked_to_its_end(size: int, last: bytes) -> None:
    for piece in (b"y", b"\r\n", b"yyy\r\nyy"):
        for bare in (b"\n", b"\ny\r\n", b"\0" + b"y" * 9, b"yyyy\n", b"\ry"):
            content, _ = content_of(40)
            assert content.feed(b"x" * size + last) is None
            assert content.too_large
            assert content.feed(piece) is None
            with pytest.raises(BareControlCharacter):
                content.feed(bare)
        content, _ = content_of(40)
        content.feed(b"x" * size + last)
        content.feed(piece)
        assert content.feed(END + b"NOOP") == b"NOOP"


def test_a_message_without_memory_is_checked_from_its_first_octet() -> None:
    for bare in (b"\n", b"\0", b"\ry"):
        content, _ = content_of(ceiling=1)
        assert content.feed(b"x") is None
        assert content.out_of_memory
        with pytest.raises(BareControlCharacter):
            content.feed(bare)


@pytest.mark.parametrize("complete", [False, True])
def test_a_complete_message_does_not_give_way(complete: bool) -> None:  # noqa: FBT001
    now, disconnected = [0.0], list[str]()
    limits = ServerLimits(memory=200, message_size=100)
    budget = MemoryBudget(limits, lambda: now[0])
    slow = ContentBuffer(100, budget.begin("a", "192.0.2.1", lambda: disconnected.append("slow")))
    assert slow.feed(b"x" * 70 + b"\r\n.\r\n") == b""
    if complete:
        slow.finish()
    now[0] = 1_000.0
    fast = ContentBuffer(100, budget.begin("b", "192.0.2.2", lambda: None))
    fast.feed(b"y" * 70)
    assert (fast.out_of_memory, disconnected) == ((True, []) if complete else (False, ["slow"]))


def test_memory_of_a_message() -> None:
    content, budget = content_of(ceiling=100)
    content.feed(b"x" * 50)
    assert (budget.used, content.out_of_memory) == (100, False)
    content.feed(b"x")
    assert (budget.used, content.out_of_memory, content.too_large) == (0, True, False)
    assert content.discarding
    content.feed(b"x")
    assert budget.used == 0
    assert content.feed(END + b"QUIT") == b"QUIT"


@pytest.mark.parametrize("line", [998, 999])
@pytest.mark.parametrize("before", [b"", b"a\r\n", b"b" * 998 + b"\r\n", b"c" * 500 + b"\r\n"])
def test_lines_of_a_message(before: bytes, line: int) -> None:
    """A line may have 998 octets without its CR LF, as the first, the last or in between."""
    for after in (b"", b"d\r\n", b"e" * 998 + b"\r\n"):
        content, _ = content_of()
        message = before + b"x" * line + b"\r\n" + after
        assert content.feed(message + b".\r\n") == b""
        if line == 998:
            assert content.finish() == message
        else:
            with pytest.raises(LineTooLong):
                content.finish()


@pytest.mark.parametrize("line", [998, 999])
def test_a_stuffed_dot_does_not_count(line: int) -> None:
    """The dot that a client adds is not one of the 998 octets (RFC 5321 section 4.5.3.1.6)."""
    message = b"." + b"x" * (line - 1) + b"\r\n"
    for sent in (b"." + message, b"a\r\n." + message + b"..b\r\n"):
        content, _ = content_of()
        assert content.feed(sent + b".\r\n") == b""
        if line == 998:
            assert message in content.finish()
        else:
            with pytest.raises(LineTooLong):
                content.finish()


def test_a_released_message_keeps_nothing() -> None:
    content, budget = content_of()
    content.feed(b"x" * 50)
    content.release()
    assert (budget.used, bytes(content._octets)) == (0, b"")
