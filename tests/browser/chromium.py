"""A headless Chromium, driven over its debugging pipe: no driver, no port, no web socket."""

import base64
import fcntl
import itertools
import json
import os
import select
import signal
import time
import zlib
from pathlib import Path
from typing import Any, Final

from tests.needs import need_program

_SWITCHES: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)
_PATIENCE: Final = 60.0  # seconds for any one thing; only a broken run takes them


class Browser:
    """One page. The pipe speaks JSON with a NUL after each message, commands in on 3, out on 4."""

    def __init__(self, profile: Path) -> None:
        program = need_program("chromium")
        commands, self._to = os.pipe()
        self._from, answers = os.pipe()
        # Above 9, so that neither is 3 or 4, where the browser looks for its ends.
        low, high = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (commands, answers))
        self._pid = os.posix_spawn(
            program,
            [program, *_SWITCHES, f"--user-data-dir={profile}", "about:blank"],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, low, 3),
                (os.POSIX_SPAWN_DUP2, high, 4),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
            setpgroup=0,
        )
        for end in (commands, answers, low, high):
            os.close(end)
        self._numbers = itertools.count(1)
        self._read = b""
        self._session: str | None = None
        target = self._do("Target.createTarget", url="about:blank")["targetId"]
        attached = self._do("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]

    def _do(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        command: dict[str, Any] = {"id": number, "method": method, "params": params}
        if self._session:
            command["sessionId"] = self._session
        os.write(self._to, json.dumps(command).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._read:
            assert select.select([self._from], [], [], _PATIENCE)[0], "the browser is silent"
            more = os.read(self._from, 1 << 20)
            assert more, "the browser has gone"
            self._read += more
        message, _, self._read = self._read.partition(b"\0")
        return dict(json.loads(message))

    def view(self, width: int, height: int, *, dark: bool = False) -> None:
        """The size of the page in CSS pixels, and the reader's colour scheme."""
        self._do(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._do("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, url: str) -> None:
        self._do("Page.navigate", url="about:blank")
        self._do("Page.navigate", url=url)

    def js(self, expression: str) -> Any:
        """The value of an expression in the page."""
        result = self._do("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def until(self, condition: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + _PATIENCE
        while not self.js(condition):
            assert time.monotonic() < end, f"{condition} does not come true"
            time.sleep(0.02)

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self._do("Input.dispatchKeyEvent", type=kind, key=key)

    def colour(self, x: float, y: float) -> tuple[int, int, int]:
        """Red, green and blue of one pixel: the first of a PNG's first row is never filtered."""
        clip = {"x": round(x), "y": round(y), "width": 1, "height": 1, "scale": 1}
        png = base64.b64decode(self._do("Page.captureScreenshot", clip=clip)["data"])
        at = png.index(b"IDAT")
        length = int.from_bytes(png[at - 4 : at])
        red, green, blue = zlib.decompressobj().decompress(png[at + 4 : at + 4 + length])[1:4]
        return red, green, blue

    def until_colour(self, x: float, y: float, colour: tuple[int, int, int]) -> None:
        """Wait until a pixel has that colour."""
        end = time.monotonic() + _PATIENCE
        while (found := self.colour(x, y)) != colour:
            assert time.monotonic() < end, f"{found} does not become {colour}"

    def close(self) -> None:
        os.killpg(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._to)
        os.close(self._from)
