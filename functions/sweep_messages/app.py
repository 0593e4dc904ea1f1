"""Schedule: find stuck messages, repair what is safe to repair, and count both for the alarms."""

from dataclasses import asdict
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from pillarbox.consumer import run_on_schedule
from pillarbox.wiring import services


def sweep_messages(_: dict[str, Any], __: LambdaContext) -> dict[str, int]:
    return asdict(services().sweep.run())


lambda_handler = run_on_schedule(sweep_messages)
