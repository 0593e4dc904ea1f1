"""`pillarbox ses …` and `sending …`: leave the sandbox, get higher quotas, stop everything."""

import pytest

from local.ses.store import MailStore
from tests.integration.admin.aws_stubs import Stubs
from tests.integration.admin.operator_command import CommandFailure, Operator

REQUEST = (
    *("ses", "request", "shop.example", "--website", "https://shop.example"),
    *("--contact", "ops@shop.example", "--emails", "Receipts for customers.", "--per-day", "2500"),
)


def test_from_the_sandbox_to_production(run: Operator, mailbox: MailStore) -> None:
    """Without a request, under review, denied with a reason, asked again, and granted."""
    mailbox.account.decide(None)
    with pytest.raises(CommandFailure, match="pillarbox domain add shop"):
        run(*REQUEST, "--yes")
    mailbox.create_identity("shop.example")
    mailbox.set_identity_status("shop.example", "PENDING")
    with pytest.raises(CommandFailure, match="domain verify"):
        run(*REQUEST, "--yes")
    mailbox.set_identity_status("shop.example", "SUCCESS")
    refused = run.plain("--local", *REQUEST, typed="n\n")
    assert refused.exit_code == 1
    assert mailbox.account.review is None
    assert run(*REQUEST, "--yes")["state"] == "PENDING"
    details = mailbox.account.details
    assert details["MailType"] == "TRANSACTIONAL"
    assert details["AdditionalContactEmailAddresses"] == ["ops@shop.example"]
    said = str(details["UseCaseDescription"])
    for fact in ("Receipts for customers.", "2,500", "DKIM for shop.example", "complaint"):
        assert fact in said
    assert "DMARC" not in said  # the domain has no record
    assert len(said) <= 5000  # UseCaseDescription of PutAccountDetails
    with pytest.raises(CommandFailure, match="still reviews the last request"):
        run(*REQUEST, "--yes")
    mailbox.account.decide("DENIED", "The site cannot be read.")
    assert run(*REQUEST, "--yes")["state"] == "PENDING"
    mailbox.account.decide("GRANTED")
    assert run(*REQUEST, "--yes") == {"state": "GRANTED"}


def test_a_higher_quota_is_asked_for(run: Operator, stubs: Stubs) -> None:
    quotas = [
        {"QuotaName": "Sending rate", "QuotaCode": "L-1"},
        {"QuotaName": "Sending quota", "QuotaCode": "L-2"},
    ]
    for code, value in (("L-1", 50.0), ("L-2", 200_000.0)):
        if code == "L-1":
            stubs.answer("service-quotas", "list_service_quotas", {"Quotas": quotas})
        asked = {"ServiceCode": "ses", "QuotaCode": code, "DesiredValue": value}
        made = {"RequestedQuota": {"Status": "PENDING"}}
        stubs.answer("service-quotas", "request_service_quota_increase", made, asked)
    command = ("ses", "quota", "--per-second", 50, "--per-day", 200_000, "--yes")
    assert run(*command) == {"per second": "PENDING", "per day": "PENDING"}
    stubs.assert_asked()
    assert run.refused("ses", "quota", "--yes") == (1, "validation_failed")
    stubs.answer("service-quotas", "list_service_quotas", {"Quotas": []})
    with pytest.raises(CommandFailure, match="Service Quotas names no"):
        run(*command)


def test_all_sending_is_stopped_and_resumed(run: Operator, mailbox: MailStore) -> None:
    """After a question only; SES then refuses what has the configuration set."""
    made = mailbox.create_configuration_set("pillarbox")
    assert run.plain("--local", "sending", "pause", typed="n\n").exit_code == 1
    assert made.sending_enabled
    run("sending", "pause", "--yes")
    assert not made.sending_enabled
    assert run("sending", "resume") == {"configurationSet": "pillarbox", "sending": True}
    assert made.sending_enabled
