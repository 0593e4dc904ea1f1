"""The suppressions of the service's own mail, which the operator's command shows and removes."""

import pytest

from pillarbox.domain.accounts.suppression import is_hashed
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT_ID
from tests.fakes.builders import NOW
from tests.fakes.container import Container
from tests.fakes.stores import FakeProviderSuppressions


def test_the_operator_removes_a_suppression_of_the_services_mail() -> None:
    """A user whose code bounced, or who used the link to stop mail, gets codes again.

    Another account without a record is refused.
    """
    provider = FakeProviderSuppressions((None, "Ada@shop.example"))
    services = Container(provider_suppressions=provider)
    records, suppressions = services.suppression_store, services.suppression_list
    records.put(SERVICE_ACCOUNT_ID, "ada@shop.example", "bounced", NOW, None)
    (found,) = suppressions.of_account(SERVICE_ACCOUNT_ID)
    assert (found.address, found.reason) == ("ada@shop.example", "bounced")
    assert suppressions.remove(SERVICE_ACCOUNT_ID, "Ada@shop.example") == "ada@shop.example"
    assert records.find_suppressed(SERVICE_ACCOUNT_ID, ["ada@shop.example"]) == frozenset()
    assert not provider.listed
    previews = services.preview_accounts
    previews.stop_mail("ada@shop.example", NOW)
    (found,) = suppressions.of_account(SERVICE_ACCOUNT_ID)
    assert (is_hashed(found.address), found.reason) == (True, "stopped")
    suppressions.remove(SERVICE_ACCOUNT_ID, "ada@shop.example")
    assert not previews.is_stopped("ada@shop.example")
    assert [*suppressions.of_account(SERVICE_ACCOUNT_ID)] == []
    with pytest.raises(ServiceError, match="no such account"):
        suppressions.remove("acct00000009", "ada@shop.example")
