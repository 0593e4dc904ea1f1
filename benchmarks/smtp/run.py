"""Submission servers side by side: CPU and memory of the server's processes, one after another.

    .venv/bin/python benchmarks/smtp/run.py [--quick] [NAME …]

Peers come along: aiosmtpd and uvloop by uv, smtp-server by npm, Postfix and its SASL by apt
(`apt-get install postfix libsasl2-modules sasl2-bin`); one that is not there is left out.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psutil

sys.path.insert(0, str(Path(__file__).parent))
import load as client

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
UV: Final = (str(ROOT / ".uv/bin/uv"), "run", "--quiet", "--python", sys.executable)
MIB: Final = 1024 * 1024

LOADS: Final = {
    "1 connection, 20 messages": client.Load(1, 20, 30, 2_000),
    "10 connections, 20 messages": client.Load(10, 20, 5, 2_000),
    "50 connections, 20 messages": client.Load(50, 20, 1, 2_000),
    "1 connection, 1 message": client.Load(1, 1, 150, 2_000),
    "10 connections, 1 message": client.Load(10, 1, 20, 2_000),
    "50 connections, 1 message": client.Load(50, 1, 4, 2_000),
    "1 MB": client.Load(2, 5, 2, MIB),
    "10 MB": client.Load(2, 2, 1, 10 * MIB),
}
QUICK: Final = ("10 connections, 20 messages", "10 connections, 1 message", "1 MB")


def commands(folder: Path, port: int) -> dict[str, tuple[str, ...]]:
    """How each server is started."""
    end = (str(folder), str(port))
    alone = (*UV, "--no-project", "--with")
    servers = {
        "pillarbox, asyncio": (sys.executable, str(HERE / "ours.py"), *end, "asyncio", "1"),
        "pillarbox": (sys.executable, str(HERE / "ours.py"), *end, "uvloop", "1"),
        "pillarbox, two processes": (sys.executable, str(HERE / "ours.py"), *end, "uvloop", "2"),
        "aiosmtpd": (*alone, "aiosmtpd==1.4.6", str(HERE / "peer_aiosmtpd.py"), *end),
    }
    if shutil.which("npm"):
        servers["smtp-server"] = ("node", str(HERE / "peer_smtp_server.cjs"), *end)
    if Path("/usr/lib/postfix/sbin/master").exists():
        servers["Postfix"] = ("bash", str(HERE / "postfix.sh"), *end, "secret")
    return servers


def main() -> None:
    """Measure, and print a table in Markdown."""
    quick = "--quick" in sys.argv
    wanted = [name for name in sys.argv[1:] if name != "--quick"]
    loads = {name: LOADS[name] for name in QUICK} if quick else LOADS
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        certificate(folder)
        node_modules(folder)
        print("| ms of CPU per message |", " | ".join(loads), "| peak MB |")
        print("|---|" + "---|" * (len(loads) + 1))
        for name in commands(folder, 0):
            if not wanted or name in wanted:
                figures = measure(name, folder, loads)
                print(f"| {name} |", " | ".join(figures), "|", flush=True)


def measure(name: str, folder: Path, loads: dict[str, client.Load]) -> list[str]:
    """Start a server, put each load on it, and give the figures."""
    port = free_port()
    figures, peak = [], 0.0
    with running(commands(folder, port)[name], port) as server:
        client.run(port, client.Load(2, 5, 1, 2_000))
        for load in loads.values():
            before = cpu(server)
            client.run(port, load)
            time.sleep(0.3)
            figures.append(f"{(cpu(server) - before) / load.total * 1000:.2f}")
            if load.clients == 50:  # noqa: PLR2004  the load that memory is told of
                peak = max(peak, peak_memory(server))
    return [*figures, f"{peak:.0f}"]


@contextmanager
def running(command: tuple[str, ...], port: int) -> Iterator[psutil.Process]:
    """A server that listens."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until_open(port)
            yield psutil.Process(process.pid)
        finally:
            for each in [*psutil.Process(process.pid).children(recursive=True), process]:
                each.terminate()


def wait_until_open(port: int) -> None:
    """Wait until a server listens, for a minute at most."""
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)


def cpu(server: psutil.Process) -> float:
    """Seconds of CPU of a server's processes, those that ended too."""
    seconds = 0.0
    for process in (server, *server.children(recursive=True)):
        times = process.cpu_times()
        seconds += times.user + times.system + times.children_user + times.children_system
    return seconds


def peak_memory(server: psutil.Process) -> float:
    """MB that the processes of a server had at most, each for itself; uv only starts them."""
    total = 0
    for process in (server, *server.children(recursive=True)):
        if process.name() == "uv":
            continue
        status = Path(f"/proc/{process.pid}/status").read_text()
        total += next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line)
    return total / 1024


def certificate(folder: Path) -> None:
    """One for all: the kind of key decides what a handshake costs."""
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
    """What the peer for Node needs, kept beside the benchmarks for the next run."""
    kept = ROOT / ".local" / "benchmarks"
    if shutil.which("npm"):
        kept.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [  # noqa: S607  found on the PATH, as users find it
                "npm",
                "install",
                "--silent",
                "--prefix",
                str(kept),
                "smtp-server@3",
            ],
            check=False,
        )
        os.environ["NODE_PATH"] = str(kept / "node_modules")
    folder.chmod(0o755)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    main()
