"""Schedule: queue the webhook tasks that are due, and write to the owners of endpoints."""

from typing import Any

from pillarbox.consumer import LambdaContext, run_on_schedule
from pillarbox.wiring import services


def enqueue_due(_: dict[str, Any], __: LambdaContext) -> dict[str, int]:
    return {"webhook_tasks_due": services().due_tasks.enqueue()}


lambda_handler = run_on_schedule(enqueue_due)
