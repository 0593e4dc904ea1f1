"""The examples of errors in docs/openapi.json are what the running service answers."""

import pytest

from openapi.errors import ERRORS, example_of
from tests.contract.error_examples import ANSWERS
from tests.contract.service import Service


def test_every_code_has_an_answer() -> None:
    assert ANSWERS.keys() ^ ERRORS.keys() == set(), "see error_examples.py"


@pytest.mark.parametrize("code", ANSWERS)
def test_each_example_is_an_answer_of_the_service(service: Service, code: str) -> None:
    assert ANSWERS[code](service) == example_of(code)["value"]
