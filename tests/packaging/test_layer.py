"""The deployed layer is complete, compiled, of the right architecture and within the limits."""

import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from local import template
from tests.needs import linux_only
from tests.packaging.conftest import RELEASE

#: Lambda's limits in bytes: a zipped upload, and a function with its layers unzipped.
ZIPPED = 50 * 1024 * 1024
UNZIPPED = 250 * 1024 * 1024
#: The version of the C library in Amazon Linux 2023, the runtime's operating system.
GLIBC = (2, 34)
#: e_machine of the ELF header for AArch64.
AARCH64 = 183

type Run = Callable[..., tuple[str, str]]


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_the_layer_and_functions_fit(built: Path, deployed_layer: Path) -> None:
    """Zipped and unzipped, the layer and the largest function stay far below Lambda's limits."""
    (archive,) = (built / RELEASE).glob("SharedLayer-*.zip")
    assert archive.stat().st_size < ZIPPED / 2
    functions = [path.parent for path in template.ROOT.glob("functions/*/app.py")]
    assert size(deployed_layer) + max(map(size, functions)) < UNZIPPED / 5


def test_native_code_runs_on_the_runtime(deployed_layer: Path) -> None:
    """Each shared object is for arm64 and needs no newer C library than the runtime's."""
    declared = template.load()["Globals"]["Function"]["Architectures"]
    assert declared == ["arm64"]
    objects = list(deployed_layer.rglob("*.so"))
    assert objects
    for path in objects:
        content = path.read_bytes()
        assert content.startswith(b"\x7fELF")
        assert int.from_bytes(content[18:20], "little") == AARCH64, path
        needed = {(int(a), int(b)) for a, b in re.findall(rb"GLIBC_(\d+)\.(\d+)", content)}
        assert max(needed, default=GLIBC) <= GLIBC, path


def test_nothing_is_compiled_at_a_cold_start(deployed_layer: Path) -> None:
    """Every module has byte code that stays valid when the times of the files change."""
    modules = list(deployed_layer.rglob("*.py"))
    assert modules
    for module in modules:
        code = Path(importlib.util.cache_from_source(str(module))).read_bytes()
        assert code[:4] == importlib.util.MAGIC_NUMBER
        assert code[4:8] == b"\x01\x00\x00\x00", f"{module}: not unchecked-hash byte code (PEP 552)"


@pytest.mark.parametrize("package", ["boto3", "moto", "pytest", "local", "admin", "relay"])
def test_the_layer_contains_nothing_else(deployed_layer: Path, package: str) -> None:
    assert not (deployed_layer / "python" / package).exists()


IMPORT_ALL = """
import importlib, pkgutil, pillarbox
for module in pkgutil.walk_packages(pillarbox.__path__, "pillarbox."):
    importlib.import_module(module.name)
import dns.resolver, jinja2
"""


@pytest.fixture
def run_alone(layer: Path) -> Run:
    """Runs a script with the layer and nothing else but a folder; returns its output and errors."""

    def run(script: str, *folders: Path) -> tuple[str, str]:
        paths = ":".join(map(str, (*folders, layer / "python")))
        completed = subprocess.run(
            [sys.executable, "-S", "-P", "-c", script],
            env={"PYTHONPATH": paths, "PYTHONPYCACHEPREFIX": str(layer.with_name("bytecode"))},
            capture_output=True,
            text=True,
            check=False,
        )
        return completed.stdout, completed.stderr

    return run


def exported(*options: str) -> str:
    """Return the requirements that `uv export` makes of uv.lock."""
    export = (template.ROOT / ".uv/bin/uv", "export", "--frozen", "--offline", "--quiet")
    return subprocess.run(
        [*export, *options, "--no-annotate", "--no-header"],
        cwd=template.ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@linux_only
def test_every_module_can_be_imported(run_alone: Run) -> None:
    assert run_alone(f"{IMPORT_ALL}print('all')") == ("all\n", "")


def test_the_layer_contains_the_locked_versions() -> None:
    locked = exported("--no-default-groups", "--no-emit-project")
    assert (template.ROOT / "layers/shared/requirements.txt").read_text() == locked


def test_the_editor_brings_its_compilers(
    run_alone: Run, deployed_layer: Path, editor: Path
) -> None:
    """The function edit_templates has MJML and the inliner beside it, at the locked versions."""
    folder = template.ROOT / "functions/edit_templates"
    assert (folder / "requirements.txt").read_text() == exported("--only-group", "editor")
    script = "import css_inline, jinja2, mrml; print(mrml.to_html('<mjml></mjml>').content[:15])"
    assert run_alone(script, editor) == ("<!doctype html>\n", "")
    assert size(editor) + size(deployed_layer) < UNZIPPED / 2


def test_passkeys_bring_their_verifier(
    run_alone: Run, deployed_layer: Path, passkeys: Path
) -> None:
    """The function passkeys has the package webauthn beside it, at the locked versions."""
    folder = template.ROOT / "functions/passkeys"
    assert (folder / "requirements.txt").read_text() == exported("--only-group", "passkeys")
    script = """
from pillarbox.adapters import passkeys as checks
from pillarbox.domain.sign_in.passkey import PasskeyAnswer, Site
try:
    checks._check_use(PasskeyAnswer(*["e30"] * 5), b"", Site("a", "b"), "")
except Exception as error:
    print(type(error).__name__)
"""
    assert run_alone(script, passkeys) == ("InvalidAuthenticationResponse\n", "")
    assert size(passkeys) + size(deployed_layer) < UNZIPPED / 2


def test_the_layer_has_the_list_of_disposable_domains(run_alone: Run) -> None:
    script = (
        "from pillarbox.adapters.public_suffixes import is_disposable as listed;"
        " print(listed('mailinator.com'), listed('customer.example'))"
    )
    assert run_alone(script) == ("True False\n", "")


def test_the_layer_has_the_list_of_public_suffixes(run_alone: Run) -> None:
    script = (
        "from pillarbox.adapters.public_suffixes import registrable_domain as registered;"
        " print(*map(registered, ('mail.shop.co.uk', 'co.uk', 'github.io')))"
    )
    assert run_alone(script) == ("shop.co.uk None None\n", "")
