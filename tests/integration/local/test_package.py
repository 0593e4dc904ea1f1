"""The archives contain what Lambda gets, and are reused."""

import subprocess
import sys
import zipfile
from pathlib import Path

from local.package import _archive, _code, _layer_archive


def _project(folder: Path) -> Path:
    source = folder / "send"
    (source / "inner").mkdir(parents=True)
    (source / "app.py").write_text("def lambda_handler(): ...\n")
    (source / "inner" / "words.txt").write_text("hello")
    (source / "__pycache__").mkdir()
    (source / "__pycache__" / "app.cpython-39.pyc").write_text("stale")
    return source


def test_an_archive_carries_byte_code(tmp_path: Path) -> None:
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
    build = tmp_path / "build"
    build.mkdir()
    source = _project(tmp_path)
    first = _archive(build, source)
    made = first.stat().st_mtime_ns
    assert _archive(build, source) == first
    assert first.stat().st_mtime_ns == made
    (source / "app.py").write_text("changed = True\n")
    assert _archive(build, source) != first


def test_a_layer_leads_to_shared_folders(tmp_path: Path) -> None:
    build = tmp_path / "build"
    (build / "dependencies" / "wheel").mkdir(parents=True)
    (build / "dependencies" / "wheel" / "__init__.py").touch()
    (build / "dependencies" / "app.py").write_text("shadowed = True\n")
    code = _code(build, _project(tmp_path))
    archive = _layer_archive(build, (code, build / "dependencies"))
    zipfile.ZipFile(archive).extractall(tmp_path / "opt")
    (packages,) = (tmp_path / "opt" / "python" / "lib").glob("python3.13/site-packages")
    program = f"import site; site.addsitedir({str(packages)!r}); import app, wheel; "
    program += "print(app.__file__, wheel.__file__)"
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert process.stdout.split() == [
        str(code / "app.py"),
        str(build / "dependencies" / "wheel" / "__init__.py"),
    ]
    assert (code / "__pycache__" / "app.cpython-313.pyc").is_file()
