"""The command recognises a local stack that runs, one that was killed, and one that is ready."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest

from admin.local_stack import read_local_stack
from pillarbox.domain.errors import ServiceError
from tests.integration.admin.operator_command import Operator, failure
from tests.integration.admin.stand_in_servers import Api
from tests.servers import serving


@pytest.fixture
def description(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of a stack.json, which does not exist yet."""
    monkeypatch.setenv("PILLARBOX_STATE_DIR", str(tmp_path))
    return tmp_path / "stack.json"


def this_process(**changes: Any) -> dict[str, Any]:
    process = psutil.Process()
    started = datetime.fromtimestamp(process.create_time(), UTC)
    return {"pid": process.pid, "started_at": started.isoformat(), **changes}


@pytest.fixture
def healthy() -> Iterator[str]:
    """Return the address of a server whose /healthz answers with 200."""
    with serving(Api) as url:
        yield url


def test_a_running_stack_is_read(description: Path) -> None:
    description.write_text(json.dumps(this_process(base_url="x")))
    assert read_local_stack()["base_url"] == "x"


def test_a_stack_that_was_killed_is_stale(description: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    description.write_text(json.dumps(this_process(pid=ended.pid)))
    with pytest.raises(ServiceError, match="was killed"):
        read_local_stack()


def test_a_process_with_the_same_id_is_not_the_stack(description: Path) -> None:
    earlier = datetime.now(UTC) - timedelta(days=400)
    description.write_text(json.dumps(this_process(started_at=earlier.isoformat())))
    with pytest.raises(ServiceError, match="was killed"):
        read_local_stack()


def test_ready_waits_for_an_answer(description: Path, healthy: str) -> None:
    state = this_process(base_url=healthy, inbox_url="http://127.0.0.1:8025")
    appears = threading.Timer(0.5, lambda: description.write_text(json.dumps(state)))
    appears.start()
    done = Operator().plain("--local", "--json", "ready", "--timeout", "20")
    appears.join()
    assert (done.exit_code, json.loads(done.stdout)) == (
        0,
        {"url": healthy, "inboxUrl": "http://127.0.0.1:8025"},
    )


def test_ready_gives_up(description: Path) -> None:
    for state in (None, this_process(base_url="http://127.0.0.1:9", inbox_url="")):
        if state:
            description.write_text(json.dumps(state))
        done = Operator().plain("--local", "ready", "--timeout", "0.1")
        assert failure(done) == "The local stack was not ready within 0.1 seconds.\n"


def test_ready_is_only_for_the_local_stack() -> None:
    assert "--local" in failure(Operator().plain("ready"))
