"""The pytest plugin: the fixture `pillarbox`."""

from __future__ import annotations

import os

import pytest

from pillarbox_testing.http import StackNotRunning
from pillarbox_testing.stack import Pillarbox, find_stack


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        "pillarbox_state_dir",
        "the state directory of Pillarbox's local stack, from the root of the tests (.local)",
        default=".local",
    )
    parser.addini("pillarbox_timeout", "seconds that wait_for waits (10)", default="10")


@pytest.fixture(scope="session")
def pillarbox_stack(pytestconfig: pytest.Config) -> Pillarbox:
    """Return the running local stack; its inbox shows all emails, of other tests too."""
    state = pytestconfig.rootpath / str(pytestconfig.getini("pillarbox_state_dir"))
    try:
        return find_stack(os.environ, state)
    except StackNotRunning as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture
def pillarbox(pytestconfig: pytest.Config, pillarbox_stack: Pillarbox) -> Pillarbox:
    """Return the local stack; its inbox shows what has been sent since the test began."""
    try:
        return pillarbox_stack.from_now_on(float(pytestconfig.getini("pillarbox_timeout")))
    except StackNotRunning as error:
        pytest.fail(str(error), pytrace=False)
