"""Secrets and signatures of webhooks: Standard Webhooks 1.0.0."""

import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from pillarbox.domain.webhooks.endpoint import (
    WebhookSecret,
    in_force,
    new_secret,
    rotated,
    sign,
    signed_headers,
)
from tests.fakes.builders import NOW

MAX_SECRETS = 4
ROTATION = timedelta(hours=24)

EVENT_ID = UUID("5f2b7c1e-93f4-5f0a-8d55-0c7c1f3a9b7e")
BODY = b'{"type":"webhook.test"}'
SECOND = timedelta(seconds=1)


def test_a_signature_is_that_of_the_specification() -> None:
    signature = sign(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "1614265330",
        b'{"test": 2432232314}',
    )
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_secret_is_32_random_bytes() -> None:
    """A secret has the documented form, no two are equal, and its text is in no log."""
    first, second = new_secret(NOW), new_secret(NOW)
    assert first.text.startswith("whsec_")
    assert len(base64.b64decode(first.text.removeprefix("whsec_"), validate=True)) == 32
    assert first.text != second.text
    assert first.text not in repr(first)
    assert (first.created_at, first.expires_at) == (NOW, None)


def test_a_library_accepts_the_headers() -> None:
    """The receiver's library verifies a post, and refuses another body and another secret."""
    now = datetime.now(UTC)
    secret = new_secret(now)
    headers = dict(signed_headers(EVENT_ID, BODY, [secret], now))
    assert headers["webhook-id"] == str(EVENT_ID)
    assert Webhook(secret.text).verify(BODY, headers) == {"type": "webhook.test"}
    for other, body in ((secret, BODY + b" "), (new_secret(now), BODY)):
        with pytest.raises(WebhookVerificationError):
            Webhook(other.text).verify(body, headers)


def test_during_a_rotation_both_secrets_verify() -> None:
    """For 24 hours a receiver verifies with the old or the new secret, then with the new one."""
    now = datetime.now(UTC)
    old, new = new_secret(now - timedelta(days=9)), new_secret(now)
    secrets = rotated([old], new, now - ROTATION + SECOND)
    headers = dict(signed_headers(EVENT_ID, BODY, secrets, now))
    assert len(headers["webhook-signature"].split(" ")) == 2
    for secret in (old, new):
        Webhook(secret.text).verify(BODY, headers)
    later = dict(signed_headers(EVENT_ID, BODY, secrets, now + SECOND))
    assert in_force(secrets, now + SECOND) == (new,)
    Webhook(new.text).verify(BODY, later)
    with pytest.raises(WebhookVerificationError):
        Webhook(old.text).verify(BODY, later)


def test_a_second_rotation_keeps_the_earlier_end() -> None:
    """A secret that already ends does not sign for longer, and one that has ended is dropped."""
    ended = WebhookSecret(text="whsec_MQ==", created_at=NOW, expires_at=NOW)
    ending = WebhookSecret(text="whsec_Mg==", created_at=NOW, expires_at=NOW + SECOND)
    current = WebhookSecret(text="whsec_Mw==", created_at=NOW)
    new = WebhookSecret(text="whsec_NA==", created_at=NOW)
    assert rotated([current, ending, ended], new, NOW) == (
        new,
        replace(current, expires_at=NOW + ROTATION),
        ending,
    )


def test_many_rotations_end_the_oldest_secret() -> None:
    """However often a secret is rotated in a day, a post has few signatures."""
    secrets: tuple[WebhookSecret, ...] = (new_secret(NOW),)
    for n in range(9):
        secrets = rotated(secrets, new_secret(NOW), NOW + n * SECOND)
    assert len(secrets) == MAX_SECRETS
    assert secrets[0].expires_at is None
