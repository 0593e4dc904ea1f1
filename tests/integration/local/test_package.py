"""The archives contain what Lambda gets, and are reused."""

import zipfile
from pathlib import Path

from local.package import _archive


def _project(folder: Path) -> Path:
    source = folder / "send"
    (source / "inner").mkdir(parents=True)
    (source / "app.py").write_text("def lambda_handler(): ...\n")
    (source / "inner" / "words.txt").write_text("hello")
    (source / "__pycache__").mkdir()
    (source / "__pycache__" / "app.cpython-39.pyc").write_text("stale")
    return source


def test_an_archive_carries_byte_code(tmp_path: Path) -> None:
    """An archive has sources, data and fresh byte code, but no stale byte code."""
    build = tmp_path / "build"
    build.mkdir()
    names = zipfile.ZipFile(_archive(build, _project(tmp_path))).namelist()
    files = [name for name in names if not name.endswith("/")]
    assert sorted(files) == [
        "__pycache__/app.cpython-313.pyc",
        "app.py",
        "inner/words.txt",
    ]


def test_an_archive_is_reused(tmp_path: Path) -> None:
    """Unchanged sources reuse the archive; a changed file gives a new one."""
    build = tmp_path / "build"
    build.mkdir()
    source = _project(tmp_path)
    first = _archive(build, source)
    made = first.stat().st_mtime_ns
    assert _archive(build, source) == first
    assert first.stat().st_mtime_ns == made
    (source / "app.py").write_text("changed = True\n")
    assert _archive(build, source) != first


def test_a_layer_is_under_python(tmp_path: Path) -> None:
    """A layer's sources and dependencies are in python/, which Lambda adds to the path."""
    build = tmp_path / "build"
    (build / "dependencies" / "wheel").mkdir(parents=True)
    (build / "dependencies" / "wheel" / "__init__.py").touch()
    names = zipfile.ZipFile(_archive(build, _project(tmp_path), build / "dependencies")).namelist()
    assert {"python/app.py", "python/wheel/__init__.py"} <= set(names)
    assert all(name.startswith("python/") for name in names)
