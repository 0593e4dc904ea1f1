"""Schedule: look for what got stuck, mend what is safe to mend, and count it for the alarms."""

from dataclasses import asdict
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from pillarbox.consumer import run_on_schedule
from pillarbox.wiring import sweep


def sweep_messages(_: dict[str, Any], __: LambdaContext) -> dict[str, int]:
    return asdict(sweep().run())


lambda_handler = run_on_schedule(sweep_messages)
