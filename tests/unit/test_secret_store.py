"""The edge's secret, as functions remember it."""

from datetime import UTC, datetime, timedelta

from pillarbox.adapters.secret_store import EdgeSecret
from pillarbox.domain.errors import Unavailable
from tests.refusals import refusal


def test_a_rotation_is_followed_within_a_minute() -> None:
    """A new secret is known within a minute, and the old one means nothing after ten."""
    stored, reads, now = ["old"], list[str](), datetime(2026, 7, 22, tzinfo=UTC)

    def read(name: str) -> str:
        reads.append(name)
        return " ".join(stored)

    secret = EdgeSecret("arn", lambda: now, read)
    assert [secret.is_sent(text) for text in ("old", "new", "")] == [True, False, False]
    stored[:] = ["old", "new"]
    assert not secret.is_sent("new")
    now += timedelta(minutes=1)
    assert [secret.is_sent(text) for text in ("old", "new")] == [True, True]
    stored[:] = ["new"]
    now += timedelta(minutes=9)
    assert secret.is_sent("new")
    now += timedelta(minutes=1)
    assert [secret.is_sent(text) for text in ("old", "new")] == [False, True]
    assert reads == ["arn"] * 3


def test_an_outage_refuses_nobody_who_has_the_known_secret() -> None:
    works, now = [True], datetime(2026, 7, 22, tzinfo=UTC)

    def read(_: str) -> str:
        if not works[0]:
            raise Unavailable("secret store", aws_error="Throttling")
        return "known"

    secret = EdgeSecret("arn", lambda: now, read)
    assert secret.is_sent("known")
    works[0] = False
    now += timedelta(hours=1)
    assert secret.is_sent("known")
    assert refusal(secret.is_sent, "other").code == "service_unavailable"


def test_without_an_edge_no_secret_is_read() -> None:
    assert not EdgeSecret("", lambda: datetime.now(UTC), lambda name: name).is_sent("x")
