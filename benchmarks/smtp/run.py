"""CPU and memory of submission servers, measured in turn.

    .venv/bin/python -m benchmarks.smtp.run [--quick] [NAME …]

uv installs aiosmtpd and npm installs smtp-server. Postfix and its SASL need
`apt-get install postfix libsasl2-modules sasl2-bin`. A peer that is missing is left out.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Final

import psutil

from benchmarks.smtp import load as client
from tests.stack import free_port, is_open, wait_for

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
UV: Final = (str(ROOT / ".uv/bin/uv"), "run", "--quiet", "--python", sys.executable)
MIB: Final = 1024 * 1024

#: How often each load is applied to every server in turn, so that other work affects all.
ROUNDS: Final = 5
LOADS: Final = {
    "1 connection, 20 messages": client.Load(1, 20, 10, 2_000),
    "10 connections, 20 messages": client.Load(10, 20, 2, 2_000),
    "50 connections, 20 messages": client.Load(50, 20, 1, 2_000),
    "1 connection, 1 message": client.Load(1, 1, 50, 2_000),
    "10 connections, 1 message": client.Load(10, 1, 10, 2_000),
    "50 connections, 1 message": client.Load(50, 1, 4, 2_000),
    "1 MB": client.Load(2, 5, 1, MIB),
    "10 MB": client.Load(2, 1, 1, 10 * MIB),
}
QUICK: Final = ("10 connections, 20 messages", "10 connections, 1 message", "1 MB")


def commands(folder: Path, port: int) -> dict[str, tuple[str, ...]]:
    """Return the command that starts each server."""
    end = (str(folder), str(port))
    ours = (sys.executable, str(HERE / "ours.py"), *end, "at-once")
    alone = (*UV, "--no-project", "--with")
    servers = {
        "pillarbox, asyncio": (*ours, "asyncio", "1"),
        "pillarbox": (*ours, "uvloop", "1"),
        "pillarbox, two processes": (*ours, "uvloop", "2"),
        "aiosmtpd": (*alone, "aiosmtpd==1.4.6", str(HERE / "peer_aiosmtpd.py"), *end),
    }
    if shutil.which("npm"):
        servers["smtp-server"] = ("node", str(HERE / "peer_smtp_server.cjs"), *end)
    if Path("/usr/lib/postfix/sbin/master").exists():
        servers["Postfix"] = ("bash", str(HERE / "postfix.sh"), *end, "secret")
    return servers


def main() -> None:
    """Measure and print a table in Markdown."""
    quick = "--quick" in sys.argv
    chosen = [name for name in sys.argv[1:] if name != "--quick"]
    loads = {name: LOADS[name] for name in QUICK} if quick else LOADS
    with tempfile.TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        certificate(folder)
        node_modules(folder)
        print("| ms of CPU per message |", " | ".join(loads), "| peak MB |")
        print("|---|" + "---|" * (len(loads) + 1))
        names = [name for name in commands(folder, 0) if not chosen or name in chosen]
        for name, figures in measure(names, folder, loads).items():
            print(f"| {name} |", " | ".join(figures), "|")


def measure(names: list[str], folder: Path, loads: dict[str, client.Load]) -> dict[str, list[str]]:
    """Start the servers, apply each load to one after another and return the medians."""
    figures: dict[str, list[str]] = {name: [] for name in names}
    peaks = dict.fromkeys(names, 0.0)
    with ExitStack() as stack:
        servers: dict[str, tuple[int, psutil.Process]] = {}
        for name in names:
            port = free_port()
            servers[name] = port, stack.enter_context(running(commands(folder, port)[name], port))
            client.run(port, client.Load(10, 5, 1, 2_000))
        for load in loads.values():
            spent: dict[str, list[float]] = {name: [] for name in names}
            for _ in range(ROUNDS):
                for name, (port, server) in servers.items():
                    before = cpu(server)
                    client.run(port, load)
                    time.sleep(0.3)
                    spent[name].append((cpu(server) - before) / load.total * 1000)
            for name, (_, server) in servers.items():
                figures[name].append(f"{median(spent[name]):.2f}")
                if load.clients == 50:  # noqa: PLR2004  the load for which memory is reported
                    peaks[name] = max(peaks[name], peak_memory(server))
    return {name: [*figures[name], f"{peaks[name]:.0f}"] for name in names}


@contextmanager
def running(command: tuple[str, ...], port: int) -> Iterator[psutil.Process]:
    """Start a server and wait until it listens."""
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'layers/shared'}"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(lambda: is_open(port))
            yield psutil.Process(process.pid)
        finally:
            for child in psutil.Process(process.pid).children(recursive=True):
                child.terminate()
            process.terminate()


def cpu(server: psutil.Process) -> float:
    """Return the CPU seconds of a server's processes, including those that ended."""
    seconds = 0.0
    for process in (server, *server.children(recursive=True)):
        times = process.cpu_times()
        seconds += times.user + times.system + times.children_user + times.children_system
    return seconds


def peak_memory(server: psutil.Process) -> float:
    """Return the sum of the peak MB of a server's processes, without uv, which starts them."""
    total = 0
    for process in (server, *server.children(recursive=True)):
        if process.name() == "uv":
            continue
        status = Path(f"/proc/{process.pid}/status").read_text()
        total += next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line)
    return total / 1024


def certificate(folder: Path) -> None:
    """Create one certificate for all servers, since the key type determines a handshake's cost."""
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"),
            *("-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")),
        ],
        check=True,
        capture_output=True,
    )


def node_modules(folder: Path) -> None:
    """Install the packages of the Node peer and keep them for the next run."""
    modules = ROOT / ".local" / "benchmarks"
    if shutil.which("npm"):
        modules.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [  # noqa: S607  npm is on the PATH of the user
                "npm",
                "install",
                "--silent",
                "--prefix",
                str(modules),
                "smtp-server@3",
            ],
            check=False,
        )
        os.environ["NODE_PATH"] = str(modules / "node_modules")
    folder.chmod(0o755)


if __name__ == "__main__":
    main()
