"""Kills of the service's entrance while clients send: nothing is lost or doubled.

`make faults` does the same for longer and also kills the functions.
"""

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any, Final

import pytest

from tests.stack import PATIENCE, operate, wait_for
from verification.kills.clients import Mail, ServiceView, judge, send_all
from verification.kills.processes_to_kill import entrance, kill_at_random

pytestmark = pytest.mark.stack

MAILS: Final = 12
#: Processes that are killed, about one every half second, when the one before has restarted.
KILLS: Final = 4


def test_a_killed_entrance_loses_and_doubles_nothing(stack: dict[str, Any]) -> None:
    account = operate("account", "create", "--name", "Killed", "--plan", "standard")["id"]
    sender = ("sender", "add", "--account", account, "shop@killed.example")
    operate(*sender, "--verified", "--default")
    issued_key = operate("key", "create", "--account", account, "--name", "web", "--preset", "send")
    # All go through the front, whose handlers accept mail as the functions do.
    mails = [Mail(account, number, front=True) for number in range(MAILS)]
    with entrance(stack) as served, ThreadPoolExecutor(1) as threads:
        killing = threads.submit(
            kill_at_random,
            served.targets,
            lambda killed: killed.total() >= KILLS,
            random.Random(20261121),  # noqa: S311  not a secret
            (0.2, 0.8),
        )
        results = send_all(served.url, issued_key["key"], mails, seconds=3, patience=PATIENCE)
        killed = killing.result()
    assert killed.total() == KILLS
    assert all(result.message_id for result in results)
    finals = {result.message_id: result.mail.final for result in results}
    with closing(ServiceView(stack, issued_key["key"])) as view:
        assert view.statuses().keys() == finals.keys()  # no message without an answered client
        wait_for(lambda: view.statuses() == finals)
        outcome = judge(results, view.inbox(), view.status)
    assert (outcome.acknowledged, bool(outcome)) == (MAILS, False), outcome
