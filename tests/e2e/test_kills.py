"""Kills of the edge and the front while mail comes in lose and duplicate nothing.

`make faults` does this for longer, and also kills the functions and workers.
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
#: Processes to kill, one about every half second, after the previous one is back.
KILLS: Final = 8


def test_kills_lose_and_duplicate_nothing(stack: dict[str, Any]) -> None:
    """Edge, front and handlers are killed while clients send under keys; each mail arrives once."""
    account = operate("account", "create", "--name", "Killed", "--plan", "standard")["accountId"]
    sender = ("sender", "add", "--account", account, "shop@killed.example")
    operate(*sender, "--verified", "--default")
    made = operate("key", "create", "--account", account, "--name", "web", "--preset", "send")
    # All mail goes through the front, whose handlers accept it as the functions do. Other tests use
    # the functions at the same time.
    mails = [Mail(account, number, front=True) for number in range(MAILS)]
    with entrance(stack) as served, ThreadPoolExecutor(1) as executor:
        killing = executor.submit(
            kill_at_random,
            served.targets,
            lambda killed: killed.total() >= KILLS,
            random.Random(20261121),  # noqa: S311  the choice is no secret
            (0.2, 0.8),
        )
        answers = send_all(served.url, made["key"], mails, seconds=6, patience=PATIENCE)
        killed = killing.result()
    assert killed.total() == KILLS
    assert all(one.message_id for one in answers)
    finals = {one.message_id: one.mail.final for one in answers}
    with closing(ServiceView(stack, made["key"])) as reading:
        assert reading.statuses().keys() == finals.keys()  # no mail that no client knows of
        wait_for(lambda: reading.statuses() == finals)
        outcome = judge(answers, reading.inbox(), reading.status)
    assert (outcome.acknowledged, bool(outcome)) == (MAILS, False), outcome
