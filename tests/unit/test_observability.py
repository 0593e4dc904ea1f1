"""What the log says of an error."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from pillarbox.domain.errors import ServiceError
from pillarbox.observability import log_failure, make_logger


class OddResponse(Exception):
    """An error whose `response` is none of AWS's."""

    response = "a secret"


def logged(error: Exception, caplog: pytest.LogCaptureFixture) -> dict[str, object]:
    try:
        raise error
    except type(error) as raised:
        log_failure(make_logger(), raised, request_id="r1")
    (record,) = caplog.records
    assert "secret" not in repr(vars(record))
    return vars(record)


def test_an_aws_error_has_its_code(caplog: pytest.LogCaptureFixture) -> None:
    """A refusal of AWS is logged with its code, such as that of a missing right."""
    said: Any = {"Error": {"Code": "AccessDeniedException", "Message": "a secret"}}
    record = logged(ClientError(said, "PutItem"), caplog)
    assert record["aws_error"] == "AccessDeniedException"
    assert (record["error"], record["request_id"]) == ("ClientError", "r1")


@pytest.mark.parametrize(
    "error",
    [ValueError("a secret"), OddResponse(), ServiceError("template_not_found", "a secret")],
)
def test_other_errors_have_no_code_of_aws(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    record = logged(error, caplog)
    assert "aws_error" not in record
    assert "unavailable" not in record
    assert isinstance(record["raised_at"], list)


@pytest.mark.parametrize("chosen", ["WARNING", "INFO"])
def test_the_chosen_level_is_that_of_the_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], chosen: str
) -> None:
    """Lambda's own level is INFO then, so that metrics pass, which are lines without a level."""
    monkeypatch.setenv("AWS_LAMBDA_LOG_LEVEL", "INFO")
    monkeypatch.setenv("POWERTOOLS_LOG_LEVEL", chosen)
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", f"level-{chosen}")  # a logger of its own
    logger = make_logger()
    logger.info("answered")
    logger.warning("odd")
    assert ("answered" in capsys.readouterr().out) == (chosen == "INFO")
