# ruff: noqa: T201  a program that is run by hand prints its results
"""Send rounds of large messages to the relay or the front in a cgroup without swap.

The program runs with the variables of its image. Messages of 14 MB come at the same time, from
eight accounts and four addresses. They need more memory than there is, and a client that is told
to wait tries again. No process may be killed, and each message must be accepted. Needs root and a
cgroup.

    .venv/bin/python -m verification.memory                            # the relay, 512 MiB
    .venv/bin/python -m verification.memory --without-threshold        # must fail
    .venv/bin/python -m verification.memory --program front --limit 640
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from local.relay import self_signed
from tests.stack import free_port
from verification.memory.cgroup import MemoryGroup, MissingCgroup, memory_group
from verification.memory.clients import EDGE_SECRET, SENDER, Sender, front_body, relay_message
from verification.stack import ROOT, new_sender, running

STATE: Final = ROOT / ".local" / "memory"
ACCOUNTS: Final = 8
ADDRESSES: Final = 4
#: Seconds after a round in which the program gives its memory back.
_REST: Final = 5.0


def main() -> int:
    """Return 1 if a process was killed or a message was not accepted, 2 without a cgroup."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", choices=("relay", "front"), default="relay")
    parser.add_argument("--limit", type=int, default=512, help="of the cgroup, in MiB")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--messages", type=int, default=20, help="at the same time")
    parser.add_argument(
        "--without-threshold",
        action="store_true",
        help="leave the image's MALLOC_MMAP_THRESHOLD_ out: must fail",
    )
    options = parser.parse_args()
    # An exit through `SystemExit` also ends what was started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        with memory_group(options.limit) as group, running(STATE) as stack:
            return _run(group, stack, options)
    except MissingCgroup as error:
        print(f"No cgroup: {error}.", file=sys.stderr)
        return 2


def _run(group: MemoryGroup, stack: dict[str, Any], options: argparse.Namespace) -> int:
    keys = [new_sender(STATE, f"Memory {number}", SENDER)[1] for number in range(ACCOUNTS)]
    variables = image_variables()
    if options.without_threshold:
        del variables["MALLOC_MMAP_THRESHOLD_"]
    port = free_port()
    large = (relay_message if options.program == "relay" else front_body)()
    with _started(group, stack, options.program, port, variables) as process:
        sender = Sender(options.program, port, process)
        sender.wait_until_listening()
        send = partial(sender.send, large)
        print(f"{options.program}, {options.limit} MiB: at rest {group.current} MiB", flush=True)
        for number in range(options.rounds):
            addresses = [f"127.0.0.{2 + each % ADDRESSES}" for each in range(options.messages)]
            with ThreadPoolExecutor(options.messages) as threads:
                owners = [keys[each % ACCOUNTS] for each in range(options.messages)]
                tries = [times for times in threads.map(send, owners, addresses) if times]
            time.sleep(_REST)
            print(
                f"round {number + 1}: accepted {len(tries)} of {options.messages} in {sum(tries)}"
                f" tries, killed {group.kills}, peak {group.peak} MiB, after {group.current} MiB",
                flush=True,
            )
            for refusal, times in sender.refusals.most_common(5):
                print(f"  told {times} times to wait: {refusal}", flush=True)
            if group.kills or len(tries) < options.messages:
                return 1
        ended = process.poll()
    print("held" if ended is None else f"the program ended with {ended}")
    return int(ended is not None)


def image_variables() -> dict[str, str]:
    """Return the environment of the image, as relay/Dockerfile sets it."""
    dockerfile = (ROOT / "relay" / "Dockerfile").read_text().replace("\\\n", " ")
    (line,) = re.findall(r"^ENV (.+)$", dockerfile, re.MULTILINE)
    return dict(entry.split("=", 1) for entry in line.split())


@contextmanager
def _started(
    group: MemoryGroup,
    stack: dict[str, Any],
    program: str,
    port: int,
    variables: dict[str, str],
) -> Iterator[subprocess.Popen[bytes]]:
    certificate = self_signed()
    (STATE / "chain.pem").write_bytes(certificate.chain)
    (STATE / "key.pem").write_bytes(certificate.key)
    settings = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{ROOT}:{ROOT / 'layers/shared'}",
        "PILLARBOX_SMTP_NAME": "relay.example",
        "PILLARBOX_SMTP_HOST": "127.0.0.1",
        "PILLARBOX_SMTP_PORT": str(port),
        "PILLARBOX_SMTP_CERTIFICATE": str(STATE / "chain.pem"),
        "PILLARBOX_SMTP_KEY": str(STATE / "key.pem"),
        "PILLARBOX_FRONT_HOST": "127.0.0.1",
        "PILLARBOX_FRONT_PORT": str(port),
        "PILLARBOX_FRONT_WORKERS": "1",
        "PILLARBOX_EDGE_SECRET": EDGE_SECRET,
    }
    with (STATE / "program.log").open("wb") as log:
        process = subprocess.Popen(
            group.command(sys.executable, "-m", program),
            cwd=ROOT,
            env=stack["environment"] | variables | settings,
            stdout=log,
            stderr=log,
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
