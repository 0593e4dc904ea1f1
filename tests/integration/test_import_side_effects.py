"""Importing a module does nothing else: it reads no setting and opens no connection."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

GUARD = """
import os, socket, sys
from pathlib import Path

root, ours = Path(sys.argv[1]), ("layers/shared/pillarbox/", "functions/")
# Powertools reads the level of its logger here too.
allowed = {("layers/shared/pillarbox/observability.py", "POWERTOOLS_LOG_LEVEL"),
           # Only in Lambda a function makes what it needs when it is loaded.
           ("layers/shared/pillarbox/wiring/__init__.py", "AWS_LAMBDA_FUNCTION_NAME")}

class Environ(type(os.environ)):
    def __getitem__(self, name):
        frame = sys._getframe(1)
        while frame.f_code.co_filename.endswith(("os.py", "<frozen os>", "_collections_abc.py",
                                                 "<frozen _collections_abc>")):
            frame = frame.f_back
        reader = frame.f_code.co_filename.removeprefix(f"{root}/")
        is_ours = reader.startswith(ours) and (reader, name) not in allowed
        assert not is_ours, f"{reader} reads {name}"
        assert not str(name).startswith("PILLARBOX_"), f"{reader} reads {name}"
        return super().__getitem__(name)

def refuse(*_):
    raise AssertionError("a connection is opened")

environ = os.environ
os.environ = Environ(environ._data, environ.encodekey, environ.decodekey,
                     environ.encodevalue, environ.decodevalue)
os.getenv = lambda name, default=None: os.environ.get(name, default)
socket.socket.connect = socket.getaddrinfo = refuse

import importlib, runpy
package = root / "layers/shared"
for source in sorted((package / "pillarbox").rglob("*.py")):
    importlib.import_module(".".join(source.relative_to(package).with_suffix("").parts)
                            .removesuffix(".__init__"))
for source in sorted((root / "functions").rglob("app.py")):
    runpy.run_path(str(source))
print("imported", len(sys.modules))
"""


def test_importing_reads_no_setting_and_connects_nowhere() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", GUARD, str(ROOT)],
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert done.stdout.startswith("imported"), done.stderr
