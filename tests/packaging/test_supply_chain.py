"""Everything that is installed is pinned by its hash, and a release lists what it contains."""

import json
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from local.template import ROOT

REQUIREMENTS: Final = [".checkov.txt", ".uv.txt", "layers/shared/requirements.txt"]
#: What installs packages.
INSTALLERS: Final = [
    "Makefile",
    "layers/shared/Makefile",
    "relay/Dockerfile",
    "local/Dockerfile",
    "local/package.py",
]


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_each_package_has_a_version_and_hashes(name: str) -> None:
    entries = (ROOT / name).read_text().replace("\\\n", " ").splitlines()
    assert entries
    for entry in entries:
        package, *options = re.split(r"\s+(?=--hash=)", entry)
        assert re.match(r"[a-z0-9._-]+==\S+", package)
        assert options
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}\s*", option) for option in options)


@pytest.mark.parametrize("name", INSTALLERS)
def test_installers_ask_for_hashes(name: str) -> None:
    text = (ROOT / name).read_text().replace("\\\n", " ")
    if name.endswith(".py"):  # there, a command is a list of words
        commands = re.findall(r'"pip", "install".*?\n    \)', text, re.DOTALL)
    else:
        commands = re.findall(r"pip (?:install|sync).*", text)
    assert commands
    assert [command for command in commands if "--require-hashes" not in command] == []


@pytest.mark.parametrize(
    ("base", "accepted"),
    [
        (f"python:3.13-slim@sha256:{'a' * 64}", True),
        ("python:3.13-slim", False),
        (f"python:3.12-slim@sha256:{'a' * 64}", False),
        (f"other/python:3.13-slim@sha256:{'a' * 64}", False),
        ("", False),
    ],
)
def test_the_container_has_a_base_image_with_a_digest(base: str, *, accepted: bool) -> None:
    """Each stage starts from BASE, which has no default, and a build with a tag alone fails."""
    dockerfile = (ROOT / "relay/Dockerfile").read_text()
    stages = re.findall(r"^FROM (?:--platform=\S+ )?(\S+) AS (\w+)$", dockerfile, re.MULTILINE)
    assert len(stages) == dockerfile.count("\nFROM ")
    names = {name for _, name in stages}
    assert {source for source, _ in stages if source not in names} == {"${BASE}"}
    # An argument with a default would have a `=`.
    arguments = set(re.findall(r"^ARG (.+)", dockerfile, re.MULTILINE))
    assert arguments == {"BASE", "TARGETARCH", "REVISION", "VERSION"}
    first_command = re.findall(r"^RUN (.+)", dockerfile, re.MULTILINE)[0]
    built = subprocess.run(["sh", "-c", first_command], env={"BASE": base}, check=False)
    assert (built.returncode == 0) is accepted
    version = (ROOT / ".python-version").read_text().strip()
    assert f"python:{version}-slim@" in first_command


def test_a_release_lists_what_is_deployed(tmp_path: Path) -> None:
    """The CycloneDX list of `make sbom` names every package of the layer with its version."""
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    command = re.search(r"\$\(UV\) (export .*cyclonedx.*)", makefile)
    assert command
    arguments = command[1].replace(".aws-sam/", f"{tmp_path}/").split()
    subprocess.run([ROOT / ".uv/bin/uv", *arguments, "--offline"], cwd=ROOT, check=True)
    sbom = json.loads((tmp_path / "sbom.cdx.json").read_text())
    assert sbom["bomFormat"] == "CycloneDX"
    listed = {f"{item['name']}=={item['version']}" for item in sbom["components"]}
    layer = (ROOT / "layers/shared/requirements.txt").read_text()
    assert set(re.findall(r"^\S+==\S+", layer, re.MULTILINE)) <= listed
