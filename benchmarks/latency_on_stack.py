"""How long accepted emails wait for SES on the local stack.

    PILLARBOX_SES_RATE=1 make up                        # in another terminal; or 14
    .venv/bin/python -m benchmarks.latency_on_stack 100 5

One account sends that many emails in batches. Until they are sent, another account sends a code
at random moments, so many seconds apart on average. Five codes are sent first, to start the
functions. The waits are from the response to a code until the SES stand-in has it. The engine
serves message groups in the order of arrival, and the machine's speed is part of the figures.
"""

import asyncio
import json
import random
import sys
import time
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import Any

import httpx

from pillarbox.settings import Settings

STATE = Path(Settings({}).state_dir) / "stack.json"
_AGENT = {"User-Agent": "pillarbox-benchmark/1.0"}


async def main(count: int, between: float, stack: dict[str, Any]) -> None:
    """Send the emails and print the waits."""
    limits = httpx.Timeout(60)
    async with httpx.AsyncClient(headers=_AGENT, timeout=limits, trust_env=False) as client:
        for _ in range(5):  # starts the functions
            await _send_code(client, stack)
            await asyncio.sleep(3)
        bulk = await _send_bulk(client, stack, count)
        accepted: dict[str, datetime] = {}
        arrived: dict[str, datetime] = {}
        started = time.monotonic()
        while not bulk <= arrived.keys() or not accepted.keys() <= arrived.keys():
            if not bulk <= arrived.keys():
                accepted |= await _send_code(client, stack)
            await asyncio.sleep(random.uniform(0.5, 1.5) * between)  # noqa: S311  moments, no secrets
            items = (await client.get(f"{stack['inbox_url']}/messages")).json()["items"]
            arrived |= {
                item["messageId"]: datetime.fromisoformat(item["receivedAt"]) for item in items
            }
            if time.monotonic() > started + 30 * 60:
                break
    waits = sorted((arrived[code] - at).total_seconds() for code, at in accepted.items())
    times = sorted(arrived[message] for message in bulk)
    rate = (len(times) - 1) / (times[-1] - times[0]).total_seconds()
    p50, p99 = (waits[ceil(share * len(waits)) - 1] for share in (0.5, 0.99))
    print(f"{len(waits)} codes behind {count} emails: p50 {p50:.2f} s, p99 {p99:.2f} s,")
    print(f"most {waits[-1]:.2f} s; the others at {rate:.2f} a second")


async def _send_bulk(client: httpx.AsyncClient, stack: dict[str, Any], count: int) -> set[str]:
    message = {"subject": "News", "html": "<p>News</p>"}
    ids: set[str] = set()
    for start in range(0, count, 100):
        messages = [
            message | {"to": f"reader{number}@example.com"}
            for number in range(start, min(start + 100, count))
        ]
        response = await client.post(
            f"{stack['base_url']}/api/v1/emails/batch",
            json={"messages": messages},
            headers={"X-API-Key": stack["keys"]["live"]},
        )
        response.raise_for_status()
        ids |= {result["messageId"] for result in response.json()["results"]}
    return ids


async def _send_code(client: httpx.AsyncClient, stack: dict[str, Any]) -> dict[str, datetime]:
    response = await client.post(
        f"{stack['base_url']}/api/v1/emails",
        json={
            "to": "ada@example.com",
            "starterTemplate": "otp",
            "variables": {"otp_code": "482913"},
        },
        headers={"X-API-Key": stack["keys"]["live_free"]},
    )
    response.raise_for_status()
    return {response.json()["messageId"]: datetime.now(UTC)}


if __name__ == "__main__":
    count, between, *rest = sys.argv[1:]
    state = Path(rest[0]) if rest else STATE
    asyncio.run(main(int(count), float(between), json.loads(state.read_text())))
