"""Mail that comes back."""

from functools import cached_property
from typing import TYPE_CHECKING

from pillarbox.wiring.stores import Stores, made, utc_now

if TYPE_CHECKING:
    from pillarbox.adapters.dynamodb.replies import (
        DynamoReceivedMails,
        DynamoReceivingDomains,
        DynamoReplyKeys,
    )
    from pillarbox.adapters.s3_received import S3Received
    from pillarbox.adapters.ses.receipts import SesReceiptRules
    from pillarbox.application.replies.limit import ReceivingLimit
    from pillarbox.application.replies.reading import ReceivedReading
    from pillarbox.application.replies.receive import Receiving


class ReplyWiring(Stores):
    """Makes each use case of this area once."""

    receiving_limit: "ReceivingLimit" = made(
        "application.replies.limit",
        receiving=lambda it: it.receiving_domains,
        rules=lambda it: it.receipt_rules,
    )
    received_mails: "DynamoReceivedMails" = made("adapters.dynamodb.replies")
    received_reading: "ReceivedReading" = made(
        "application.replies.reading",
        records=lambda it: it.received_mails,
        objects=lambda it: it.received_objects,
    )
    received_objects: "S3Received" = made("adapters.s3_received")
    receiving_domains: "DynamoReceivingDomains" = made("adapters.dynamodb.replies")
    receipt_rules: "SesReceiptRules" = made(
        "adapters.ses.receipts", stack=lambda it: it.settings.stack
    )
    reply_keys: "DynamoReplyKeys" = made("adapters.dynamodb.replies")

    @cached_property
    def receiving(self) -> "Receiving":
        from pillarbox.application.render import to_text
        from pillarbox.application.replies.receive import Receiving

        return Receiving(
            domains=self.receiving_domains,
            objects=self.received_objects,
            records=self.received_mails,
            messages=self.message_store,
            keys=self.reply_keys,
            account_of=self.account_store.get,
            count=self.sign_in_counts.count,
            stop=lambda *of: self.receiving_limit.stop(*of),  # noqa: PLW0108  made at first use
            to_text=to_text,
            clock=utc_now,
        )
