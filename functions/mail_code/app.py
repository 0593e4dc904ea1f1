"""Invoked by sign_in, which does not wait: send a one-time code, if the address is a user's."""

from typing import Any

from pillarbox.consumer import LambdaContext, run_on_invocation
from pillarbox.wiring import services


def mail_code(event: dict[str, Any], _: LambdaContext) -> dict[str, int]:
    accepted = services().code_mail.send(services().read_code_request(event))
    # Nothing else: neither address nor flow is for the log.
    return {"code_accepted": int(accepted)}


lambda_handler = run_on_invocation(mail_code)
