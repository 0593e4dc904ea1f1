"""The operator's command, run in this process."""

import json
from functools import cache
from typing import Any

import pytest
from typer import testing
from typer.testing import CliRunner, Result

from admin.main import app

# Typed so that mypy lets its part be replaced.
_testing: Any = testing
# The tree of all commands takes 30 ms to make, which is more than most commands take.
_testing._get_command = cache(_testing._get_command)


class CommandFailure(Exception):
    """A run that failed, with its error from stderr."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.stderr)
        assert result.stdout == ""
        self.code = result.exit_code
        self.error = json.loads(result.stderr)["error"]


class Operator:
    """Runs commands in this process. A call adds --local and --json, and returns the JSON."""

    def plain(self, *words: object, typed: str | None = None) -> Result:
        """Run a command with its arguments unchanged, and with what the operator types."""
        return CliRunner().invoke(
            app, [str(word) for word in words], input=typed, prog_name="pillarbox"
        )

    def __call__(self, *words: object) -> Any:
        result = self.plain("--local", "--json", *words)
        if result.exit_code:
            raise CommandFailure(result)
        assert result.stderr == ""
        return json.loads(result.stdout)

    def refused(self, *words: object) -> tuple[int, str]:
        """Run a command that must fail; return its exit code and the code of its error."""
        with pytest.raises(CommandFailure) as failed:
            self(*words)
        return failed.value.code, failed.value.error["code"]


def failure(result: Result) -> str:
    """Return what a command that must have failed wrote to stderr."""
    assert result.exit_code == 1
    return result.stderr
