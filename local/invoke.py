"""`make invoke` and `make api`: run functions in Lambda's image, on the running local stack."""

import os
import re
import sys
import tempfile
from typing import Any, Final, Never

from admin.local_stack import read_local_stack
from local.package import PackagingFailed, build_layer
from local.template import REGION, ROOT
from pillarbox.domain.errors import ServiceError
from pillarbox.settings import Settings

_SAM: Final = ROOT / ".venv-sam" / "bin" / "sam"
_EVENTS: Final = ROOT / "events"


class InvocationRefused(Exception):
    """Nothing can be run; the text says what to do."""


def main() -> int:
    """Become `sam local`, or return 2 if it cannot be started."""
    name = (sys.argv[1:] or [""])[0]
    try:
        if name == "--api":
            _become_sam("start-api")
        with tempfile.TemporaryFile("w+") as event:
            event.write(sample_event(name, _stack()["keys"]["live"]))
            event.seek(0)
            os.dup2(event.fileno(), sys.stdin.fileno())
            _become_sam("invoke", name, "--event", "-")
    except (InvocationRefused, PackagingFailed, ServiceError) as error:
        print(error, file=sys.stderr)  # noqa: T201  a command's error
        return 2


def sample_event(function: str, key: str) -> str:
    """Return the sample event of a function with a key of the stack.

    Raises:
        InvocationRefused: there is no such function.
    """
    functions = {_camel_case(path.stem): path for path in sorted(_EVENTS.glob("*.json"))}
    if function not in functions:
        raise InvocationRefused(f"FUNCTION is one of: {', '.join(functions)}.")
    return functions[function].read_text().replace("<API_KEY>", key)


def _camel_case(name: str) -> str:
    """Return the name that a function has in the template."""
    return re.sub(r"(?:^|_)(\w)", lambda letter: letter[1].upper(), name)


def _stack() -> dict[str, Any]:
    stack = read_local_stack()
    if "containers" not in stack:
        raise InvocationRefused(
            "The local stack does not listen for containers. Stop it, and start it with:"
            f" {Settings.containers.variable}=true make up"
        )
    return stack


def _become_sam(*arguments: str) -> Never:
    """Replace this process by `sam local`, with the layer of the sources as they are now.

    So Ctrl-C reaches SAM itself, and nothing else kills it while it stops its containers.
    """
    containers = _stack()["containers"]
    build_layer(ROOT / Settings(os.environ).state_dir)
    os.chdir(ROOT)
    os.execve(  # noqa: S606  our own command
        _SAM,
        [
            *("sam", "local", *arguments),
            *("--config-file", str(ROOT / "samconfig.toml")),
            *("--template-file", containers["template"]),
        ],
        os.environ | {"AWS_DEFAULT_REGION": REGION, "SAM_CLI_TELEMETRY": "0"},
    )


if __name__ == "__main__":
    sys.exit(main())
