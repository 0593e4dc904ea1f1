"""The suppressions of the service's own mail, which the operator's command shows and removes."""

import pytest

from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoPreviewAccounts
from pillarbox.application.accounts.suppressions import SuppressionList
from pillarbox.domain.accounts.suppression import is_hashed
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT_ID
from tests.fakes.builders import NOW
from tests.fakes.memory_tables import MemoryTable
from tests.fakes.slow_requests import slow_requests
from tests.fakes.stores import FakeProviderSuppressions


def test_the_operator_removes_a_suppression_of_the_services_mail() -> None:
    """A user whose code bounced, or who used the link to stop mail, gets codes again.

    Another account without a record is refused.
    """
    table = MemoryTable("table")
    records = DynamoSuppressions(table)
    provider = FakeProviderSuppressions((None, "Ada@shop.example"))
    suppressions = SuppressionList(
        records=records,
        provider_suppressions=provider,
        accounts=DynamoAccounts(table),
        slow_requests=slow_requests(),
        clock=lambda: NOW,
    )
    records.put(SERVICE_ACCOUNT_ID, "ada@shop.example", "bounced", NOW, None)
    (found,) = suppressions.of_account(SERVICE_ACCOUNT_ID)
    assert (found.address, found.reason) == ("ada@shop.example", "bounced")
    assert suppressions.remove(SERVICE_ACCOUNT_ID, "Ada@shop.example") == "ada@shop.example"
    assert records.find_suppressed(SERVICE_ACCOUNT_ID, ["ada@shop.example"]) == frozenset()
    assert not provider.listed
    previews = DynamoPreviewAccounts(None, table)
    previews.stop_mail("ada@shop.example", NOW)
    (found,) = suppressions.of_account(SERVICE_ACCOUNT_ID)
    assert (is_hashed(found.address), found.reason) == (True, "stopped")
    suppressions.remove(SERVICE_ACCOUNT_ID, "ada@shop.example")
    assert not previews.is_stopped("ada@shop.example")
    assert [*suppressions.of_account(SERVICE_ACCOUNT_ID)] == []
    with pytest.raises(ServiceError, match="no such account"):
        suppressions.remove("acct00000009", "ada@shop.example")
