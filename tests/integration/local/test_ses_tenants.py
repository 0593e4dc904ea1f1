"""Tenants at the SES stand-in: its operations, and the adapter that uses them."""

from collections.abc import Callable
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError
from mypy_boto3_sesv2 import SESV2Client

from local.ses.suppression import SuppressionOptions
from local.ses.tenants import Origin, TenantStatus
from pillarbox.adapters.ses.mailer import SesMailer
from pillarbox.adapters.ses.tenants import SesTenants
from pillarbox.application.accounts.ports import Tenants
from pillarbox.application.delivery.ports import SendThrottled
from pillarbox.domain.accounts.account import Isolation
from tests.fakes import builders
from tests.fakes.tenants import FakeTenants
from tests.integration.local.local_ses import RAW, LocalSes
from tests.refusals import refusal

type Call = Callable[[], object]

SENDER = "post@sender.example"
IDENTITY = "arn:aws:ses:us-east-1:000000000000:identity/sender.example"


@pytest.fixture
def adapter(ses: SESV2Client, local_ses: LocalSes, monkeypatch: pytest.MonkeyPatch) -> SesTenants:
    del ses  # it creates identity and configuration set
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", local_ses.ses_url)
    return SesTenants("mails")


@pytest.fixture(params=["fake", "SES"])
def tenants(request: pytest.FixtureRequest) -> Tenants:
    return FakeTenants() if request.param == "fake" else request.getfixturevalue("adapter")


def set_status(local_ses: LocalSes, origin: Origin, status: TenantStatus) -> None:
    """Let SES, or a policy of SES, change the status of the tenant "shop"."""
    tenants = local_ses.mailbox.tenants
    tenant = tenants.get("shop")
    local_ses.on_loop(lambda: tenants.set_status(tenant, origin, status, "High bounce rate."))


def reinstate(ses: SESV2Client) -> None:
    """Let the owner reinstate the tenant "shop"."""
    arn = ses.get_tenant(TenantName="shop")["Tenant"]["TenantArn"]
    ses.update_reputation_entity_customer_managed_status(
        ReputationEntityType="RESOURCE", ReputationEntityReference=arn, SendingStatus="REINSTATED"
    )


def test_a_tenant_begins_and_ends(tenants: Tenants) -> None:
    for isolation in (Isolation.STANDARD, Isolation.STRICT):
        tenants.create("shop", isolation)
    assert tenants.all() == {"shop": True}
    assert tenants.missing("shop", [SENDER])
    for _ in range(2):
        tenants.associate("shop", [SENDER])
    assert not tenants.missing("shop", [SENDER])
    for _ in range(2):
        tenants.delete("shop")
    assert tenants.all() == {}


def test_an_unknown_tenant_is_told(tenants: Tenants) -> None:
    assert refusal(tenants.associate, "shop", [SENDER]).code == "service_unavailable"
    assert refusal(tenants.missing, "shop", [SENDER]).code == "service_unavailable"


def test_all_tenants_are_read_over_pages(adapter: SesTenants, local_ses: LocalSes) -> None:
    for number in range(205):
        local_ses.mailbox.tenants.create(f"shop-{number}", SuppressionOptions())
    assert len(adapter.all()) == 205


@pytest.mark.parametrize("isolation", [Isolation.STANDARD, Isolation.STRICT])
def test_the_policy_and_the_suppression_list_are_set(
    adapter: SesTenants, ses: SESV2Client, isolation: Isolation
) -> None:
    adapter.create("shop", isolation)
    tenant = ses.get_tenant(TenantName="shop")["Tenant"]
    assert tenant["SuppressionAttributes"]["SuppressionScope"] == "TENANT"
    entity = ses.get_reputation_entity(
        ReputationEntityType="RESOURCE", ReputationEntityReference=tenant["TenantArn"]
    )["ReputationEntity"]
    assert entity["ReputationManagementPolicy"].endswith(f"/{isolation.value}")


def test_email_of_a_tenant(adapter: SesTenants, ses: SESV2Client, local_ses: LocalSes) -> None:
    message = builders.message(sender=SENDER)
    mailer = SesMailer("mails")

    def send(tenant: str | None) -> str:
        return mailer.send(message, ("ada@example.com",), RAW, tenant)

    with pytest.raises(SendThrottled):
        send("shop")
    adapter.create("shop", Isolation.STRICT)
    with pytest.raises(SendThrottled) as not_associated:
        send("shop")
    assert not_associated.value.code == "AccessDeniedException"
    adapter.associate("shop", [SENDER])
    taken = local_ses.mailbox.get(send("shop"))
    assert taken is not None
    assert taken.tenant == "shop"
    set_status(local_ses, "CUSTOMER_MANAGED", "DISABLED")
    assert adapter.all() == {"shop": False}
    with pytest.raises(SendThrottled) as paused:
        send("shop")
    assert paused.value.code == "MessageRejected"
    assert local_ses.mailbox.get(send(None)), "others send while one is paused"
    reinstate(ses)
    assert send("shop")


