"""`make invoke` and `make api`: run functions in Lambda's image, on the running local stack."""

import os
import signal
import subprocess
import sys
from typing import Any, Final, Never

from admin.local_stack import read_local_stack
from local.package import PackagingFailed, build_layer
from local.samples import NoSuchFunction, sample_event, values_of
from local.template import REGION, ROOT
from pillarbox.domain.errors import ServiceError
from pillarbox.settings import Settings

_SAM: Final = ROOT / ".venv-sam" / "bin" / "sam"


class InvocationRefused(Exception):
    """Nothing can be run; the text says what to do."""


def main() -> int:
    """Run `sam local`; return its status, 1 if the function gave no answer, 2 without a stack."""
    name = (sys.argv[1:] or [""])[0]
    try:
        if name == "--api":
            _become_sam("start-api")
        return _invoke(name)
    except (InvocationRefused, NoSuchFunction, PackagingFailed, ServiceError) as error:
        print(error, file=sys.stderr)  # noqa: T201  a command's error
        return 2


def _invoke(name: str) -> int:
    """Run a function on its sample event, and print its answer.

    SAM succeeds with an empty answer if the function runs out of time. An answer is never empty:
    that of a function without one is `null`.
    """
    event = sample_event(name, values_of(_stack()))
    command = _sam("invoke", name, "--event", "-")
    # Ctrl-C also reaches SAM, which stops its containers; so this process waits for its end.
    signal.signal(signal.SIGINT, lambda *_: None)
    with subprocess.Popen(  # noqa: S603  our own command
        command,
        executable=_SAM,
        cwd=ROOT,
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as sam:
        answer, _ = sam.communicate(event)
    sys.stdout.write(answer)
    if sam.returncode == 0 and not answer.strip():
        print(f"{name} gave no answer. See above why; it may be out of time.", file=sys.stderr)  # noqa: T201  a command's error
        return 1
    return sam.returncode


def _stack() -> dict[str, Any]:
    stack = read_local_stack()
    if "containers" not in stack:
        raise InvocationRefused(
            "The local stack does not listen for containers. Stop it, and start it with:"
            f" {Settings.containers.variable}=true make up"
        )
    return stack


def _sam(*arguments: str) -> list[str]:
    """Build the layer of the sources as they are now; return the arguments of `sam local`."""
    containers = _stack()["containers"]
    build_layer(ROOT / Settings(os.environ).state_dir)
    return [
        *("sam", "local", *arguments),
        *("--config-file", str(ROOT / "samconfig.toml")),
        *("--template-file", containers["template"]),
    ]


def _environment() -> dict[str, str]:
    return os.environ | {"AWS_DEFAULT_REGION": REGION, "SAM_CLI_TELEMETRY": "0"}


def _become_sam(*arguments: str) -> Never:
    """Replace this process by `sam local`.

    So Ctrl-C reaches SAM itself, and nothing else kills it while it stops its containers.
    """
    command = _sam(*arguments)
    os.chdir(ROOT)
    os.execve(_SAM, command, _environment())  # noqa: S606  our own command


if __name__ == "__main__":
    sys.exit(main())
