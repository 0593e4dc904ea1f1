"""Jobs queue: hand accepted mail to SES, each message once (docs/architecture.md, "Delivering")."""

from datetime import timedelta
from typing import Final

from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from pillarbox.consumer import Consumed, consume
from pillarbox.wiring import delivery, jobs

#: In milliseconds. A hand-over may wait 20 s for SES and must end before the function does.
_TIME_FOR_ONE: Final = 25_000


def deliver(record: SQSRecord, lambda_context: LambdaContext) -> Consumed:
    job = jobs().read(record.body)
    ids = {"account_id": job.account_id, "message_id": str(job.message_id)}
    if lambda_context.get_remaining_time_in_millis() < _TIME_FOR_ONE:
        jobs().postpone(record.receipt_handle, timedelta(0))
        return Consumed(outcome="out_of_time", again=timedelta(0), ids=ids)
    result = delivery().deliver(job)
    if result.again is not None:
        jobs().postpone(record.receipt_handle, result.again)
    counts = ("ambiguous_resend",) if result.resent else ()
    return Consumed(outcome=result.outcome, again=result.again, ids=ids, counts=counts)


lambda_handler = consume(deliver)
