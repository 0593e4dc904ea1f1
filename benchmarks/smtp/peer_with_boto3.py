"""aiosmtpd with a plain boto3 handler: key, quota, queue and record, one after another."""

import asyncio
import os
import ssl
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
from aiosmtpd.smtp import SMTP, AuthResult

folder, port = Path(sys.argv[1]), int(sys.argv[2])
table = os.environ["PILLARBOX_TABLE"]
dynamodb, sqs = boto3.client("dynamodb"), boto3.client("sqs")


def read(pk: str) -> dict[str, Any]:
    """Read one item."""
    key = {"pk": {"S": pk}, "sk": {"S": "-"}}
    answer = dynamodb.get_item(TableName=table, Key=key, ConsistentRead=True)
    return answer.get("Item", {})


class Boto3Handler:
    """Accepts a message with one call after another, in a thread as the documentation advises."""

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: ANN401, N802  as in aiosmtpd
        return await asyncio.to_thread(self._accept, envelope)

    def _accept(self, envelope: Any) -> str:  # noqa: ANN401  as in aiosmtpd
        message_id = str(uuid4())
        read("key")
        dynamodb.update_item(
            TableName=table,
            Key={"pk": {"S": "count"}, "sk": {"S": "-"}},
            UpdateExpression="ADD sent :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )
        sqs.send_message(
            QueueUrl=os.environ["PILLARBOX_JOBS_QUEUE_URL"],
            MessageBody=message_id + envelope.content.decode("latin-1"),
        )
        dynamodb.put_item(
            TableName=table,
            Item={
                "pk": {"S": message_id},
                "sk": {"S": "-"},
                "sender": {"S": envelope.mail_from},
                "to": {"L": [{"S": recipient} for recipient in envelope.rcpt_tos]},
            },
            ConditionExpression="attribute_not_exists(pk)",
        )
        return f"250 Ok: queued as {message_id}"


def authenticate(*_: object) -> AuthResult:
    """Read the key and accept any."""
    read("key")
    return AuthResult(success=True)


async def serve() -> None:
    """Serve until killed."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")

    def connect() -> SMTP:
        return SMTP(
            Boto3Handler(),
            tls_context=context,
            require_starttls=True,
            authenticator=authenticate,
            auth_required=True,
        )

    loop = asyncio.get_running_loop()
    await loop.create_server(connect, "127.0.0.1", port, backlog=512)
    await asyncio.Event().wait()


asyncio.run(serve())
