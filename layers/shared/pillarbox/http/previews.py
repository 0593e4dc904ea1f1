"""Reading the body of a preview (contract 4.7)."""

from collections.abc import Mapping

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.domain.errors import Json
from pillarbox.http.models import PreviewRequest
from pillarbox.http.requests import raw_body, read_json
from pillarbox.http.validation import validate


def read_preview_variables(event: APIGatewayProxyEvent) -> Mapping[str, Json]:
    """The variables of a preview; the body may be left out (contract 4.7).

    Raises:
        ValidationFailed: the body has another shape.
    """
    if not raw_body(event):
        return {}
    return validate(PreviewRequest, read_json(event)).variables or {}
