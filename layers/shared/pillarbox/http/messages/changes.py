"""The body of a request that reschedules a message."""

from datetime import datetime

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.http.messages.wire import MOMENT, to_moment
from pillarbox.http.validation import read_body
from pillarbox.http.wire import WireModel, required


class RescheduleRequest(WireModel):
    """A new time for a message that waits for one."""

    scheduled_at = required(MOMENT)


def read_time(event: APIGatewayProxyEvent) -> datetime:
    """Return the time in a request.

    Raises:
        ServiceError: `validation_failed`.
    """
    return to_moment(read_body(event, RescheduleRequest).scheduled_at)
