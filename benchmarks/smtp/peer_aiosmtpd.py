"""aiosmtpd as its documentation sets it up for submission.

peer_aiosmtpd.py FOLDER PORT [boto3]

Its handler answers at once, or makes calls with boto3: key, quota, queue and record, one after
another.
"""

import asyncio
import os
import ssl
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from aiosmtpd.smtp import SMTP, AuthResult

folder, port, with_boto3 = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] == ["boto3"]


class Handler:
    """Accepts each message and stores nothing."""

    async def handle_DATA(self, _server: Any, _session: Any, _envelope: Any) -> str:  # noqa: ANN401, N802  as in aiosmtpd
        return "250 Ok: queued"

    def authenticate(self, *_: object) -> AuthResult:
        """Accept any key."""
        return AuthResult(success=True)


class Boto3Handler(Handler):
    """Accepts a message with one call after another, in a thread as the documentation advises."""

    def __init__(self) -> None:
        import boto3  # noqa: PLC0415  only this handler needs it

        self._dynamodb, self._sqs = boto3.client("dynamodb"), boto3.client("sqs")
        self._table = os.environ["PILLARBOX_TABLE"]

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: ANN401, N802  as in aiosmtpd
        return await asyncio.to_thread(self._accept, envelope)

    def authenticate(self, *_: object) -> AuthResult:
        """Read the key and accept any."""
        self._read_key()
        return AuthResult(success=True)

    def _read_key(self) -> None:
        key = {"pk": {"S": "key"}, "sk": {"S": "-"}}
        self._dynamodb.get_item(TableName=self._table, Key=key, ConsistentRead=True)

    def _accept(self, envelope: Any) -> str:  # noqa: ANN401  as in aiosmtpd
        message_id = str(uuid4())
        self._read_key()
        self._dynamodb.update_item(
            TableName=self._table,
            Key={"pk": {"S": "count"}, "sk": {"S": "-"}},
            UpdateExpression="ADD sent :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )
        self._sqs.send_message(
            QueueUrl=os.environ["PILLARBOX_JOBS_QUEUE_URL"],
            MessageBody=message_id + envelope.content.decode("latin-1"),
        )
        self._dynamodb.put_item(
            TableName=self._table,
            Item={
                "pk": {"S": message_id},
                "sk": {"S": "-"},
                "sender": {"S": envelope.mail_from},
                "to": {"L": [{"S": recipient} for recipient in envelope.rcpt_tos]},
            },
            ConditionExpression="attribute_not_exists(pk)",
        )
        return f"250 Ok: queued as {message_id}"


async def serve(make_handler: Callable[[], Handler]) -> None:
    """Serve until killed."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    handler = make_handler()

    def connect() -> SMTP:
        return SMTP(
            handler,
            data_size_limit=32 * 1024 * 1024,
            tls_context=context,
            require_starttls=True,
            authenticator=handler.authenticate,
            auth_required=True,
        )

    loop = asyncio.get_running_loop()
    await loop.create_server(connect, "127.0.0.1", port, backlog=512)
    await asyncio.Event().wait()


asyncio.run(serve(Boto3Handler if with_boto3 else Handler))
