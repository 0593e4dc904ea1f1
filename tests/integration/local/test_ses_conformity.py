"""The table of what SES answers, compared with botocore's service model and with the stand-in."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final

import boto3
import botocore.session
import pytest
import yaml
from botocore.exceptions import ClientError
from botocore.model import OperationModel, ServiceModel, Shape
from mypy_boto3_sesv2 import SESV2Client
from starlette.routing import Route

from local.ses.account import StoredAccount
from local.ses.app import ses_app
from local.ses.store import MailStore
from tests.integration.local.local_ses import RAW, LocalSes, client
from tests.loops import for_each

_TABLE: Final[dict[str, Any]] = yaml.load(
    (Path(__file__).parents[3] / "local/ses/conformity.yaml").read_text(), yaml.CSafeLoader
)
_ROWS: Final[dict[str, dict[str, Any]]] = _TABLE["operations"]
_RECEIPTS: Final[dict[str, dict[str, Any]]] = _TABLE["receipts"]
_TESTS: Final = Path(__file__).parent
_KINDS: Final[Mapping[str, type | tuple[type, ...]]] = {
    "<text>": (str, list),
    "<time>": datetime,
    "<number>": (int, float),
}
ADDRESS: Final = "Ada@example.com"
DOMAIN: Final = "new.example"
ARN: Final = f"arn:aws:ses:us-east-1:000000000000:identity/{DOMAIN}"


@cache
def service() -> ServiceModel:
    return botocore.session.get_session().get_service_model("sesv2")


def operation_of(route: Route, method: str) -> OperationModel | None:
    def places(path: str) -> str:
        return re.sub(r"\{[^}]*\}", "{}", path)

    path = places(route.path.replace("/RESOURCE/", "/{type}/"))
    models = map(service().operation_model, service().operation_names)
    wanted = (method, path)
    return next(
        (one for one in models if (one.http["method"], places(one.http["requestUri"])) == wanted),
        None,
    )


def members_of(shape: Shape | None, start: str = "") -> Iterator[str]:
    """Yield the path of each member that has a value of its own."""
    inner: Any = shape
    if shape is None:
        return
    if shape.type_name == "structure" and inner.members:
        for name, member in inner.members.items():
            yield from members_of(member, f"{start}.{name}" if start else name)
    elif shape.type_name == "list" and inner.member.type_name == "structure":
        yield from members_of(inner.member, f"{start}[]")
    elif start:
        yield start


def values_of(answer: Any, start: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(answer, dict) and answer:
        for name, value in answer.items():
            yield from values_of(value, f"{start}.{name}" if start else name)
    elif isinstance(answer, list) and answer and isinstance(answer[0], dict):
        for value in answer:
            yield from values_of(value, f"{start}[]")
    elif answer != []:  # a list of objects without any has no member
        yield start, answer


def test_each_operation_of_the_stand_in_has_a_row() -> None:
    async def emit(_record: Any) -> None: ...

    operations = [
        operation_of(route, method)
        for route in ses_app(MailStore(), emit).routes
        if isinstance(route, Route) and route.path != "/"  # the query protocol of receiving
        for method in (route.methods or set()) - {"HEAD"}
    ]
    assert None not in operations
    assert {each.name for each in operations if each} == _ROWS.keys()


@for_each("name", _ROWS)
def test_each_member_has_a_row(name: str) -> None:
    """A member that a newer botocore knows fails here, and so does a row without a member."""
    model = service().operation_model(name)
    assert set(_ROWS[name].get("members", {})) == set(members_of(model.output_shape))


@pytest.fixture(scope="module")
def answers() -> Iterator[dict[str, Any]]:
    """Create one of each thing without options; return what each operation answers then.

    Each answer is as botocore reads it, which leaves out what the service model does not know, and
    as it was sent.
    """
    sent: list[Any] = []
    running = LocalSes(MailStore(account=StoredAccount()))
    running.mailbox.publishing_takes = timedelta(minutes=1)
    try:
        with closing(client(running)) as ses:
            ses.meta.events.register(
                "before-parse.sesv2", lambda response_dict, **_: sent.append(response_dict["body"])
            )
            yield {name: (call(ses), json.loads(sent[-1])) for name, call in _CALLS.items()}
    finally:
        running.close()


def _send(ses: SESV2Client) -> Any:
    ses.create_email_identity(EmailIdentity="post@sender.example")
    simulator = ["success@simulator.amazonses.com"]
    return ses.send_email(Content={"Raw": {"Data": RAW}}, Destination={"ToAddresses": simulator})


_CALLS: Final[dict[str, Callable[[SESV2Client], Any]]] = {
    "GetAccount": lambda ses: ses.get_account(),
    "CreateEmailIdentity": lambda ses: ses.create_email_identity(EmailIdentity=DOMAIN),
    "ListEmailIdentities": lambda ses: ses.list_email_identities(),
    "GetEmailIdentity": lambda ses: ses.get_email_identity(EmailIdentity=DOMAIN),
    "CreateConfigurationSet": lambda ses: ses.create_configuration_set(ConfigurationSetName="x"),
    "GetConfigurationSet": lambda ses: ses.get_configuration_set(ConfigurationSetName="x"),
    "CreateConfigurationSetEventDestination": lambda ses: (
        ses.create_configuration_set_event_destination(
            ConfigurationSetName="x",
            EventDestinationName="y",
            EventDestination={"MatchingEventTypes": ["SEND"]},
        )
    ),
    "GetConfigurationSetEventDestinations": lambda ses: (
        ses.get_configuration_set_event_destinations(ConfigurationSetName="x")
    ),
    "CreateTenant": lambda ses: ses.create_tenant(TenantName="t"),
    "GetTenant": lambda ses: ses.get_tenant(TenantName="t"),
    "ListTenants": lambda ses: ses.list_tenants(),
    "CreateTenantResourceAssociation": lambda ses: ses.create_tenant_resource_association(
        TenantName="t", ResourceArn=ARN
    ),
    "ListTenantResources": lambda ses: ses.list_tenant_resources(TenantName="t"),
    "ListResourceTenants": lambda ses: ses.list_resource_tenants(ResourceArn=ARN),
    "GetReputationEntity": lambda ses: ses.get_reputation_entity(
        ReputationEntityType="RESOURCE",
        ReputationEntityReference=ses.get_tenant(TenantName="t")["Tenant"]["TenantArn"],
    ),
    "PutSuppressedDestination": lambda ses: ses.put_suppressed_destination(
        EmailAddress=ADDRESS, Reason="BOUNCE"
    ),
    "ListSuppressedDestinations": lambda ses: ses.list_suppressed_destinations(),
    "GetSuppressedDestination": lambda ses: ses.get_suppressed_destination(EmailAddress=ADDRESS),
    "SendEmail": _send,
}


@pytest.mark.parametrize("name", [name for name in _ROWS if _ROWS[name].get("members")])
def test_each_row_is_what_the_stand_in_answers(answers: dict[str, Any], name: str) -> None:
    read, sent = answers[name]
    values = dict(values_of({key: each for key, each in read.items() if key != "ResponseMetadata"}))
    assert dict(values_of(sent)).keys() == values.keys()
    compare(values, _ROWS[name])


def compare(values: dict[str, Any], operation: Mapping[str, Any]) -> None:
    for member, row in operation["members"].items():
        expected = row.get("here", row["aws"]) if isinstance(row, dict) else row
        value = values.pop(member, "<absent>")
        if isinstance(expected, str) and expected in _KINDS:
            assert isinstance(value, _KINDS[expected]), member
            assert value != "<absent>", member
        else:
            assert value == ("<absent>" if expected == "<not imitated>" else expected), member
    assert not values


@pytest.fixture
def receipts() -> Iterator[tuple[Any, MailStore, list[tuple[str, str, bytes]]]]:
    """The operations about receiving, the state, and what was stored."""
    stored: list[tuple[str, str, bytes]] = []

    async def put(*object_: Any) -> None:
        stored.append(object_)

    running = LocalSes(MailStore(account=StoredAccount()))
    running.mailbox.receipts.put_object = put
    ses = boto3.client(
        "ses",
        endpoint_url=running.ses_url,
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
    )
    yield ses, running.mailbox, stored
    ses.close()
    running.close()


def rule(name: str, **more: Any) -> dict[str, Any]:
    action = {"S3Action": {"BucketName": "bucket", "ObjectKeyPrefix": f"{name}/"}}
    return {"Name": name, "Actions": [action], **more}


def test_receiving_answers_as_its_rows_say(receipts: Any) -> None:
    """All operations that the table names, with the errors of their pages and SES's quotas."""
    ses, mailbox, _ = receipts
    methods = {re.sub("([A-Z])", r"_\1", name).lower() for name in _RECEIPTS}
    assert {name for name in dir(mailbox.receipts) if "_receipt_rule" in name} == methods
    assert "Metadata" not in ses.describe_active_receipt_rule_set()
    codes = []
    for call, request in (
        (ses.create_receipt_rule_set, {"RuleSetName": "x"}),
        (ses.create_receipt_rule_set, {"RuleSetName": "x"}),
        (ses.set_active_receipt_rule_set, {"RuleSetName": "y"}),
        (ses.set_active_receipt_rule_set, {"RuleSetName": "x"}),
        (ses.create_receipt_rule, {"RuleSetName": "y", "Rule": rule("a")}),
        (ses.update_receipt_rule, {"RuleSetName": "x", "Rule": rule("a")}),
        (ses.create_receipt_rule, {"RuleSetName": "x", "Rule": rule("a", Recipients=["b.c"])}),
        (ses.create_receipt_rule, {"RuleSetName": "x", "Rule": rule("a")}),
        (ses.delete_receipt_rule, {"RuleSetName": "x", "RuleName": "absent"}),
    ):
        try:
            call(**request)
        except ClientError as error:
            codes.append(error.response["Error"]["Code"])
    assert codes == [
        "AlreadyExists",
        "RuleSetDoesNotExist",
        "RuleSetDoesNotExist",
        "RuleDoesNotExist",
        "AlreadyExists",
    ]
    shown = ses.describe_active_receipt_rule_set()
    del shown["ResponseMetadata"]
    compare(dict(values_of(shown)), _RECEIPTS["DescribeActiveReceiptRuleSet"])
    for number in range(1, 200):
        mailbox.receipts.sets["x"][str(number)] = mailbox.receipts.sets["x"]["a"]
    for number in range(1, 40):
        mailbox.receipts.sets[str(number)] = {}
    for call, request in (
        (ses.create_receipt_rule, {"RuleSetName": "x", "Rule": rule("b")}),
        (ses.create_receipt_rule_set, {"RuleSetName": "z"}),
    ):
        with pytest.raises(ses.exceptions.LimitExceededException):
            call(**request)


