"""The stack of the tests ends with the last worker that uses it, even if that worker crashes."""

import fcntl
import signal
import subprocess
import sys
from pathlib import Path

from tests.stack import PATIENCE, ROOT

_USE = """
import fcntl, sys, time
with open(sys.argv[1]) as file:
    fcntl.flock(file, fcntl.LOCK_SH)
    print("locked", flush=True)
    time.sleep(3600)
"""


def test_a_module_runs_until_its_last_user_is_killed(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.touch()
    users = [_start("-c", _USE, str(lock)) for _ in range(2)]
    with users[0] as first, users[1] as second:
        assert {_line(first), _line(second)} == {"locked\n"}
        server = ("http.server", "--bind", "127.0.0.1", "0")
        with _start("-u", "-m", "tests.while_locked", str(lock), *server) as module:
            assert _line(module).startswith("Serving HTTP on 127.0.0.1")
            first.kill()
            first.wait(PATIENCE)
            with lock.open() as file:
                fcntl.flock(file, fcntl.LOCK_SH)  # nobody has it for itself alone
            assert module.poll() is None
            second.kill()
            assert module.wait(PATIENCE) == -signal.SIGTERM


def _start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline()
