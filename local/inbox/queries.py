"""Read the query of a request: refuse what is wrong, and understand what a client left raw."""

import re
from datetime import UTC, datetime
from typing import Annotated, Final
from unicodedata import normalize

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request

MAX_WAIT: Final = 60.0  # seconds


def comparable(text: str) -> str:
    """Return a text as it is compared: without case, and with composed characters."""
    return normalize("NFC", text).lower()


def _with_plus(text: str) -> str:
    """Return a text with the `+` that a query shows as a blank if a client did not encode it."""
    return text.replace(" ", "+")


def _with_offset(text: str) -> str:
    """Do so before the offset of a time."""
    return re.sub(r"(:\d\d(?:\.\d+)?) (?=\d\d:?\d\d\Z)", r"\1+", text)


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


#: An address, in which no blank can be.
type Address = Annotated[str, AfterValidator(_with_plus), AfterValidator(comparable)]
#: A moment, in UTC if it names no zone.
type Moment = Annotated[datetime, BeforeValidator(_with_offset), AfterValidator(_aware)]


class Query(BaseModel):
    """What the queries of lists have in common."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    since: Moment | None = None
    wait: Annotated[float, Field(ge=0, le=MAX_WAIT)] = 0
    limit: Annotated[int, Field(ge=1)] | None = None


class OfRecipient(BaseModel):
    """The query of /behaviour."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    recipient: Address | None = None


def query_of[Kind: BaseModel](kind: type[Kind], request: Request) -> Kind:
    """Read the query of a request."""
    given = request.query_params.multi_items()
    for number, (name, value) in enumerate(given):
        if name in dict(given[:number]):
            raise HTTPException(422, f"{name}: is there twice")
        if request.method == "DELETE" and not value:
            raise HTTPException(422, f"{name}: is empty")
    try:
        return kind.model_validate(dict(given))
    except ValidationError as error:
        raise invalid(error) from error


#: What pydantic says -> the same in our words.
_WORDS: Final = (
    ("Input should be", "must be"),
    ("Extra inputs are not permitted", "is not a field"),
    ("Field required", "is required"),
)


def invalid(error: ValidationError) -> HTTPException:
    """Return the answer to a query or a body that is not valid."""
    # The first step names the field; a union has an error for each of its members.
    found = [(one["loc"][:1], one["msg"]) for one in error.errors(include_input=False)]
    field = found[0][0]
    faults = "; ".join(message for of, message in found if of == field)
    for theirs, ours in _WORDS:
        faults = faults.replace(theirs, ours)
    return HTTPException(422, f"{''.join(map(str, field))}: {faults}")


def place_of(wanted: str, newest_first: list[str]) -> int:
    """Return the place of an id, or of the first older one if it is gone: ids begin with a time."""
    if wanted in newest_first:
        return newest_first.index(wanted)
    older = (place for place, each in enumerate(newest_first) if each < wanted)
    return next(older, len(newest_first))
