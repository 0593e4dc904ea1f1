"""Fixtures for the tests of the use cases."""

import pytest

from tests.unit.admin.use_cases import UseCases


@pytest.fixture
def use_cases() -> UseCases:
    return UseCases()
