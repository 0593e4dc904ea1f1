"""Which header fields may occur only once. Names are in lower case."""

from typing import Final

#: Fields that a part may have only once. Mail programs disagree about which of two counts.
PART_FIELDS: Final = frozenset(
    {b"content-type", b"content-transfer-encoding", b"content-disposition"}
)
#: Fields that a message may have only once: RFC 5322 section 3.6, and "Amazon SES header fields"
#: in the developer guide of SES. From and Sender are on both lists too; their own check says more.
MESSAGE_FIELDS: Final = frozenset(
    b"""
    accept-language acceptlanguage archived-at auto-submitted bcc bounces-to cc comments
    content-alternative content-base content-class content-description content-duration content-id
    content-language content-length content-location content-md5 date delivered-to
    disposition-notification-options disposition-notification-to dkim-signature
    domainkey-signature errors-to importance in-reply-to keywords list-archive list-help list-id
    list-owner list-post list-subscribe list-unsubscribe list-unsubscribe-post message-context
    message-id mime-version organization original-from original-message-id original-recipient
    original-subject precedence priority references reply-to return-path return-receipt-to
    sensitivity solicitation subject thread-index thread-topic to user-agent vbr-info
    """.split()
)
