"""docs/errors.md: the examples of the operator's errors are what the use cases answer."""

from collections.abc import Callable
from typing import Final

import pytest

from openapi.errors import OPERATOR_ERRORS, example_of
from pillarbox.domain.errors import ServiceError
from tests.unit.admin.use_cases import UseCases

#: By code: a call that is refused with it.
CALLS: Final[dict[str, Callable[[UseCases], object]]] = {
    "account_not_found": lambda cases: cases.accounts.get("acct99999999"),
    "sender_not_found": lambda cases: cases.senders.remove(
        cases.create_account(), "news@acme.example"
    ),
}


@pytest.mark.parametrize("code", OPERATOR_ERRORS)
def test_each_example_is_an_answer(code: str) -> None:
    """The example of an operator's error is what the use case answers, word for word."""
    with pytest.raises(ServiceError) as refused:
        CALLS[code](UseCases())
    assert {"error": refused.value.envelope()} == example_of(code)["value"]
