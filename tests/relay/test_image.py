"""The container's image, as far as it can be built and run without a container engine.

The test copies and runs what relay/Dockerfile copies and runs. It starts the image's command as
ECS does: as nobody, without capabilities, on a file system that cannot be written.
"""

import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes import builders
from tests.needs import need_program, need_root
from tests.relay.relay_program import connect, write_certificate
from tests.relay.running_relay import PATIENCE, certificate, plain
from tests.stack import free_port, wait_for
from trim_sdk import SERVICES

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "relay" / "Dockerfile").read_text().replace("\\\n", " ")
_, BUILD_STAGE, RUNTIME_STAGE, FRONT_STAGE, RELAY_STAGE = DOCKERFILE.split("\nFROM ")
#: Starts a command on a read-only root file system with Python, the image's content and a secret.
LIKE_ECS = """
mount --make-rprivate /
mount -t tmpfs none /mnt
mkdir /mnt/python /mnt/relay /mnt/tls
mount --bind {python} /mnt/python
mount --bind {site} /mnt/relay
cp {tls}/smtp.pem /mnt/tls
chmod -R a+rX /mnt/tls
for folder in / /mnt /mnt/python /mnt/relay; do mount -o remount,ro,bind $folder; done
for folder in /tmp /var/tmp /dev/shm; do mount -t tmpfs -o ro none $folder; done
cd /
exec setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs \
  --bounding-set -all --inh-caps -all \
  env --ignore-environment {variables} /mnt/python/bin/python3.13 {arguments}
"""


def instructions(stage: str, name: str) -> list[str]:
    return re.findall(rf"^{name} (.+)$", stage, re.MULTILINE)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the first stage and return its folder `site`, which everyone may read."""
    folder = tmp_path_factory.mktemp("made")
    tools = f"{ROOT / '.uv/bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    base = f"python:3.13-slim@sha256:{'0' * 64}"
    architecture = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
    environment = os.environ | {
        "PATH": tools,
        "UV_PYTHON": sys.executable,
        "BASE": base,
        "TARGETARCH": architecture,
    }
    for instruction, arguments in re.findall(r"^(COPY|RUN) (.+)$", BUILD_STAGE, re.MULTILINE):
        if instruction == "COPY":
            *sources, target = arguments.split()
            for source in sources:
                to = folder / target
                if (ROOT / source).is_dir():
                    shutil.copytree(ROOT / source, to)
                else:
                    shutil.copy(ROOT / source, to)
        elif not arguments.startswith("pip install"):  # uv itself
            subprocess.run(arguments, shell=True, cwd=folder, env=environment, check=True)  # noqa: S602  the Dockerfile's own command
    subprocess.run(["chmod", "-R", "a+rX", folder / "site"], check=True)
    return folder / "site"


@contextmanager
def started(
    site: Path, tls: Path, *arguments: str, **variables: str
) -> Iterator[subprocess.Popen[str]]:
    """Run Python in the image as ECS does."""
    need_root()  # only root may mount a read-only file system
    need_program("setpriv")
    (image,) = instructions(RUNTIME_STAGE, "ENV")
    environment = dict(entry.split("=", 1) for entry in image.split()) | {
        "PYTHONPATH": "/mnt/relay",
        "LD_LIBRARY_PATH": "/mnt/python/lib",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
    }
    script = LIKE_ECS.format(
        python=sys.base_prefix,
        site=site,
        tls=tls,
        variables=shlex.join(
            f"{name}={value}" for name, value in (environment | variables).items()
        ),
        arguments=shlex.join(arguments),
    )
    process = subprocess.Popen(
        [need_program("unshare"), "--mount", "sh", "-euc", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_nothing_can_be_written(site: Path, tmp_path: Path) -> None:
    write_certificate(tmp_path, certificate())
    tries = (
        "import json, os, tempfile\n"
        "def writes(folder):\n"
        "    try:\n"
        "        open(os.path.join(folder, 'x'), 'w').close()\n"
        "    except OSError:\n"
        "        return False\n"
        "    return True\n"
        "folders = ['/', '/tmp', '/var/tmp', '/dev/shm', '/mnt', '/mnt/relay']\n"
        "status = open('/proc/self/status').read()\n"
        "print(json.dumps([os.getuid(), [f for f in folders if writes(f)],\n"
        "                  'CapEff:\\t0000000000000000' in status]))\n"
    )
    with started(site, tmp_path, "-c", tries) as process:
        output, errors = process.communicate(timeout=PATIENCE)
        assert json.loads(output or "null") == [65534, [], True], errors


def test_relay_in_its_image(site: Path, tmp_path: Path) -> None:
    """The image's command greets, speaks TLS, calls AWS, is healthy, and ends at SIGTERM."""
    write_certificate(tmp_path, certificate())
    (command,) = instructions(RELAY_STAGE, "CMD")
    port = free_port()
    settings = builders.environment("relay") | {
        "PILLARBOX_SMTP_NAME": "relay.example",
        "PILLARBOX_SMTP_PORT": str(port),
        "PILLARBOX_SMTP_CERTIFICATE": "/mnt/tls/smtp.pem",
        "PILLARBOX_PROCESSES": "2",
    }
    with started(site, tmp_path, *json.loads(command)[1:], **settings) as process:
        with connect(port) as client:
            assert client.reply() == b"220 relay.example ESMTP Pillarbox\r\n"
            client.start_tls()
            client.command("EHLO client.example")
            key = "bx_live_acct000000010123456789abcdefghjkmnpqrstvwxyz56c98250"
            assert client.command(f"AUTH PLAIN {plain(key)}").startswith(b"454 4.7.0 ")
            with started(site, tmp_path, "-m", "relay.health", **settings) as check:
                assert check.wait(PATIENCE) == 0
            process.send_signal(signal.SIGTERM)
            assert client.reply().startswith(b"421 4.3.2 ")
        output, errors = process.communicate(timeout=PATIENCE)
        assert (process.returncode, errors) == (0, "")
        assert "unexpected" not in output


