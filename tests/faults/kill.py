# ruff: noqa: T201  a program that is run by hand prints what it found
"""Kill the functions of a running local stack while mail is being sent (`make faults`).

Clients send 200 mails in a minute and try again under their idempotency keys; meanwhile
processes of the engine's functions are killed at random, with SIGKILL. Then every
acknowledged mail must be in the inbox exactly once and be delivered. What a killed worker
held comes again when the queue's visibility is over, and a mail whose hand-over has an
unknown outcome waits 15 minutes for its event: so this takes up to half an hour.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import httpx
import psutil

ROOT: Final = Path(__file__).parents[2]
STATE: Final = ROOT / ".local" / "kill"
MAILS: Final = 200
SECONDS: Final = 60
CLIENTS: Final = 6
#: Seconds that a process may live before it is killed: a cold start takes some.
OLD_ENOUGH: Final = 3
#: Seconds: until the stack is up, and until all is at rest after the kills.
STARTS_WITHIN: Final = 300
RESTS_WITHIN: Final = 2_400


def main() -> int:
    """Give 1 when a promise was broken."""
    stack, process = start()
    over = threading.Event()
    try:
        killer = threading.Thread(target=kill_until, args=(over,))
        killer.start()
        began = time.monotonic()
        with ThreadPoolExecutor(CLIENTS) as clients:
            answered = list(clients.map(lambda n: send(stack, n, began), range(MAILS)))
        sent = time.monotonic()
        over.set()
        killer.join()
        ids = [message_id for message_id in answered if message_id]
        rested = rest(stack, ids)
        arrived = Counter(item["messageId"] for item in inbox(stack))
        statuses = Counter(status(stack, message_id) for message_id in ids)
        return tell(ids, arrived, statuses, f"{sent - began:.0f}", f"{rested - sent:.0f}")
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(STARTS_WITHIN)


def tell(
    ids: list[str], arrived: Counter[str], statuses: Counter[str], sending: str, resting: str
) -> int:
    """Print the figures."""
    lost = sum(1 for message_id in ids if not arrived[message_id])
    doubled = sum(arrived[message_id] - 1 for message_id in ids if arrived[message_id])
    doubled += len(ids) - len(set(ids))
    strays = len(set(arrived) - set(ids))
    wrong = len(ids) - statuses["delivered"]
    print(
        f"killed {dict(KILLED)}, mails {MAILS} in {sending} s, acknowledged {len(ids)}, "
        f"lost {lost}, doubled {doubled}, not delivered {wrong}, "
        f"sent but never acknowledged {strays}, at rest after {resting} s",
        flush=True,
    )
    return int(bool(lost or doubled or wrong or not ids))


#: How many processes were killed, by the function that they ran.
KILLED: Final = Counter[str]()


def start() -> tuple[dict[str, Any], subprocess.Popen[bytes]]:
    """Start a stack of this test's own."""
    STATE.mkdir(parents=True, exist_ok=True)
    told = STATE / "stack.json"
    told.unlink(missing_ok=True)
    ports = dict.fromkeys(("PILLARBOX_PORT", "PILLARBOX_INBOX_PORT", "PILLARBOX_SMTP_PORT"), "0")
    process = subprocess.Popen(
        [sys.executable, "-m", "local"],
        cwd=ROOT,
        env=os.environ | ports | {"PILLARBOX_STATE_DIR": str(STATE)},
        stdout=subprocess.DEVNULL,
    )
    late = time.monotonic() + STARTS_WITHIN
    while not told.exists():
        if process.poll() is not None or time.monotonic() > late:
            process.kill()
            sys.exit("The local stack did not start.")
        time.sleep(0.2)
    return json.loads(told.read_text()), process


def send(stack: dict[str, Any], number: int, began: float) -> str | None:
    """Send one mail in its turn, and again until it is answered."""
    time.sleep(max(0.0, began + SECONDS * number / MAILS - time.monotonic()))
    headers = {
        "User-Agent": "pillarbox-tests/1.0",
        "X-API-Key": stack["keys"]["live"],
        "Idempotency-Key": f"kill-{number}",
    }
    body = {
        "to": f"customer{number}@example.com",
        "subject": f"Number {number}",
        "html": "<p>Once</p>",
    }
    for wait in (1, 2, 5, 10, 10, 10, 20, 30, 30, 30):
        try:
            answer = httpx.post(
                f"{stack['base_url']}/api/v1/emails", json=body, headers=headers, timeout=40
            )
        except httpx.TransportError:
            answer = None
        if answer is not None and answer.status_code == 200:
            return str(answer.json()["messageId"])
        time.sleep(wait)
    return None


def kill_until(over: threading.Event) -> None:
    """Kill one of the engine's functions every few seconds, for a minute."""
    draw = random.Random(20261121)  # noqa: S311  which process dies is no secret
    engine = psutil.Process(json.loads((STATE / "engine.json").read_text())["pid"])
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and not over.wait(draw.uniform(1, 4)):
        # One that has only just started would have done nothing yet.
        with contextlib.suppress(psutil.NoSuchProcess):  # it ended by itself
            workers = [
                worker
                for worker in engine.children(recursive=True)
                if time.time() - worker.create_time() > OLD_ENOUGH
                and worker.status() != psutil.STATUS_ZOMBIE  # killed before, and not reaped
            ]
            if workers:
                victim = draw.choice(workers)
                function = _function_of(victim)
                victim.kill()
                KILLED[function] += 1


def _function_of(worker: psutil.Process) -> str:
    return worker.environ().get("AWS_LAMBDA_FUNCTION_NAME", "worker")


def rest(stack: dict[str, Any], ids: list[str]) -> float:
    """Wait until every mail is finished, or for long enough; gives when."""
    late = time.monotonic() + RESTS_WITHIN
    waiting = set(ids)
    while waiting and time.monotonic() < late:
        waiting = {one for one in waiting if status(stack, one) != "delivered"}
        time.sleep(5)
    return time.monotonic()


def status(stack: dict[str, Any], message_id: str) -> str:
    """What the API says of a message; nothing while it cannot be asked."""
    headers = {"User-Agent": "pillarbox-tests/1.0", "X-API-Key": stack["keys"]["live"]}
    url = f"{stack['base_url']}/api/v1/emails/{message_id}"
    try:
        return str(httpx.get(url, headers=headers, timeout=40).json().get("status"))
    except (httpx.TransportError, ValueError):
        return ""


def inbox(stack: dict[str, Any]) -> list[dict[str, Any]]:
    """What the provider took."""
    items: list[dict[str, Any]] = httpx.get(f"{stack['inbox_url']}/messages", timeout=40).json()[
        "items"
    ]
    return items


if __name__ == "__main__":
    sys.exit(main())
