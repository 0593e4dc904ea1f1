"""The table of errors: section 7 of the contract and the code agree."""

import re
from pathlib import Path

from pillarbox.domain.errors import CODES
from tests.loops import for_each

ROOT = Path(__file__).parents[2]

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


def test_each_code_has_the_status_of_the_contract() -> None:
    """7: each code of the contract has its status."""
    section = (ROOT / "docs/contract.md").read_text(encoding="utf-8").partition("## 7. ")[2]
    rows = re.findall(r"^\| (\d{3}) \| (\w+) \|", section, re.MULTILINE)
    assert len(rows) == 24
    assert [(str(CODES[code][0]), code) for _, code in rows] == rows


@for_each("code", CODES)
def test_each_code_has_the_type_of_its_status(code: str) -> None:
    """7, notes: each code has the type of its status; idempotency has a type of its own."""
    status, kind = CODES[code]
    assert kind == ("idempotency_error" if code.startswith("idempotency_") else TYPES[status])