def test_front_in_its_image(site: Path, tmp_path: Path) -> None:
    write_certificate(tmp_path, certificate())
    port = free_port()
    settings = builders.environment("front") | {
        "PILLARBOX_PORT": str(port),
        "PILLARBOX_PROCESSES": "2",
        "PILLARBOX_EDGE_SECRET": "secret",
    }

    def healthy() -> bool:
        assert process.poll() is None, process.communicate()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=30) as response:
                return bool(response.status == 200)
        except OSError:
            return False

    with started(site, tmp_path, "-m", "front", **settings) as process:
        wait_for(healthy)
        with started(site, tmp_path, "-m", "front.health", **settings) as check:
            assert check.wait(PATIENCE) == 0
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0


def test_image_runs_as_nobody() -> None:
    assert instructions(RUNTIME_STAGE, "USER") == ["65534:65534"]
    (port,) = instructions(RELAY_STAGE, "EXPOSE")
    assert port == "5870"
    assert "PILLARBOX_HOST=0.0.0.0" in RUNTIME_STAGE
    assert instructions(RUNTIME_STAGE, "STOPSIGNAL") == ["SIGTERM"]


def test_image_gives_memory_back() -> None:
    """Without the threshold of malloc, a second wave of large messages does not fit."""
    assert "MALLOC_MMAP_THRESHOLD_=1048576" in instructions(RUNTIME_STAGE, "ENV")[0].split()


@pytest.mark.parametrize(("stage", "role"), [(RELAY_STAGE, "relay"), (FRONT_STAGE, "front")])
def test_each_program_has_its_own_health_check(stage: str, role: str) -> None:
    (check,) = instructions(stage, "HEALTHCHECK")
    assert json.loads(check.partition(" CMD ")[2]) == ["python", "-m", f"{role}.health"]
    (command,) = instructions(stage, "CMD")
    assert json.loads(command) == ["python", "-m", role]


def test_the_image_holds_what_it_needs(site: Path) -> None:
    data = {path.name for path in (site / "botocore/data").iterdir() if path.is_dir()}
    assert data == {*SERVICES}
    assert not {"bin", ".lock"} & {path.name for path in site.iterdir()}


def test_the_build_gets_only_what_it_copies() -> None:
    sources = {
        source
        for arguments in instructions(BUILD_STAGE, "COPY")
        for source in arguments.split()[:-1]
    }
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    rules = [line for line in lines if not line.startswith("#")]
    assert rules[0] == "*"
    assert {rule[1:] for rule in rules if rule.startswith("!")} == sources


def test_no_step_of_the_build_may_fail() -> None:
    assert "|| true" not in DOCKERFILE
    assert ";" not in " ".join(
        command for command in instructions(BUILD_STAGE, "RUN") if not command.startswith("case")
    )
