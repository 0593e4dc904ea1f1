"""Reading a query string: known parameters, each once and of its shape (contract 4.3 to 4.8)."""

import re
from typing import Annotated, Final

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent
from pydantic import BeforeValidator, Field

from pillarbox.domain.errors import FieldFault, ValidationFailed
from pillarbox.http.faults import LONGEST_NAME, validate
from pillarbox.http.models import WireModel

#: What every JSON reader holds exactly (RFC 8259 section 6); no list is that long.
MAX_SKIP: Final = 2**53 - 1

_WHOLE_NUMBER: Final = re.compile(r"-?[0-9]{1,99}")


def _whole_number(value: object) -> object:
    if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value):
        return int(value)
    return value  # no number: the strict type names it


type Skip = Annotated[int, BeforeValidator(_whole_number), Field(ge=0, le=MAX_SKIP)]
type Limit = Annotated[int, BeforeValidator(_whole_number), Field(ge=1, le=100)]


class TemplatesQuery(WireModel):
    """Contract 4.8."""

    skip: Skip = 0
    limit: Limit = 20


def read_query[M: WireModel](event: APIGatewayProxyEvent, model: type[M]) -> M:
    """The parameters of a query string, as a model has them.

    Raises:
        ValidationFailed: with every fault: an unknown parameter, one that is
            given twice, a value of another shape.
    """
    given = event.raw_event.get("multiValueQueryStringParameters") or {}
    faults = [
        FieldFault(name[:LONGEST_NAME], "must be given once", "repeated")
        for name, values in given.items()
        if len(values) > 1
    ]
    try:
        query = validate(model, {name: values[-1] for name, values in given.items()})
    except ValidationFailed as failed:
        raise ValidationFailed(*faults, *failed.faults) from None
    if faults:
        raise ValidationFailed(*faults)
    return query
