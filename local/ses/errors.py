"""SES errors in its REST-JSON protocol, so that an SDK raises its own exception types."""

from collections.abc import Mapping
from typing import Final

from starlette.responses import JSONResponse

#: Status codes from the service model of SES v2; every other error is a 400.
_STATUSES: Final[Mapping[str, int]] = {
    "AccessDeniedException": 403,
    "NotFoundException": 404,
    "UnknownOperationException": 404,
    "TooManyRequestsException": 429,
    "InternalFailure": 500,
}
#: What SES may accept in a later try: they concern the account or SES, not the email.
_PASSING: Final = frozenset(
    {
        "AccessDeniedException",
        "AccountSuspendedException",
        "InternalFailure",
        "LimitExceededException",
        "SendingPausedException",
        "TooManyRequestsException",
    }
)


class SesError(Exception):
    """An error that SES returns, with its name (`MessageRejected`, …).

    Args:
        error: the name.
        message: in SES's words.
        passing: whether SES may take the request later, although the name does not say so.
    """

    def __init__(self, error: str, message: str, *, passing: bool = False) -> None:
        super().__init__(message)
        self.passing = passing
        self.error = error
        self.message = message

    @property
    def is_final(self) -> bool:
        """Whether SES would refuse the same request again."""
        return not self.passing and self.error not in _PASSING

    def response(self) -> JSONResponse:
        """Return the response; SDKs read the error's name from the header."""
        return JSONResponse(
            {"message": self.message},
            status_code=_STATUSES.get(self.error, 400),
            headers={"x-amzn-ErrorType": self.error},
        )


def bad_request(message: str) -> SesError:
    return SesError("BadRequestException", message)


def not_found(message: str) -> SesError:
    return SesError("NotFoundException", message)


def not_imitated(what: str) -> SesError:
    """Return the error for what SES may do and this stand-in does not."""
    return bad_request(f"This SES stand-in does not imitate {what}.")
