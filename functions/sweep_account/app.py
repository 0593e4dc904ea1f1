"""Sweep queue: find an account's stuck mail and wrong statistics, and repair what is safe."""

from typing import Final

from pillarbox.consumer import LambdaContext, RecordResult, SQSRecord, consume_queue
from pillarbox.wiring import load, services

#: In milliseconds. A page of a task takes seconds, and the largest comparison about a minute.
_TIME_FOR_A_PAGE: Final = 120_000


def sweep_account(record: SQSRecord, lambda_context: LambdaContext) -> RecordResult:
    task = services().sweep_tasks.read(record.body)

    def has_time() -> bool:
        return lambda_context.get_remaining_time_in_millis() >= _TIME_FOR_A_PAGE

    report = services().sweep.run(task, has_time)
    ids = {"account_id": task.account_id, "step": task.step.value}
    return RecordResult(outcome="swept", ids=ids, numbers=report.metrics(task.pass_at))


load(lambda it: it.sweep)
lambda_handler = consume_queue(sweep_account)
