"""PATCH /v1/domains/{domain}: which names receive mail, beside the receipt rules of others."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final
from unittest import mock

import pytest
from botocore.exceptions import ClientError

from pillarbox import wiring
from pillarbox.adapters.ses.receipts import SesReceiptRules
from pillarbox.domain.ids import new_token
from pillarbox.wiring import services
from tests.aws import shared_client
from tests.contract.client import Api, ApiResponse
from tests.contract.name_server import RECORDS
from tests.contract.service import Service

#: What a wildcard, or the mail server of a company, answers.
ELSEWHERE: Final = ["10 mx.shop.example."]
INBOUND: Final = "inbound-smtp.eu-west-1.amazonaws.com"


@pytest.fixture
def ses() -> Iterator[Any]:
    """The receipt rules of the AWS account, of which none is left after a test."""
    client = shared_client("ses")
    yield client
    client.set_active_receipt_rule_set()
    for each in client.list_receipt_rule_sets()["RuleSets"]:
        client.delete_receipt_rule_set(RuleSetName=each["Name"])


@pytest.fixture
def api(service: Service) -> Api:
    return Api(session=service.session(service.account()))


@pytest.fixture
def domain(service: Service, api: Api) -> str:
    return service.domain(api.raw("GET", "/account").json["id"], f"d{new_token(8)}.example")


def receive(api: Api, domain: str, label: str | None = "in", *names: str) -> ApiResponse:
    RECORDS.setdefault((f"{label or ''}.{domain}".lower(), "MX"), [])
    body = {"receive": label} if label is not None else {}
    more = {"receiveNames": names} if names else {}
    return api.raw("PATCH", f"/domains/{domain}", {**body, **more})


def rules(ses: Any) -> list[Any]:
    return [*ses.describe_active_receipt_rule_set().get("Rules", [])]


def test_a_domain_receives_beside_the_rules_of_others(ses: Any, api: Api, domain: str) -> None:
    """Ours is the first rule of the set that is active; at the end that of others is left."""
    ses.create_receipt_rule_set(RuleSetName="theirs")
    ses.set_active_receipt_rule_set(RuleSetName="theirs")
    theirs = {"Name": "all", "Enabled": True, "Actions": [{"StopAction": {"Scope": "RuleSet"}}]}
    ses.create_receipt_rule(RuleSetName="theirs", Rule=theirs)
    mapping = {"UUID": services().settings.received_mapping}
    shared_client("lambda").update_event_source_mapping(**mapping, Enabled=False)
    begun = receive(api, domain, "IN", "support")
    assert (begun.status, begun.json["receives"]) == (200, f"in.{domain}")
    assert shared_client("lambda").get_event_source_mapping(**mapping)["State"] == "Enabled"
    ours, other = rules(ses)
    assert (ours["Recipients"], ours["Enabled"], ours["ScanEnabled"]) == (
        [f"in.{domain}"],
        True,
        True,
    )
    assert ours["Actions"] == [
        {
            "S3Action": {
                "BucketName": "pillarbox-spool",
                "ObjectKeyPrefix": f"received/in.{domain}/",
            }
        }
    ]
    assert other["Name"] == "all"
    for values, state in (
        ([], "missing"),
        (ELSEWHERE, "differs"),
        ([f"10 {INBOUND}."], "present"),
    ):
        RECORDS[f"in.{domain}", "MX"] = values
        record = api.raw("GET", f"/domains/{domain}").json["records"][-1]
        assert (record["purpose"], record["value"]) == ("ANSWERS", f"10 {INBOUND}")
        assert record["dns"]["status"] == state
    assert receive(api, domain, None, "sales").json["receiveNames"] == ["sales"]
    assert receive(api, domain).json["receiveNames"] == ["sales"]
    assert len(rules(ses)) == 2
    assert receive(api, domain, "other").json["error"]["code"] == "validation_failed"
    refused = api.raw("DELETE", f"/domains/{domain}")
    assert (refused.status, refused.json["error"]["code"]) == (409, "domain_in_use")
    assert receive(api, domain, "").json["receives"] is None
    assert [one["Name"] for one in rules(ses)] == ["all"]
    assert [one["Name"] for one in ses.list_receipt_rule_sets()["RuleSets"]] == ["theirs"]
    assert api.raw("DELETE", f"/domains/{domain}").status == 204


def test_two_stacks_that_begin_at_once_make_one_set_active(ses: Any, api: Api, domain: str) -> None:
    """The second one saw no active set either."""
    other = SesReceiptRules("other", "pillarbox-spool")
    with mock.patch.object(SesReceiptRules, "_active_set", return_value=None):
        assert receive(api, domain).status == 200
        other.put("in.other.example")
    assert {one["Recipients"][0] for one in rules(ses)} == {f"in.{domain}", "in.other.example"}
    other.remove("in.other.example")
    assert [one["Recipients"] for one in rules(ses)] == [[f"in.{domain}"]]


def test_a_set_that_somebody_activated_gets_the_rule_again(ses: Any, api: Api, domain: str) -> None:
    receive(api, domain)
    ses.create_receipt_rule_set(RuleSetName="theirs")
    ses.set_active_receipt_rule_set(RuleSetName="theirs")
    assert receive(api, domain).status == 200
    assert len(rules(ses)) == 1
    receive(api, domain, "")
    assert rules(ses) == []
    assert ses.describe_receipt_rule_set(RuleSetName="pillarbox")["Rules"] == []


@pytest.mark.usefixtures("ses")
@pytest.mark.parametrize(
    ("label", "names", "message"),
    [
        ("a.b", (), "must be one label"),
        ("mail", (), "receives mail already"),  # bounces come there
        ("taken", (), "receives mail already"),
        ("in_", (), "is not a valid name"),
        (None, ("support",), "receive: is missing"),
        ("in", ("r.x",), "receiveNames: must be at most 20 names"),
        ("in", ("Support",), "receiveNames: must be at most 20 names"),
        ("in", tuple(f"n{one}" for one in range(21)), "receiveNames: must be at most 20 names"),
    ],
)
def test_what_cannot_receive(
    api: Api, domain: str, label: str | None, names: tuple[str, ...], message: str
) -> None:
    RECORDS[f"taken.{domain}", "MX"] = ELSEWHERE
    refused = receive(api, domain, label, *names)
    assert (refused.status, message in refused.text) == (422, True), refused.text
    assert receive(api, domain, "in", *(f"n{one}" for one in range(20))).status == 200


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        ("describe_active_receipt_rule_set", "InvalidAction"),
        ("create_receipt_rule", "LimitExceeded"),
        ("create_receipt_rule_set", "LimitExceeded"),
    ],
)
@pytest.mark.usefixtures("ses")
def test_what_ses_refuses(
    service: Service, api: Api, domain: str, operation: str, code: str
) -> None:
    """The reason is said, and the name is free again after it."""
    says = {"InvalidAction": "receives no mail in the region", "LimitExceeded": "200 in its active"}
    client = mock.Mock(wraps=shared_client("ses"))
    error = ClientError({"Error": {"Code": code, "Message": "No"}}, operation)
    getattr(client, operation).side_effect = error
    with mock.patch.object(services().receipt_rules, "_ses", client):
        refused = receive(api, domain)
    assert (refused.status, says[code] in refused.text) == (422, True), refused.text
    second = service.account()
    service.domain(second, domain)
    assert receive(Api(session=service.session(second)), domain).status == 200


@pytest.mark.usefixtures("ses")
def test_a_domain_of_two_accounts_receives_for_one(service: Service, api: Api, domain: str) -> None:
    """The other one gets the name when the first has switched it off, or lost the domain."""
    second = service.account()
    service.domain(second, domain)
    other = Api(session=service.session(second))
    receive(api, domain)
    assert "receives mail already" in receive(other, domain).text
    receive(api, domain, "")
    assert receive(other, domain).status == 200
    assert "receives mail already" in receive(api, domain).text
    store = services().account_domain_store
    lost = store.get(second, domain)
    assert lost is not None
    with service.at(wiring.utc_now() + timedelta(days=91)):
        assert store.end_proof(lost) is not None
    assert receive(api, domain).status == 200
    account = services().account_store.get(second)
    assert (account and account.reply_domain) is None


@pytest.mark.usefixtures("ses")
def test_a_domain_waits_for_its_verification(service: Service, api: Api) -> None:
    account = api.raw("GET", "/account").json["id"]
    name = service.domain(account, f"d{new_token(8)}.example", verified=False)
    assert "needs a verified domain" in receive(api, name).text
    first, second = (service.domain(account, f"d{new_token(8)}.example") for _ in range(2))
    receive(api, first)
    assert f"answers come to in.{first}" in receive(api, second).text
