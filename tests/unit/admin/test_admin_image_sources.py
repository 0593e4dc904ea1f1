"""What the image of the relay is built from."""

from pathlib import Path

import pytest

from admin.use_cases.image_sources import image_tag, sources

ROOT = Path(__file__).parents[3]
DOCKERFILE = ROOT / "relay" / "Dockerfile"


def test_the_build_sees_only_what_it_copies() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    assert patterns[0] == "*"
    allowed = {pattern.removeprefix("!") for pattern in patterns if pattern.startswith("!")}
    assert allowed == set(sources(DOCKERFILE))
    assert patterns[-1] == "**/__pycache__"
    assert all((ROOT / path).exists() for path in allowed)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "code" / "__pycache__").mkdir(parents=True)
    (tmp_path / "code" / "a.py").write_text("a")
    (tmp_path / "lock").write_text("1")
    (tmp_path / "README").write_text("no part of the image")
    (tmp_path / "Dockerfile").write_text("COPY lock ./\nCOPY code code\nCOPY --from=x /y /z\n")
    return tmp_path


def tag(project: Path, base: str = "base") -> str:
    return image_tag(project, project / "Dockerfile", base)


def test_the_same_sources_have_the_same_tag(project: Path) -> None:
    before = tag(project)
    (project / "code" / "__pycache__" / "a.pyc").write_text("b")
    (project / "README").write_text("changed")
    assert tag(project) == before
    assert len(before) == 16


@pytest.mark.parametrize("changed", ["code/a.py", "code/b.py", "lock", "Dockerfile"])
def test_another_source_is_another_tag(project: Path, changed: str) -> None:
    before = tag(project)
    with (project / changed).open("a") as file:
        file.write("\n#")
    assert tag(project) != before


def test_another_base_is_another_tag(project: Path) -> None:
    """A base image with security updates makes another image of the same sources."""
    assert tag(project, "a") != tag(project, "b")
