"""The relay's log: the fields of a line, and what an operator sees when AWS fails."""

import io
import json
import logging
import smtplib
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from pillarbox.application.ports import DomainVerdict
from pillarbox.domain.errors import Unavailable
from pillarbox.observability import log_failure
from relay import log
from relay.service import ThreadedService
from tests.fakes.world import Fault, World
from tests.relay.running_relay import (
    MESSAGE,
    SENDER,
    TO,
    RunningRelay,
    plain,
    serve,
)

BUSY = Unavailable("data store", aws_error="ThrottlingException")


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """Collect the relay's log during a test."""
    logger = logging.getLogger("relay")
    before = (logger.handlers, logger.level, logger.propagate)
    text = io.StringIO()
    log.set_up(text)
    yield text
    logger.handlers, logger.level, logger.propagate = before
    logger.setLevel(before[1])


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def relay(world: World, stream: io.StringIO) -> Iterator[RunningRelay]:
    """Run a server over the world that logs to the stream."""
    del stream
    with serve(service=ThreadedService(lambda: world.smtp_submission)) as running:
        yield running


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def submit(relay: RunningRelay, key: str, to: str = TO) -> None:
    with relay.log_in(key) as client:
        client.sendmail(SENDER, [to], MESSAGE)


def test_the_line_of_an_accepted_message(
    relay: RunningRelay, world: World, stream: io.StringIO
) -> None:
    submit(relay, world.live)
    (line,) = lines(stream)
    assert datetime.fromisoformat(line.pop("timestamp")).utcoffset() == timedelta(0)
    assert line.pop("milliseconds") >= 0
    assert line == {
        "level": "INFO",
        "message": "accepted",
        "service": "pillarbox-relay",
        "size": len(MESSAGE),
        "recipients": 1,
        "message_id": str(world.message().message_id),
    }


def test_only_known_fields_are_written(stream: io.StringIO) -> None:
    try:
        int("a secret")
    except ValueError:
        logging.getLogger("relay").exception("text", extra={"code": "x", "body": "a secret"})
    (line,) = lines(stream)
    assert line.keys() == {"level", "message", "timestamp", "service", "code"}
    assert "secret" not in stream.getvalue()


def test_lines_below_the_level_are_not_written(stream: io.StringIO) -> None:
    logging.getLogger("relay").debug("text")
    assert stream.getvalue() == ""


def test_an_unexpected_error_has_its_type_and_place(stream: io.StringIO) -> None:
    try:
        int("a secret")
    except ValueError as error:
        log_failure(logging.getLogger("relay"), error)
    (line,) = lines(stream)
    assert (line["level"], line["error"]) == ("ERROR", "ValueError")
    assert line["raised_at"][-1].endswith("test_an_unexpected_error_has_its_type_and_place")
    assert "secret" not in stream.getvalue()


@pytest.mark.parametrize("position", range(1, 6))
def test_a_refusal_names_the_unavailable_store(
    relay: RunningRelay, world: World, stream: io.StringIO, position: int
) -> None:
    """When any call fails, the line names the store and AWS's error code."""
    world.gate.fault = Fault(position, "before", BUSY)
    with pytest.raises(smtplib.SMTPDataError):
        submit(relay, world.live)
    (line,) = lines(stream)
    assert (line["message"], line["code"]) == ("refused", "service_unavailable")
    assert (line["unavailable"], line["aws_error"]) == ("data store", "ThrottlingException")
    assert line["size"] == len(MESSAGE)


def test_a_key_that_cannot_be_read_is_logged(
    relay: RunningRelay, world: World, stream: io.StringIO
) -> None:
    """A login that fails because of AWS leaves the same fields."""
    world.gate.fault = Fault(0, "before", BUSY)
    with relay.connect_tls() as client:
        assert client.command(f"AUTH PLAIN {plain(world.live)}").startswith(b"454 ")
    (line,) = lines(stream)
    assert (line["message"], line["code"]) == ("refused", "service_unavailable")
    assert (line["unavailable"], line["aws_error"]) == ("data store", "ThrottlingException")


def test_a_wrong_key_is_not_logged(relay: RunningRelay, stream: io.StringIO) -> None:
    """A failed login is not logged, so guessing keys cannot fill the log."""
    with relay.connect_tls() as client:
        assert client.command(f"AUTH PLAIN {plain('bx_live_wrong')}").startswith(b"535 ")
    assert stream.getvalue() == ""


def test_any_other_refusal_names_its_code_only(
    relay: RunningRelay, world: World, stream: io.StringIO
) -> None:
    world.domains.verdicts["nomx.example"] = DomainVerdict.NO_MX
    with pytest.raises(smtplib.SMTPDataError):
        submit(relay, world.live, "a@nomx.example")
    (line,) = lines(stream)
    assert (line["message"], line["code"]) == ("refused", "invalid_recipient")
    assert line.keys() == {
        "level",
        "message",
        "timestamp",
        "service",
        "code",
        "size",
        "recipients",
    }
