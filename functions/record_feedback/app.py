"""Events queue: turn the events of SES into statuses and suppressions."""

from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from pillarbox.consumer import RecordResult, consume_queue
from pillarbox.wiring import services


def record_feedback(record: SQSRecord, _: LambdaContext) -> RecordResult:
    result = services().feedback.record(record.body)
    ids = {}
    if result.provider_event is not None:
        ids = {
            "account_id": result.provider_event.account_id,
            "message_id": str(result.provider_event.message_id),
        }
    return RecordResult(outcome=result.outcome, ids=ids)


lambda_handler = consume_queue(record_feedback)
