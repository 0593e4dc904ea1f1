"""Fixtures for the tests of the use cases."""

import pytest

from tests.unit.admin.use_cases import UseCases


@pytest.fixture
def use_cases() -> UseCases:
    return UseCases()


@pytest.fixture
def account_id(use_cases: UseCases) -> str:
    return use_cases.create_account()
