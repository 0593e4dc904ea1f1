"""Invoked by sign_in and passkeys, which do not wait: send a code, or tell of a passkey."""

from typing import Any

from pillarbox.consumer import LambdaContext, run_on_invocation
from pillarbox.wiring import load, services


def mail_code(event: dict[str, Any], _: LambdaContext) -> dict[str, int]:
    if "notice" in event:
        accepted = services().passkey_mail.send(services().read_passkey_notice(event))
        return {"notice_accepted": int(accepted)}
    accepted = services().code_mail.send(services().read_code_request(event))
    # Nothing else: neither address nor flow is for the log.
    return {"code_accepted": int(accepted)}


load(lambda it: (it.code_mail, it.read_code_request))
lambda_handler = run_on_invocation(mail_code)
