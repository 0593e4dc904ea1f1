"""Schedule: queue the emails and the webhook tasks that are due, and tell owners of alerts."""

from typing import Any

from pillarbox.consumer import LambdaContext, run_on_schedule
from pillarbox.wiring import load, services


def enqueue_due(_: dict[str, Any], __: LambdaContext) -> dict[str, int]:
    tasks = 0
    try:
        emails = services().due_mail.enqueue()
    finally:  # an error of one timer stops no other
        try:
            if services().settings.webhooks:
                tasks = services().due_tasks.enqueue()
        finally:
            alerts = services().alert_telling.tell_due()
    return {"emails_due": emails, "webhook_tasks_due": tasks, "alerts_told": alerts}


load(lambda it: (it.due_mail, it.due_tasks, it.alert_telling))
lambda_handler = run_on_schedule(enqueue_due)
