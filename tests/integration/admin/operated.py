"""An operator, who runs the command in this process."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from admin.main import app


class Failed(Exception):
    """A run that did not end well, with the envelope it left on stderr."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.stderr)
        assert result.stdout == ""
        self.code = result.exit_code
        self.error = json.loads(result.stderr)["error"]


class Operator:
    """Runs commands against the local stack, in this process."""

    def people(self, *words: object) -> Result:
        return CliRunner().invoke(app, [str(word) for word in words], prog_name="pillarbox")

    def __call__(self, *words: object) -> Any:
        result = self.people("--local", "--json", *words)
        if result.exit_code:
            raise Failed(result)
        assert result.stderr == ""
        return json.loads(result.stdout)


def refusal(attempt: Callable[[], object]) -> tuple[int, str]:
    with pytest.raises(Failed) as failed:
        attempt()
    return failed.value.code, failed.value.error["code"]
