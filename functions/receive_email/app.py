"""Received queue: turn the mails that SES stored into records, each once."""

import json
from typing import Final
from urllib.parse import unquote_plus

from pillarbox.application.receiving import ReceiveResult
from pillarbox.consumer import LambdaContext, RecordResult, SQSRecord, consume_queue
from pillarbox.wiring import load, services

_CREATED: Final = "ObjectCreated:"


def receive_email(record: SQSRecord, _: LambdaContext) -> RecordResult:
    receipts = int(record.attributes.approximate_receive_count)
    # S3 tells of one object in a message, and of none when it tries a new notification.
    for event in json.loads(record.body).get("Records", ()):
        if event["eventName"].startswith(_CREATED):
            key = unquote_plus(event["s3"]["object"]["key"])
            return _record_result(services().receiving.receive(key, receipts))
    return RecordResult(outcome="ignored", ids={})


def _record_result(result: ReceiveResult) -> RecordResult:
    ids = {"account_id": result.account_id, "received_id": result.received_id}
    named = {name: str(value) for name, value in ids.items() if value}
    return RecordResult(outcome=result.outcome, ids=named)


load(lambda it: it.receiving)
lambda_handler = consume_queue(receive_email)
