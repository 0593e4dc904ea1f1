"""Schedule, or a deployment: begin a pass of the sweep, a task an account (see sweep_account)."""

from typing import Any

from pillarbox.application.delivery.sweep import SweepReport
from pillarbox.consumer import LambdaContext, run_on_schedule
from pillarbox.wiring import load, services


def sweep_messages(event: dict[str, Any], _: LambdaContext) -> dict[str, int]:
    tasks = services().sweep_plan.begin()
    # A deployment begins a pass at any hour, at which the tasks may not report the zero that means
    # that all is well. The alarm needs this figure.
    alone = event.get("source") != "aws.events"
    return {"sweep_tasks": tasks} | (SweepReport().metrics() if alone else {})


load(lambda it: it.sweep_plan)
lambda_handler = run_on_schedule(sweep_messages)
