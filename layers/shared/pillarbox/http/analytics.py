"""The answer of GET /v1/emails/analytics (contract 2.8)."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from pillarbox.application.history.queries import Analytics, Bucket, MessageCounts
from pillarbox.domain.errors import Json
from pillarbox.domain.message import Status
from pillarbox.domain.statistics import REACHABLE
from pillarbox.http.replies import timestamp

#: What the codes of our own mean; those of providers and remote servers say it themselves.
_MEANINGS: Final[Mapping[str, str]] = {
    "delivery_uncertain": "The provider gave no answer; the mail may or may not have been sent.",
    "expired": "The mail could not be sent in time.",
    "general": "The recipient's server refused the mail without saying why.",
    "payload_gone": "The content of the mail has expired.",
    "recipient_suppressed": "The recipient bounced or complained while the mail was queued.",
    "rejected": "The provider refused the content of the mail.",
    "rendering_failed": "The mail could not be made from its template.",
}


def analytics_result(
    analytics: Analytics, since: datetime, until: datetime, bucket: Bucket
) -> Json:
    """Contract 2.8; the rows of `volume` are aligned to UTC, the first may begin before `from`."""
    return {
        "totalMessages": analytics.total.count,
        "deliveryRate": analytics.rate(Status.DELIVERED),
        "bounceRate": analytics.rate(Status.BOUNCED),
        "complaintRate": analytics.rate(Status.COMPLAINED),
        "windowStart": timestamp(since),
        "windowEnd": timestamp(until),
        "bucket": bucket.value,
        "volume": [_row(start, figures) for start, figures in analytics.volume.items()],
        "topErrors": [
            {"code": code, "message": _meaning(code), "count": count}
            for code, count in analytics.errors
        ],
    }


def _row(start: int, figures: MessageCounts) -> Json:
    return {
        "timestamp": timestamp(datetime.fromtimestamp(start / 1000, UTC)),
        "count": figures.count,
        **{status.value: figures.reached[status] for status in REACHABLE},
    }


def _meaning(code: str) -> str:
    return _MEANINGS.get(code) or code.replace("_", " ").capitalize() + "."
