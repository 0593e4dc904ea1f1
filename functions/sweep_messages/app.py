"""Schedule: begin a pass of the sweep, with one task for each account (see sweep_account)."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from pillarbox.application.delivery.sweep import SweepReport
from pillarbox.consumer import run_on_schedule
from pillarbox.wiring import services


def sweep_messages(_: dict[str, Any], __: LambdaContext) -> dict[str, int]:
    tasks = services().sweep_plan.begin()
    # Without a task nothing else reports the zero that means that all is well.
    return {"sweep_tasks": tasks} | ({} if tasks else SweepReport().metrics())


lambda_handler = run_on_schedule(sweep_messages)
