"""Schedule: queue the emails and the webhook tasks that are due, and write to endpoints' owners."""

from typing import Any

from pillarbox.consumer import LambdaContext, run_on_schedule
from pillarbox.wiring import services


def enqueue_due(_: dict[str, Any], __: LambdaContext) -> dict[str, int]:
    tasks = 0
    try:
        emails = services().due_mail.enqueue()
    finally:  # an error of one timer stops no other
        if services().settings.webhooks:
            tasks = services().due_tasks.enqueue()
    return {"emails_due": emails, "webhook_tasks_due": tasks}


lambda_handler = run_on_schedule(enqueue_due)
