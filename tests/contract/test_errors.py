"""The table of errors: section 7 of the contract, the code and docs/errors.md agree."""

import re
from pathlib import Path

import pytest

from pillarbox.domain.errors import CODES

ROOT = Path(__file__).parents[2]

#: Contract section 7, row by row.
CONTRACT = {
    "missing_field": 400,
    "multiple_modes": 400,
    "invalid_recipient": 400,
    "recipient_suppressed": 400,
    "recipient_limit_exceeded": 400,
    "attachment_type_not_allowed": 400,
    "attachment_too_large": 400,
    "too_many_attachments": 400,
    "batch_limit_exceeded": 400,
    "missing_api_key": 401,
    "invalid_api_key": 401,
    "scope_required": 403,
    "no_verified_sender": 403,
    "upgrade_required": 403,
    "SCOPE_NOT_ALLOWED_FOR_TIER": 403,
    "template_not_found": 404,
    "message_not_found": 404,
    "idempotency_key_mismatch": 409,
    "idempotency_in_flight": 409,
    "template_in_use": 409,
    "validation_failed": 422,
    "rate_limit_exceeded": 429,
    "daily_limit_exceeded": 429,
    "monthly_limit_exceeded": 429,
}
#: Notes: the type of each status, except for the codes of `Idempotency-Key`.
TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "authorization_error",
    404: "not_found",
    405: "invalid_request_error",
    409: "invalid_request_error",
    413: "invalid_request_error",
    422: "invalid_request_error",
    429: "rate_limit_error",
    500: "api_error",
    503: "service_unavailable",
}


@pytest.mark.parametrize(("code", "status"), CONTRACT.items())
def test_each_code_has_the_status_of_the_contract(code: str, status: int) -> None:
    """7: each code of the contract has its status."""
    assert CODES[code][0] == status


@pytest.mark.parametrize("code", CODES)
def test_each_code_has_the_type_of_its_status(code: str) -> None:
    """7, notes: each code has the type of its status; idempotency has a type of its own."""
    status, kind = CODES[code]
    assert kind == ("idempotency_error" if code.startswith("idempotency_") else TYPES[status])


def test_exactly_the_codes_are_documented() -> None:
    """Each code has one section in docs/errors.md, with its status and type."""
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    sections = re.findall(r"^### `(\w+)`\n\n(\d{3}) `(\w+)`\. ", page, re.MULTILINE)
    assert [(code, (int(status), kind)) for code, status, kind in sections] == [*CODES.items()]
