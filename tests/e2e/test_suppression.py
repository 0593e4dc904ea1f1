"""SES's own suppression lists on a whole stack: they block nobody for longer than one email."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.stack import AGENT, PATIENCE, operate, run_operator, send_email, ses_of, wait_for

pytestmark = pytest.mark.stack


class Customer:
    """An account with a key, and a tenant of SES if `isolation` says so."""

    def __init__(self, stack: dict[str, Any], name: str, isolation: str = "none") -> None:
        self._stack, sender = stack, f"post@{name}-listed.example"
        self.id = operate("account", "create", "--name", name, "--plan", "standard")["id"]
        ses_of(stack).create_email_identity(EmailIdentity=sender)
        operate("sender", "add", "--account", self.id, sender, "--default")
        self.tenant = operate("account", "isolation", isolation, self.id)["tenant"]
        command = ("key", "create", "--account", self.id, "--name", "web", "--preset", "send")
        self._key = operate(*command)["key"]

    def post(self, to: str) -> httpx.Response:
        return send_email(self._stack, self._key, to=to)

    def send(self, to: str) -> dict[str, Any]:
        """Send an email, and return what it shows when its status is final."""
        message_id = self.post(to).json()["messageId"]

        def final() -> dict[str, Any] | None:
            url = f"{self._stack['base_url']}/api/v1/emails/{message_id}"
            headers = AGENT | {"X-API-Key": self._key}
            shown = httpx.get(url, headers=headers, timeout=PATIENCE).json()
            return shown if shown["status"] not in {"pending", "sent"} else None

        found: dict[str, Any] = wait_for(final)
        return found


@pytest.fixture
def bounce(stack: dict[str, Any]) -> Callable[[str], None]:
    """Let SES's next email to an address bounce."""

    def behave(address: str) -> None:
        answer = httpx.put(
            f"{stack['inbox_url']}/behaviour",
            params={"recipient": address},
            json={"mode": "bounce", "times": 1},
            timeout=PATIENCE,
        )
        answer.raise_for_status()

    return behave


def listed(stack: dict[str, Any], address: str, tenant: str | None) -> bool:
    """Ask SES whether it has an address on a list."""
    of: Any = {"TenantName": tenant} if tenant else {}
    entries = ses_of(stack).list_suppressed_destinations(**of)["SuppressedDestinationSummaries"]
    return address in [entry["EmailAddress"] for entry in entries]


@pytest.mark.parametrize("isolation", ["none", "strict"])
def test_bounce_remove_send_delivered(
    stack: dict[str, Any], bounce: Callable[[str], None], isolation: str
) -> None:
    shop = Customer(stack, f"remove-{isolation}", isolation)
    gone = f"Gone-{isolation}@customer.example"
    bounce(gone)
    assert shop.send(gone)["status"] == "bounced"
    wait_for(lambda: shop.post(gone).json()["error"]["code"] == "recipient_suppressed")
    operate("suppression", "remove", "--account", shop.id, gone)
    assert not listed(stack, gone, shop.tenant)
    assert shop.send(gone)["status"] == "delivered"


def test_a_bounce_of_one_customer_blocks_no_other(
    stack: dict[str, Any], bounce: Callable[[str], None]
) -> None:
    first, second = Customer(stack, "first"), Customer(stack, "second")
    shared = "shared@customer.example"
    bounce(shared)
    assert first.send(shared)["status"] == "bounced"
    wait_for(lambda: not listed(stack, shared, None))
    assert second.send(shared)["status"] == "delivered"
    assert first.post(shared).json()["error"]["code"] == "recipient_suppressed"


@pytest.mark.parametrize("isolation", ["none", "strict"])
def test_an_address_that_ses_listed_before_costs_one_email(
    stack: dict[str, Any], isolation: str
) -> None:
    """It is no bounce of the account, and the error says what to do: the second one arrives."""
    shop = Customer(stack, f"before-{isolation}", isolation)
    old = f"old-{isolation}@customer.example"
    of = {"TenantName": shop.tenant} if shop.tenant else {}
    ses_of(stack).put_suppressed_destination(EmailAddress=old, Reason="COMPLAINT", **of)
    unsent = shop.send(old)
    assert unsent["status"] == "failed"
    assert [one["code"] for one in unsent["events"] if one["type"] == "failed"] == [
        "suppressed_by_ses"
    ]
    assert "send the email again" in unsent["errorMessage"]
    wait_for(lambda: not listed(stack, old, shop.tenant))
    assert shop.send(old)["status"] == "delivered"
    assert operate("suppression", "list", "--account", shop.id)["items"] == []


def test_the_operator_finds_what_no_email_frees(stack: dict[str, Any]) -> None:
    """SES deletes only the letter case that it lists; the error names the command that finds it."""
    shop, odd, plain = Customer(stack, "odd"), "oDD@customer.example", "odd@customer.example"
    ses_of(stack).put_suppressed_destination(EmailAddress=odd, Reason="BOUNCE")
    for _ in range(2):
        assert "`pillarbox suppression ses list`" in shop.send(plain)["errorMessage"]
    (entry,) = (
        one
        for one in operate("suppression", "ses", "list")["items"]
        if one["address"].lower() == plain
    )
    assert (entry["address"], entry["reason"]) == (odd, "BOUNCE")
    assert operate("suppression", "ses", "remove", plain)["removed"]
    assert shop.send(plain)["status"] == "delivered"
    again = run_operator("suppression", "ses", "remove", plain)
    assert json.loads(again.stderr)["error"]["code"] == "suppression_not_found"
