"""The entrance of the service killed while mail comes in: nothing lost, nothing doubled.

`make faults` does the same for longer, and to the functions and workers behind it too.
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

MAILS: Final = 24
#: Processes that die, one about every half second: whenever the one before is back.
KILLS: Final = 8


def test_a_killed_entrance_loses_and_doubles_nothing(stack: dict[str, Any]) -> None:
    """Edge, front and handlers are killed while clients send under keys: each mail arrives once."""
    account = operate("account", "create", "--name", "Killed", "--plan", "standard")["accountId"]
    sender = ("sender", "add", "--account", account, "shop@killed.example")
    operate(*sender, "--verified", "--default")
    made = operate("key", "create", "--account", account, "--name", "web", "--preset", "send")
    # All through the front, whose handlers accept mail as the functions do; those serve others.
    mails = [Mail(account, number, front=True) for number in range(MAILS)]
    with entrance(stack) as served, ThreadPoolExecutor(1) as beside:
        killing = beside.submit(
            kill_at_random,
            served.targets,
            lambda killed: killed.total() >= KILLS,
            random.Random(20261121),  # noqa: S311  who dies is no secret
            (0.2, 0.8),
        )
        heard = send_all(served.url, made["key"], mails, seconds=6, patience=PATIENCE)
        killed = killing.result()
    assert killed.total() == KILLS
    assert all(one.message_id for one in heard)
    finals = {one.message_id: one.mail.final for one in heard}
    with closing(ServiceView(stack, made["key"])) as reading:
        assert reading.statuses().keys() == finals.keys()  # none that no client was told of
        wait_for(lambda: reading.statuses() == finals)
        outcome = judge(heard, reading.inbox(), reading.status)
    assert (outcome.acknowledged, bool(outcome)) == (MAILS, False), outcome
