"""Run the programs that a command needs, and show each of them."""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

import typer

from pillarbox.domain.errors import ServiceError

ROOT: Final = Path(__file__).parents[1]
#: Whether the command runs in a clone, which builds; otherwise its wheel has what is built.
IN_CLONE: Final = (ROOT / "Makefile").exists()


class Runner(Protocol):
    """Run a program in the project's folder."""

    def __call__(self, words: Sequence[str]) -> int:
        """Run it to its end and return its exit code."""


def run(words: Sequence[str]) -> int:
    """Run a program. What it prints goes to standard error."""
    # Standard output is only for the command's own output, which a program may read.
    environment = {**os.environ, "SAM_CLI_TELEMETRY": "0"}
    process = subprocess.run(  # noqa: S603  words of the project, and the operator's own
        words, cwd=ROOT, env=environment, check=False, stdout=sys.stderr
    )
    return process.returncode


def execute(runner: Runner, words: Sequence[str]) -> None:
    typer.echo(f"$ {shlex.join(words)}", err=True)
    if code := runner(words):
        message = f"{words[0]} {words[1]} ended with {code}. Its output above says why."
        raise ServiceError("service_unavailable", message)


#: What docker says if it lacks a plugin, now and before version 23.
_UNKNOWN: Final = ("unknown command", "is not a docker command")
_NEEDS_DOCKER: Final = "This needs Docker with buildx. Install it and start it."


class Docker:
    """The program docker."""

    def read_digest(self, image: str) -> str:
        """Return the digest that a tag has in its registry now."""
        command = ["buildx", "imagetools", "inspect", image, "--format", "{{.Manifest.Digest}}"]
        return self._run(command).strip()

    def log_in(self, registry: str, password: str) -> None:
        """Log in to ECR. The password is not an argument, which other users could read."""
        typer.echo(f"$ docker login {registry}", err=True)
        self._run(["login", "--username", "AWS", "--password-stdin", registry], given=password)

    def push(self, image: str, name: str) -> None:
        self._run(["tag", image, name])
        execute(run, ["docker", "push", name])

    def _run(self, words: Sequence[str], given: str = "") -> str:
        try:
            process = subprocess.run(  # noqa: S603  words of this file
                ["docker", *words],  # noqa: S607  the operator's own docker
                input=given,
                capture_output=True,
                text=True,
                check=False,
            )
        except FileNotFoundError:
            raise ServiceError("service_unavailable", _NEEDS_DOCKER) from None
        if process.returncode and any(text in process.stderr for text in _UNKNOWN):
            raise ServiceError("service_unavailable", _NEEDS_DOCKER)
        if process.returncode:
            last = (process.stderr.strip().splitlines() or ["no output"])[-1]
            message = f"docker {words[0]} ended with {process.returncode}: {last}"
            raise ServiceError("service_unavailable", message)
        return process.stdout