def test_the_owner_cannot_lift_what_ses_enforces(
    adapter: SesTenants, ses: SESV2Client, local_ses: LocalSes
) -> None:
    """Either status stops a tenant (API reference of ReputationEntity, SendingStatusAggregate)."""
    adapter.create("shop", Isolation.STRICT)
    set_status(local_ses, "AWS_MANAGED", "DISABLED")
    reinstate(ses)
    assert adapter.all() == {"shop": False}
    set_status(local_ses, "AWS_MANAGED", "ENABLED")
    assert adapter.all() == {"shop": True}


def test_a_status_becomes_an_event(
    adapter: SesTenants, ses: SESV2Client, local_ses: LocalSes
) -> None:
    """It has the form of the examples in SES's guide, chapter "Tenants"."""
    adapter.create("shop", Isolation.STRICT)
    arn = ses.get_tenant(TenantName="shop")["Tenant"]["TenantArn"]
    set_status(local_ses, "AWS_MANAGED", "DISABLED")
    (event,) = cast("list[Any]", local_ses.await_records(1))
    moment = event["detail"]["data"]["record"].pop("lastUpdatedTimestamp")
    assert (event["detail-type"], event["source"]) == ("Sending Status Disabled", "aws.ses")
    assert event["resources"] == [arn]
    record = {"status": "DISABLED", "cause": "High bounce rate."}
    assert event["detail"]["data"] == {"origin": "AWS_MANAGED", "record": record}
    assert len(moment) == 7
    reinstate(ses)
    event = cast("list[Any]", local_ses.await_records(2))[1]
    assert event["detail-type"] == "Sending Status Enabled"
    assert event["detail"]["data"]["record"]["status"] == "REINSTATED"


def test_a_tenant_without_its_own_list_gets_one(adapter: SesTenants, ses: SESV2Client) -> None:
    ses.create_tenant(TenantName="shop")
    assert not adapter.suppresses_apart("shop")
    for reasons, scope in ((["BOUNCE"], "TENANT"), (["BOUNCE", "COMPLAINT"], "ACCOUNT")):
        options: Any = {"SuppressedReasons": reasons, "SuppressionScope": scope}
        ses.put_tenant_suppression_attributes(TenantName="shop", **options)
        assert not adapter.suppresses_apart("shop")
    adapter.create("shop", Isolation.STRICT)
    assert adapter.suppresses_apart("shop")


def test_operations_refuse_as_ses_does(adapter: SesTenants, ses: SESV2Client) -> None:
    adapter.create("shop", Isolation.STANDARD)
    adapter.associate("shop", [SENDER])
    owned = ses.list_resource_tenants(ResourceArn=IDENTITY)["ResourceTenants"]
    assert [one["TenantName"] for one in owned] == ["shop"]
    for half in ({"SuppressionScope": "ACCOUNT"}, {"SuppressedReasons": ["BOUNCE"]}):
        with pytest.raises(ClientError):
            ses.put_tenant_suppression_attributes(TenantName="shop", **half)
    ses.put_tenant_suppression_attributes(TenantName="shop")
    refused: list[tuple[Call, str]] = [
        (lambda: ses.create_tenant(TenantName="shop"), "AlreadyExistsException"),
        (lambda: ses.create_tenant(TenantName="a shop"), "BadRequestException"),
        (lambda: ses.delete_tenant(TenantName="other"), "NotFoundException"),
        (
            lambda: ses.create_tenant_resource_association(TenantName="shop", ResourceArn=IDENTITY),
            "AlreadyExistsException",
        ),
        (
            lambda: ses.create_tenant_resource_association(
                TenantName="shop", ResourceArn=f"{IDENTITY}.unknown"
            ),
            "NotFoundException",
        ),
    ]
    for call, code in refused:
        with pytest.raises(ClientError) as caught:
            call()
        assert caught.value.response["Error"]["Code"] == code
    ses.delete_tenant_resource_association(TenantName="shop", ResourceArn=IDENTITY)
    with pytest.raises(ClientError):
        ses.delete_tenant_resource_association(TenantName="shop", ResourceArn=IDENTITY)
    assert adapter.missing("shop", [SENDER]) == ["sender.example"]
