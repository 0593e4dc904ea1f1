"""`make invoke` runs every function in Lambda's image, on a stack that listens for containers."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from local import template
from local.containers import host_address
from tests.needs import linux_only, need_docker
from tests.packaging.test_functions import FUNCTIONS, assert_handled, resource_of
from tests.stack import PATIENCE, own_stack

pytestmark = [pytest.mark.stack, linux_only]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Run a stack of its own that containers can reach; return the environment of commands."""
    need_docker()
    state = tmp_path_factory.mktemp("state")
    with own_stack(state, PILLARBOX_CONTAINERS="true") as environment:
        yield environment


def test_the_stack_opens_one_more_port(environment: dict[str, str]) -> None:
    """Beyond the loopback address it listens on one port, at the address that containers reach."""
    state = json.loads(Path(environment["PILLARBOX_STATE_DIR"], "stack.json").read_text())
    stack = psutil.Process(state["pid"])
    ports = {
        (connection.laddr.ip, connection.laddr.port)
        for process in (stack, *stack.children(recursive=True))
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN and connection.laddr.ip != "127.0.0.1"
    }
    port = int(state["containers"]["url"].rpartition(":")[2])
    assert ports == ({(host_address(), port)} - {("127.0.0.1", port)})


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_runs_in_its_image(environment: dict[str, str], function: str) -> None:
    """`sam local invoke` gives the function its sample event, and the function handles it."""
    done = subprocess.run(
        [sys.executable, "-m", "local.invoke", resource_of(function)],
        cwd=template.ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=5 * PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert_handled(function, json.loads(done.stdout))
