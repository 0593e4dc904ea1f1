"""Codes queue: send a one-time code, if the address is a user's."""

from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from pillarbox.consumer import RecordResult, consume_queue
from pillarbox.wiring import services


def mail_code(record: SQSRecord, _: LambdaContext) -> RecordResult:
    accepted = services().code_mail.send(services().code_requests.read(record.body))
    # Nothing else: neither address nor flow is for the log.
    return RecordResult(outcome="code_accepted" if accepted else "code_dropped", ids={})


lambda_handler = consume_queue(mail_code)
