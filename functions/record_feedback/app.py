"""Events queue: what SES reports becomes statuses and suppressions."""

from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from pillarbox.consumer import RecordResult, consume_queue
from pillarbox.wiring import feedback


def record_feedback(record: SQSRecord, _: LambdaContext) -> RecordResult:
    seen = feedback().record(record.body)
    ids = {}
    if seen.provider_event is not None:
        ids = {
            "account_id": seen.provider_event.account_id,
            "message_id": str(seen.provider_event.message_id),
        }
    return RecordResult(outcome=seen.outcome, ids=ids)


lambda_handler = consume_queue(record_feedback)
