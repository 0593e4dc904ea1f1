"""A new domain in the stand-ins gets its records, and then is verified, without anybody's help."""

import datetime as dt

import pytest

from local.ses import store
from local.ses.published import published

_DOMAIN = "acme.example"
_NAME = f"a1._pillarbox.{_DOMAIN}"
_RECORD = ['"pillarbox-account=a1"']


@pytest.mark.parametrize(
    ("seconds", "records", "verified"),
    [(11.9, [], False), (12, _RECORD, False), (23.9, _RECORD, False), (24, _RECORD, True)],
)
def test_a_new_domain(
    seconds: float, records: list[str], monkeypatch: pytest.MonkeyPatch, *, verified: bool
) -> None:
    added = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)

    class Clock(dt.datetime):
        passed = dt.timedelta(0)

        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> "Clock":
            return cls.fromtimestamp((added + cls.passed).timestamp(), tz)

    monkeypatch.setattr(store, "datetime", Clock)
    mailbox = store.MailStore()
    mailbox.publishing_takes = dt.timedelta(seconds=12)
    assert published(mailbox, _NAME, "TXT") == []
    Clock.passed = dt.timedelta(seconds=seconds)
    assert published(mailbox, _NAME, "TXT") == records
    mailbox.create_identity(_DOMAIN)
    assert mailbox.identities() == {_DOMAIN: verified}


def test_a_domain_that_is_never_verified_by_itself() -> None:
    mailbox, domain = store.MailStore(), "a.unverified.example"
    assert mailbox.set_identity_status(domain, "SUCCESS") is False
    assert published(mailbox, f"a1._pillarbox.{domain}", "TXT") == []
    assert mailbox.set_identity_status(domain, "SUCCESS")
    assert published(mailbox, f"a1._pillarbox.{domain}", "TXT") == _RECORD
    assert published(mailbox, f"a1._pillarbox.{domain}", "CNAME") == []
    assert mailbox.create_identity(domain)
