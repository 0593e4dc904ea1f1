"""Schedule, or a deployment: begin a pass of the sweep, a task an account (see sweep_account)."""

from typing import Any

from pillarbox.application.delivery.sweep import SweepReport
from pillarbox.consumer import LambdaContext, run_on_schedule
from pillarbox.wiring import services


def sweep_messages(event: dict[str, Any], _: LambdaContext) -> dict[str, int]:
    tasks = services().sweep_plan.begin()
    # Without a task nothing else reports the zero that means that all is well. A deployment begins
    # a pass at any hour so that the alarm has this figure.
    alone = not tasks or event.get("source") != "aws.events"
    return {"sweep_tasks": tasks} | (SweepReport().metrics() if alone else {})


lambda_handler = run_on_schedule(sweep_messages)
