"""Every packed function in Lambda's runtime: its folder, the layer, and nothing else.

SAM's runtime interface emulator calls the runtime's own client, and the functions use the
running local stack. The interpreter has no site-packages, so a dependency that is missing from
the layer is missing here too.
"""

import base64
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from local import template
from local.engine import STACK_NAME
from local.samples import sample_event, values_of
from tests.needs import linux_only
from tests.stack import PATIENCE, free_port, wait_for

pytestmark = [
    pytest.mark.stack,
    linux_only,
]

EMULATORS = template.ROOT / ".venv-sam/lib/python3.13/site-packages/samcli/local/rapid"
#: What these answer if all is well; all others answer 200.
ANSWERS = {
    "change_message": 409,  # the sample's message does not wait
    "delete_account": 404,
    "sign_in": 202,
    "delete_template": 204,
    "write_webhooks": 202,
}
#: The last that a function counts, and the least count. The running stack has an account, and may
#: have no webhook endpoint.
COUNTED = {
    "sweep_messages": ("sweep_tasks", 1),
    "enqueue_due": ("alerts_told", 0),
    "mail_code": ("code_accepted", 0),
}
FUNCTIONS = sorted(path.parent.name for path in template.ROOT.glob("functions/*/app.py"))

type Invoke = Callable[[dict[str, Any]], Any]


def resource_of(function: str) -> str:
    resources = template.load()["Resources"]
    (name,) = (
        name
        for name, resource in resources.items()
        if resource.get("Properties", {}).get("CodeUri") == f"functions/{function}"
    )
    return str(name)


def settings_of(function: str, stack: dict[str, Any]) -> dict[str, str]:
    """Return the environment that the function would have if the running stack were deployed."""
    deployed = template.for_sam(stack["environment"], "any", Path("unused"))
    properties = deployed["Resources"][resource_of(function)]["Properties"]
    own_variables = properties.get("Environment", {}).get("Variables", {})
    variables = deployed["Globals"]["Function"]["Environment"]["Variables"] | own_variables
    defaults = {name: str(entry.get("Default")) for name, entry in deployed["Parameters"].items()}
    defaults |= {"AWS::AccountId": "000000000000", "AWS::StackName": STACK_NAME}
    return {name: _without_conditions(value, defaults) for name, value in variables.items()}


def _without_conditions(value: Any, defaults: dict[str, str]) -> str:
    """Return a variable as a stack has it in which no condition holds."""
    if isinstance(value, str):
        return value
    return (
        _without_conditions(value["Fn::If"][2], defaults)
        if "Fn::If" in value
        else defaults[value["Ref"]]
    )


def _emulator(
    settings: dict[str, str], pythonpath: str, task: Path, ports: tuple[int, int], log: Path
) -> subprocess.Popen[bytes]:
    architecture = {"aarch64": "arm64"}.get(platform.machine(), platform.machine())
    with log.open("wb") as output:
        return subprocess.Popen(
            [
                EMULATORS / f"aws-lambda-rie-{architecture}",
                *("--runtime-interface-emulator-address", f"127.0.0.1:{ports[0]}"),
                *("--runtime-api-address", f"127.0.0.1:{ports[1]}"),
                *(sys.executable, "-S", "-P", "-m", "awslambdaric", "app.lambda_handler"),
            ],
            cwd=task,
            env=settings
            | {
                "AWS_LAMBDA_FUNCTION_TIMEOUT": "60",
                "HOME": "/nonexistent",
                "LAMBDA_TASK_ROOT": str(task),
                "NO_PROXY": "127.0.0.1",
                "PATH": os.environ["PATH"],
                "PYTHONPATH": pythonpath,
            },
            stdout=output,
            stderr=subprocess.STDOUT,
        )


@contextmanager
def running(
    function: str, stack: dict[str, Any], layer: Path, runtime: Path, task: Path
) -> Iterator[Invoke]:
    """Run the packed function, the folder `task`, in its runtime until the end of the block."""
    log = task.with_name("log")
    ports = free_port(), free_port()
    settings = settings_of(function, stack) | {
        "AWS_LAMBDA_FUNCTION_NAME": resource_of(function),
        "AWS_CA_BUNDLE": str(layer / "python" / "amazon.pem"),
        # Compiled once a run, and not into the folders, since for root none is read-only.
        "PYTHONPYCACHEPREFIX": str(layer.with_name("bytecode")),
    }
    process = _emulator(settings, f"{task}:{layer / 'python'}:{runtime}", task, ports, log)

    def invoke(event: dict[str, Any]) -> Any:
        url = f"http://127.0.0.1:{ports[0]}/2015-03-31/functions/function/invocations"
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                # A context of TLS would take 8 ms for each try.
                return httpx.post(url, json=event, timeout=PATIENCE, verify=False).json()  # noqa: S501
            except httpx.ConnectError:
                assert process.poll() is None
                assert time.monotonic() < deadline, "the emulator does not respond"
                time.sleep(0.05)

    try:
        yield invoke
    except Exception as failure:
        failure.add_note(log.read_text())
        raise
    finally:
        process.kill()
        process.wait()


def contents(folder: Path) -> dict[Path, tuple[int, int]]:
    return {p: (p.stat().st_size, p.stat().st_mtime_ns) for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def unchanged_layer(layer: Path) -> Iterator[Path]:
    """Return the folder of the layer, which no function may have changed in the end."""
    before = contents(layer)
    yield layer
    assert contents(layer) == before


@pytest.fixture
def task(function: str, editor: Path, passkeys: Path, tmp_path: Path) -> Path:
    """Return a read-only copy of the function's folder as it is deployed."""
    task = tmp_path / "task"
    built = {"edit_templates": editor, "passkeys": passkeys}
    source = built.get(function, template.ROOT / "functions" / function)
    shutil.copytree(source, task, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (*task.rglob("*"), task):
        path.chmod(path.stat().st_mode & ~0o222)
    return task


def assert_handled(function: str, response: dict[str, Any]) -> None:
    """Check what a function answers to its sample event."""
    if "statusCode" in response:
        body = response["body"]
        text = base64.b64decode(body) if response.get("isBase64Encoded") else body
        assert response["statusCode"] == ANSWERS.get(function, 200), text
        assert not text or json.loads(text)
    elif function in COUNTED:
        name, least = COUNTED[function]
        assert [*response][-1] == name
        assert response[name] >= least
    elif function == "provide_resources":  # the running stack has no management key
        assert response["errorType"] == "SettingError"
    else:
        assert response == {"batchItemFailures": []}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_packed_function_handles_its_sample(
    stack: dict[str, Any], unchanged_layer: Path, runtime: Path, task: Path, function: str
) -> None:
    before = contents(task)
    event = json.loads(sample_event(resource_of(function), values_of(stack)))
    with running(function, stack, unchanged_layer, runtime, task) as invoke:

        def respond() -> dict[str, Any] | None:
            """Return the response; None if the busy stack did not answer the function in time."""
            response: dict[str, Any] = invoke(event)
            is_late = response.get("statusCode") == httpx.codes.SERVICE_UNAVAILABLE
            return None if is_late else response

        assert_handled(function, wait_for(respond))
    assert contents(task) == before
