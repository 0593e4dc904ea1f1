"""The wheel of the command has all that the command reads."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from admin.use_cases.image_sources import image_tag
from tools import wheel
from tools.pack_release import ROOT


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Return a folder with what the wheel installs, without the builds of service and dashboard."""
    wheel.stage(tmp_path, built=())
    return tmp_path


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    program = "from pillarbox_stack.admin.installed import main; main()"
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("AWS", "PYTHON"))
    }
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=folder,
        env=environment | {"AWS_DEFAULT_REGION": "eu-west-1", "AWS_EC2_METADATA_DISABLED": "true"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_finds_its_files_in_the_wheel(installed: Path) -> None:
    package = installed / "pillarbox_stack"
    deployed = _run(installed, "deploy")
    assert deployed.stderr.startswith("There are no AWS credentials")
    dockerfiles = [folder / "relay/Dockerfile" for folder in (package, ROOT)]
    tags = {image_tag(each.parents[1], each, "base") for each in dockerfiles}
    assert len(tags) == 1  # what the relay's image is built from
    listed = _run(installed, "--local", "account", "list")
    assert "local stack is not running" in listed.stderr


def test_the_wheel_names_what_it_needs(installed: Path) -> None:
    """Each dependency has one version, apart from those that the engine pins."""
    project = tomllib.loads((installed / "pyproject.toml").read_text())["project"]
    needed = {need.partition(";")[0].strip() for need in project["dependencies"]}
    assert {need for need in needed if "==" not in need} == {"boto3"}
    assert {need.partition("==")[0] for need in needed} > {"ministack", "pydantic", "typer", "uv"}
    folders = {path.name for path in (installed / "pillarbox_stack").iterdir()}
    assert {"admin", "functions", "layers", "local", "template.yaml"} < folders
    assert "tests" not in folders
