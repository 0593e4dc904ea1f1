"""Send a receipt with Pillarbox: python send.py ada@example.com INV-1001 (needs httpx)."""

import os
import random
import sys
import time
from collections.abc import Mapping

import httpx

API = httpx.Client(
    base_url=os.environ["PILLARBOX_URL"] + "/api/v1",
    headers={"X-API-Key": os.environ["PILLARBOX_KEY"], "User-Agent": "shop/1.0"},
    timeout=30,
)


class SendError(Exception):
    """Pillarbox refused an email: `code` says why, and the text says it to people."""

    def __init__(self, response: httpx.Response) -> None:
        super().__init__(f"{response.status_code} {response.text}")
        is_json = response.headers.get("Content-Type", "").startswith("application/json")
        self.code: str = response.json()["error"]["code"] if is_json else "unknown"


def send(email: Mapping[str, object], idempotency_key: str, tries: int = 5) -> str:
    """Return the message's id. Each operation has a key of its own, which its retries repeat."""
    failure: Exception = ValueError("tries must be at least 1")
    wait = 0.0
    for attempt in range(tries):
        time.sleep(wait)
        wait = 0.5 * 2**attempt + random.random() / 4
        try:
            response = API.post("/emails", json=email, headers={"Idempotency-Key": idempotency_key})
        except httpx.TransportError as error:
            failure = error  # no answer; the email may be accepted all the same
            continue
        if response.is_success:
            return str(response.json()["messageId"])
        failure = SendError(response)
        later = seconds_to_wait(response, wait)
        if later is None:
            break
        wait = later
    raise failure


def seconds_to_wait(response: httpx.Response, usual: float) -> float | None:
    """Return the seconds until the next try, or None if no try can succeed soon."""
    if response.status_code == 429:  # the limit of a minute ends soon, that of a day does not
        seconds = int(response.headers.get("RateLimit-Reset", 60))
        return seconds if seconds <= 60 else None
    if response.status_code >= 500 or "Retry-After" in response.headers:
        return float(response.headers.get("Retry-After", usual))
    return None


if __name__ == "__main__":
    to, invoice = sys.argv[1:]
    variables = {"amount": "49.00", "currency": "EUR", "invoice_id": invoice}
    receipt = {"to": to, "starterTemplate": "payment_receipt", "variables": variables}
    print(send(receipt, idempotency_key=f"receipt-{invoice}"))
