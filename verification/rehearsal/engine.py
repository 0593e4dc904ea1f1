"""LocalStack on the loopback interface: a CloudFormation that the local stack does not use."""

import os
import platform
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx
import psutil

from tests.stack import free_port
from verification.dynamodb_local.server import ROOT, fetch, java_command

_PYTHON: Final = ROOT / ".venv-localstack" / "bin" / "python"
_PROGRAM: Final = Path(__file__).with_name("start_localstack.py")
#: The physical id of a resource that LocalStack lacks begins with this.
STAND_IN: Final = "stand-in-"
#: The log of the last run.
LOG: Final = ROOT / ".local" / "rehearsal.log"
#: Seconds; long enough for a busy machine.
_STARTS_WITHIN: Final = 120.0
_STOPS_WITHIN: Final = 10.0


class EngineFailed(Exception):
    """LocalStack did not start; the text says where its log is."""


@contextmanager
def running() -> Iterator[str]:
    """Run an empty engine within a `with` block; yield its URL.

    Raises:
        EngineMissing: DynamoDB Local cannot be fetched or run.
        EngineFailed: LocalStack did not start.
    """
    with tempfile.TemporaryDirectory(prefix="rehearsal-") as name:
        root, port = Path(name), free_port()
        _put_programs(root / "var" / "lib" / "localstack" / "lib")
        LOG.parent.mkdir(exist_ok=True)
        with LOG.open("wb") as log:
            process = subprocess.Popen(
                [_PYTHON, _PROGRAM],
                cwd=root,
                env=_environment(root, port),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_until_ready(process, url)
            yield url
        finally:
            _stop(process)


def _environment(root: Path, port: int) -> dict[str, str]:
    """Return LocalStack's settings: everything below one folder, no download, no other address."""
    return {
        "CFN_IGNORE_UNSUPPORTED_RESOURCE_TYPES": "0",
        "CFN_VERBOSE_ERRORS": "1",
        "DISABLE_EVENTS": "1",
        "DNS_ADDRESS": "0",
        "DOCKER_HOST": f"unix://{root}/none",
        "FILESYSTEM_ROOT": str(root),
        "GATEWAY_LISTEN": f"127.0.0.1:{port}",
        "GATEWAY_SERVER": "hypercorn",  # the default listens on every interface
        "HOME": str(root),
        "LOCALSTACK_VOLUME_DIR": str(root),
        "LS_LOG": "warn",
        "OVERRIDE_IN_DOCKER": "0",  # in a container it would use the folders of its own image
        "PATH": os.environ["PATH"],
        # Streams by DynamoDB Local; the default needs one more program.
        "PROVIDER_OVERRIDE_DYNAMODB": "v2",
        "PROVIDER_OVERRIDE_DYNAMODBSTREAMS": "v2",
        "SKIP_SSL_CERT_DOWNLOAD": "1",
        "STAND_IN": STAND_IN,
        "TMPDIR": str(root),
    }


def _put_programs(folder: Path) -> None:
    """Put what LocalStack would download into the folders where it looks first."""
    database = folder / "dynamodb-local" / "2"
    database.parent.mkdir(parents=True)
    database.symlink_to(fetch())
    java = folder / "java" / "21" / "bin" / "java"
    java.parent.mkdir(parents=True)
    start = shlex.join(java_command("PORT")).replace("PORT", '"$2"')
    java.write_text(f'#!/bin/sh\nwhile [ "$1" != -port ]; do shift; done\nexec {start}\n')
    java.chmod(0o755)
    # Functions do not run in a rehearsal, so nothing starts this file.
    runtime = folder / "lambda-runtime" / "v0.1.35-pre" / platform.machine() / "var/rapid/init"
    runtime.parent.mkdir(parents=True)
    runtime.touch()


def _wait_until_ready(process: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + _STARTS_WITHIN
    with httpx.Client(trust_env=False) as http:
        while time.monotonic() < deadline and process.poll() is None:
            try:
                http.get(f"{url}/_localstack/health").raise_for_status()
            except httpx.HTTPError:
                time.sleep(0.2)
            else:
                return
    raise EngineFailed(f"LocalStack did not start. See {LOG}.")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End LocalStack and DynamoDB Local, which has a session of its own."""
    if process.poll() is not None:
        return
    started = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_STOPS_WITHIN)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for child in started:
        if child.is_running():
            child.kill()
    psutil.wait_procs(started, _STOPS_WITHIN)