def test_what_a_rule_does_with_mail(receipts: Any) -> None:
    ses, mailbox, stored = receipts
    ses.create_receipt_rule_set(RuleSetName="x")
    ses.set_active_receipt_rule_set(RuleSetName="x")
    for one in (
        rule("all", Enabled=True),
        rule("off", Recipients=["in.shop.example"]),
        rule("ours", Recipients=["In.Shop.Example"], Enabled=True),
        rule("other", Recipients=["shop.example"], Enabled=True),
    ):
        ses.create_receipt_rule(RuleSetName="x", Rule=one)
    keys = [key for _, key, _ in stored]
    assert keys[0] == "all/AMAZON_SES_SETUP_NOTIFICATION"
    stored.clear()
    receive = mailbox.receipts.receive("ada@customer.example", ["r@in.shop.example"], RAW)
    asyncio.run(receive)
    assert [key.partition("/")[0] for _, key, _ in stored] == ["ours", "all"]
    bucket, key, octets = stored[0]
    assert (bucket, re.fullmatch("ours/[0-9a-z]{40}", key) is not None) == ("bucket", True)
    fields, raw = octets[: -len(RAW)], octets[-len(RAW) :]
    assert raw == RAW
    assert re.findall(rb"(?m)^([\w-]+):", fields) == [
        b"Return-Path",
        b"Received",
        b"X-SES-Spam-Verdict",
        b"X-SES-Virus-Verdict",
        b"Received-SPF",
        b"Authentication-Results",
        b"X-SES-RECEIPT",
        b"X-SES-DKIM-SIGNATURE",
    ]
    ses.delete_receipt_rule(RuleSetName="x", RuleName="all")
    assert mailbox.receipts.matching("a@elsewhere.example") == []


def test_a_difference_has_a_reason_and_a_fact_a_page() -> None:
    for row in (_ROWS | _RECEIPTS).values():
        assert re.fullmatch(r"APIReference(-V2)?/API_\w+\.html", row["page"])
        for member in row.get("members", {}).values():
            if isinstance(member, dict):
                assert ("here" in member) == ("why" in member)
                assert re.match(
                    r"(APIReference(-V2)?|dg|(docs\.)?aws\.amazon\.com)/", member.get("page", "dg/")
                )


def test_each_effect_has_its_test() -> None:
    """What SES does by itself is in no shape, so the table names the test that shows it."""
    defined = {
        name
        for path in _TESTS.glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)
    }
    assert {effect["test"] for effect in _TABLE["effects"]} <= defined
