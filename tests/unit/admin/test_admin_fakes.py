"""The fakes pass the same tests as the adapters."""

import pytest

from tests.unit.admin.fakes import FakeAccounts, FakeKeys, FakeSuppressions, FakeTemplates
from tests.unit.admin.port_suites import (
    AccountRecordsSuite,
    KeyRecordsSuite,
    SuppressionRecordsSuite,
    TemplateDraftsSuite,
    TemplateRecordsSuite,
    TemplateStores,
)


class TestFakeAccounts(AccountRecordsSuite):
    @pytest.fixture
    def records(self) -> FakeAccounts:
        return FakeAccounts()


class TestFakeKeys(KeyRecordsSuite):
    @pytest.fixture
    def records(self) -> FakeKeys:
        return FakeKeys()


class TestFakeSuppressions(SuppressionRecordsSuite):
    @pytest.fixture
    def records(self) -> FakeSuppressions:
        return FakeSuppressions()


class TestFakeTemplates(TemplateRecordsSuite):
    @pytest.fixture
    def records(self) -> FakeTemplates:
        return FakeTemplates()


class TestFakeTemplateDrafts(TemplateDraftsSuite):
    @pytest.fixture
    def stores(self) -> TemplateStores:
        records = FakeTemplates()
        return TemplateStores(records, records.drafts, records.versions)
