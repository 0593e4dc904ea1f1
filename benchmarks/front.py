"""The memory of the front for a request of 14 MB.

    .venv/bin/python benchmarks/front.py

`python -m front` with one worker gets a mail with two attachments of 5 MB. The handler parses and
validates the body before it reads the API key's record. The read fails, since no database
answers, so the response is a 5xx. Peak is the kernel's VmHWM of each process over its value after
one small request.
"""

import base64
import http.client
import json
import os
import random
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil

from pillarbox.domain.accounts.key import ACCOUNT_ID_LENGTH, KeyType, new_key_text
from pillarbox.domain.messages.attachment import MAX_BYTES_EACH
from tests.fakes import builders

MIB = 1024 * 1024
SECRET = "benchmark"  # noqa: S105  of this run only
REQUESTS = 20
WORKER_MARK = "spawn_main"


def peak(pid: int) -> int:
    """Return the peak resident memory of a process in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if "VmHWM" in line)
    return int(line.split()[1]) * 1024


def post(port: int, body: bytes) -> int:
    """Send a mail and return the status of the response, or 0 while no process listens."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    key = new_key_text("0" * ACCOUNT_ID_LENGTH, KeyType.LIVE)
    try:
        headers = {"X-Pillarbox-Edge": SECRET, "X-API-Key": key, "User-Agent": "benchmark/1.0"}
        connection.request("POST", "/api/v1/emails", body, headers)
        return connection.getresponse().status
    except ConnectionRefusedError:
        return 0
    finally:
        connection.close()


def main() -> None:
    """Print the peaks."""
    files = [
        {
            "filename": f"{n}.pdf",
            "contentType": "application/pdf",
            "content": base64.b64encode(random.Random(n).randbytes(MAX_BYTES_EACH)).decode(),  # noqa: S311  any bytes
        }
        for n in range(2)
    ]
    mail = {"to": "a@mail.example", "subject": "Scans", "html": "<p>x</p>", "attachments": files}
    body = json.dumps(mail).encode()
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    environment = os.environ | builders.environment(
        "front",
        edge_secret=SECRET,
        front_host="127.0.0.1",
        front_port=str(port),
        front_workers="1",
    )
    environment |= {
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "POWERTOOLS_SERVICE_NAME": "benchmark",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "front"], env=environment, stdout=subprocess.DEVNULL
    ) as front:
        try:
            while not post(port, b"{}"):
                time.sleep(0.1)
            children = psutil.Process(front.pid).children()
            worker = next(
                child.pid for child in children if WORKER_MARK in " ".join(child.cmdline())
            )
            processes = {"front": front.pid, "worker": worker}
            before = {name: peak(pid) for name, pid in processes.items()}
            print(f"body {len(body) / MIB:.1f} MiB")
            for n in range(1, REQUESTS + 1):
                status = post(port, body)
                for name, pid in processes.items():
                    rise = peak(pid) - before[name]
                    print(
                        f"after {n} ({status}): {name} {before[name] / MIB:.0f} MiB"
                        f" + {rise / MIB:.0f} MiB, {rise / len(body):.2f} x body"
                    )
        finally:
            front.terminate()


if __name__ == "__main__":
    main()
