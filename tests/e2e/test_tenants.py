"""Tenants of SES on a whole stack: three settings, and what a pause by SES stops."""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import httpx
import pytest
from mypy_boto3_sesv2 import SESV2Client

from tests.stack import PATIENCE, alone, inbox, operate, run_operator, send_email, ses_of, wait_for

pytestmark = pytest.mark.stack

_SETTINGS: Final = ("none", "standard", "strict")


def set_status(ses: SESV2Client, tenant: str, status: Any) -> None:
    """Change the status of a tenant as its owner, or a policy of SES, does."""
    ses.update_reputation_entity_customer_managed_status(
        ReputationEntityType="RESOURCE",
        ReputationEntityReference=ses.get_tenant(TenantName=tenant)["Tenant"]["TenantArn"],
        SendingStatus=status,
    )


def doctor() -> list[tuple[str, str]]:
    process = run_operator("doctor")
    assert process.stdout, process.stderr
    items = json.loads(process.stdout)["items"]
    return [(one["verdict"], one["message"]) for one in items if one["check"] == "tenants"]


@pytest.fixture
def own_doctor(stack: dict[str, Any]) -> Iterator[None]:
    """Let no other test read or change what the doctor reports of the stack."""
    assert stack
    with alone("doctor"):
        yield


@pytest.mark.usefixtures("own_doctor")
def test_ses_pauses_one_of_three_accounts(stack: dict[str, Any]) -> None:
    """Accounts with none, standard and strict send; the paused one is refused until SES ends it."""
    ses = ses_of(stack)
    keys, ids, tenants = {}, {}, {}
    for setting in _SETTINGS:
        ids[setting] = operate("account", "create", "--name", setting, "--plan", "standard")["id"]
        sender = f"post@{setting}-tenant.example"
        ses.create_email_identity(EmailIdentity=sender)
        operate("sender", "add", "--account", ids[setting], sender, "--default")
        tenants[setting] = operate("account", "isolation", setting, ids[setting])["tenant"]
        command = ("key", "create", "--account", ids[setting], "--name", "web", "--preset", "send")
        keys[setting] = operate(*command)["key"]

    def send(setting: str) -> httpx.Response:
        return send_email(stack, keys[setting])

    def refused(setting: str) -> bool:
        return send(setting).status_code == httpx.codes.FORBIDDEN

    for setting in _SETTINGS:
        wait_for(partial(inbox, stack, send(setting).json()["messageId"]))
    assert tenants["none"] is None
    assert tenants["strict"] == f"pillarbox-{ids['strict']}"  # by the name that the functions have
    set_status(ses, tenants["strict"], "DISABLED")
    wait_for(lambda: refused("strict"))
    error = send("strict").json()["error"]
    assert (error["code"], error["details"]["scope"]) == ("sending_paused", "account")
    assert not refused("none")
    assert not refused("standard")
    paused = f"SES has paused the tenant {tenants['strict']}: {ids['strict']} cannot send."
    assert doctor() == [("fail", paused)]
    set_status(ses, tenants["strict"], "REINSTATED")
    wait_for(lambda: not refused("strict"))

    # An association that is missing: SES refuses, the email waits, and the doctor says so.
    arn = "arn:aws:ses:us-east-1:000000000000:identity/post@standard-tenant.example"
    ses.delete_tenant_resource_association(TenantName=tenants["standard"], ResourceArn=arn)
    waiting = send("standard").json()["messageId"]
    text = f"The tenant {tenants['standard']} lacks 1 of its identities: email waits."
    assert doctor() == [("fail", text)]
    assert not inbox(stack, waiting)
    operate("account", "isolation", "standard", ids["standard"])
    wait_for(lambda: inbox(stack, waiting), seconds=PATIENCE * 4)
    for setting in _SETTINGS:
        operate("account", "isolation", "none", ids[setting])
    assert [verdict for verdict, _ in doctor()] == ["pass"]
