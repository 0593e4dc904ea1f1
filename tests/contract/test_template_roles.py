"""Each role allows exactly the AWS calls that its function makes, on exactly their records.

The test records the calls in botocore while it runs every path of each function, including errors
and failures.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from email import message_from_bytes
from itertools import count
from typing import Any, Final
from unittest import mock
from uuid import UUID, uuid4

import boto3
import pytest
import yaml
from botocore.client import BaseClient

from local import template
from pillarbox import wiring
from pillarbox.adapters import management_api, secret_store
from pillarbox.adapters.dynamodb import keys, records, replies, service_address
from pillarbox.adapters.dynamodb.history.ledger import DynamoLedger
from pillarbox.adapters.dynamodb.history.rebuild_marks import DynamoRebuildMarks
from pillarbox.adapters.dynamodb.messages.token_bucket import KnownBucket
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.adapters.dynamodb.table import to_item, to_text
from pillarbox.adapters.dynamodb.timer import Timer
from pillarbox.adapters.dynamodb.webhooks.endpoints import (
    DynamoEndpointHealths,
    DynamoWebhookEndpoints,
)
from pillarbox.adapters.management_api import DeployedApi, HttpApiProbe, ProvisionedSecrets
from pillarbox.adapters.secret_store import EdgeSecret
from pillarbox.adapters.sqs.sweep_tasks import write_task
from pillarbox.application.accounts.keys import KeyLimits
from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.application.delivery.ports import SweepStep, SweepTask
from pillarbox.application.history.ports import RebuildMark, SearchEntry
from pillarbox.application.pauses import Pauses
from pillarbox.application.receiving_ports import ReceivingDomain
from pillarbox.application.templates.authoring import TemplateSource
from pillarbox.domain.accounts.account import Isolation, Plan
from pillarbox.domain.accounts.key import (
    MEMBERS_WRITE,
    OPERATOR_SCOPES,
    SCOPES,
    AgentSettings,
    Confirmation,
    Preset,
    account_of_key,
)
from pillarbox.domain.accounts.pause import Pause, PauseCause, PauseLevel, PauseScope
from pillarbox.domain.accounts.quota import WINDOWS, window_name
from pillarbox.domain.address import domain_of
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.kept import ERASED_SUBJECT, KeptContent
from pillarbox.domain.messages.message import Event, EventKind, MessageOrigin
from pillarbox.domain.messages.schedule import Schedule
from pillarbox.domain.messages.statistics import Granularity, index_entry, terms_of
from pillarbox.domain.sign_in.session import OPERATE, SERVICE_ACCOUNT_ID, Role
from pillarbox.domain.timing import milliseconds
from pillarbox.domain.webhooks.endpoint import EndpointHealth
from tests import iam
from tests.contract import client, service, test_messages
from tests.contract import test_preview_keys as visitors
from tests.contract.aws_calls import Calls, rights_granted, rights_used
from tests.contract.bodies import attachment, otp, raw_html
from tests.contract.client import Api, ApiResponse, Invocation
from tests.contract.mcp import ELICITATION, McpClient, yes
from tests.contract.operations import (
    CHANGES,
    MANAGED,
    OF_SESSIONS,
    OPERATED,
    OPERATIONS,
    Operation,
    in_an_hour,
    send_waiting,
)
from tests.contract.passkeys import add as add_passkey
from tests.contract.passkeys import authenticator
from tests.contract.passkeys import sign_in as passkey_sign_in
from tests.contract.service import SENDER, Service, queue_record
from tests.contract.ses_domains import tenant_event
from tests.contract.sign_in import Browser, signed_in
from tests.contract.sign_up import post, proof_for, user_without_account
from tests.contract.test_backend_down import no_answer
from tests.contract.test_cloudformation import InProcessProbe
from tests.contract.test_messages import DELIVERED, HARD, event
from tests.contract.test_sessions import full_ids
from tests.contract.test_tenants import Tenant
from tests.contract.webhook_path import BUS, ROLE, WebhookPath
from tests.fakes.builders import mail as mail_of
from tests.fakes.builders import message
from tests.fakes.webhooks import endpoint
from tests.iam import AwsRequest
from tests.integration.replies.mail import answer, store
from tests.loops import for_each
from tests.unit.http.test_function_url import url_event

KEYS_HOUR = 6
STALL_TIME = timedelta(hours=48)

_RESOURCES: Final[dict[str, Any]] = template.load()["Resources"]
_FUNCTIONS: Final = {
    resource["Properties"]["CodeUri"].removeprefix("functions/"): name
    for name, resource in _RESOURCES.items()
    if resource["Type"] == "AWS::Serverless::Function"
}
_LARGE: Final = otp(attachments=[attachment(b"%PDF-1.7" + bytes(400_000))])

#: Actions that a role needs in addition to the calls of the function's code.
_LAMBDAS_OWN: Final = {
    # Lambda itself uses these for logs, queues and streams.
    "logs:CreateLogStream",
    "logs:PutLogEvents",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ReceiveMessage",
    "dynamodb:DescribeStream",
    "dynamodb:GetRecords",
    "dynamodb:GetShardIterator",
    "dynamodb:ListStreams",
}
_UNCALLED: Final = {
    # Without it S3 returns AccessDenied for a missing object.
    "change_message": {"s3:ListBucket"},
    "deliver_message": {"s3:ListBucket"},
    "mcp": {"s3:ListBucket"},
    "read_received": {"s3:ListBucket"},
    # Required by `ReportBatchItemFailures`.
    "record_feedback": {"sqs:ChangeMessageVisibility"},
    "sweep_account": {"sqs:ChangeMessageVisibility"},
    "post_webhooks": {"s3:ListBucket", "sqs:ChangeMessageVisibility"},
    "receive_email": {"s3:ListBucket", "sqs:ChangeMessageVisibility"},
    # Lambda reports the records that it gave up with the function's role.
    "aggregate_stats": {"sqs:SendMessage ChangesDeadLetters"},
    "announce_events": {"sqs:SendMessage ChangesDeadLetters"},
}


@pytest.fixture(scope="module")
def calls(service: Service) -> Iterator[dict[str, set[AwsRequest]]]:
    """Run every path of every function, and return the requests that each made."""
    recorded = Calls()
    call = BaseClient._make_api_call  # type: ignore[attr-defined]

    def recording(made_by: BaseClient, operation: str, parameters: Mapping[str, Any]) -> Any:
        recorded.record(made_by.meta.service_model.service_name, operation, parameters)
        return call(made_by, operation, parameters)

    def through_the_edge(function: str) -> Callable[[dict[str, Any], object], dict[str, Any]]:
        run = recorded.handler(function)

        def handle(event: dict[str, Any], context: object) -> dict[str, Any]:
            # A network of its own each time, because each may ask for three codes a minute.
            event["multiValueHeaders"] |= {
                "X-Pillarbox-Client": [f"2001:db8:{next(_networks):x}::1"],
                "X-Pillarbox-Edge": ["edge"],
            }
            return run(event, context)

        return handle

    boto3.client("secretsmanager").create_secret(Name="edge", SecretString="edge secret")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", recording)
        patch.setitem(vars(wiring.services()), "edge_secret", EdgeSecret("edge", wiring.utc_now))
        patch.setattr(secret_store, "_REMEMBERED", timedelta(0))
        patch.setattr(secret_store, "_LONGEST", timedelta(0))
        # Each function reads the address and the keys, though all run in one process here.
        patch.setattr(service_address, "_REMEMBERED", timedelta(0))
        patch.setattr(replies, "_READ_EVERY", timedelta(0))
        patch.setattr(Timer, "_is_noted", property(lambda _: False, lambda *_: None), raising=False)
        patch.setattr(client, "handler", through_the_edge)
        patch.setattr(f"{_SERVICE}.handler", recorded.handler)
        _accept(service)
        recorded.handler("send_email")(url_event(x_pillarbox_edge="edge"), client.Invocation())
        _read(service)
        _call_tools(service)
        _sign_in(service)
        _passkeys(service)
        _preview_keys(service)
        _sign_up(service)
        _edit(service)
        _manage(service)
        _deliver(service, recorded)
        _wait(service, recorded)
        _follow(service, recorded)
        _sweep(service, recorded)
        _pause_a_tenant(service, recorded)
        WebhookPath(service, recorded.handler).run_everything("ann@example.com", "Hello")
        _send_again(service)
        WebhookPath(service, recorded.handler, BUS, role_arn=ROLE).post_a_test()
        _receive(service, recorded)
        _delete_account(service)
        _provide(service, recorded)
        _operate(service)  # last, because it fills each queue
        yield recorded.made


_SERVICE: Final = service.__name__
_networks: Final = count()


#: A mail with a file whose bytes have not arrived.
_UPLOADED: Final = raw_html(attachments=[{"attachmentId": str(new_id(wiring.utc_now()))}])
#: The sources of keys with which each function asks who vouches for a client's address.
_EVERYWHERE: Final = ("0.0.0.0/0", "::/0")
_OF_OPERATORS: Final = {OPERATE, *OPERATOR_SCOPES}


def _accept(service: Service) -> None:
    """Send mail and batches, small and large, with and without a key, also with failures."""
    account = service.account()
    key = service.key(account, sources=_EVERYWHERE)
    template = service.template(account, "<p>x</p>")
    saved = {"to": "ann@example.com", "templateId": template}
    by_id = {"from": SENDER, "to": "ann@example.com", "template": {"id": template}}
    large = by_id | {
        "template": {"id": "otp", "variables": {"otp_code": "482913"}},
        "attachments": [{"filename": "a.pdf", "content": _LARGE["attachments"][0]["content"]}],
    }
    front, bearer = Api(base="/resend"), {"Authorization": f"Bearer {key}"}
    for api, sender, path, body in (
        (Api(key), {}, "/emails", otp()),
        (Api(key), {}, "/emails", _LARGE),
        (Api(key), {}, "/emails", saved),
        (Api(key), {}, "/emails/batch", {"messages": [otp(), saved]}),
        (Api(key), {}, "/emails/batch", {"messages": [_LARGE]}),
        (front, bearer, "/emails", large),
        (front, bearer, "/emails", by_id),
        (front, bearer, "/emails/batch", [large, by_id]),
    ):
        text, once = json.dumps(body), sender | {"Idempotency-Key": str(uuid4())}
        for headers in (sender, once, once):
            assert api.raw("POST", path, text, headers).status == 200
        for call in ("PutItem", "BatchExecuteStatement"):
            with _failing(call):
                assert api.raw("POST", path, text, sender).status in {200, 503}
        with _failing("UpdateItem"):
            once = sender | {"Idempotency-Key": str(uuid4())}
            assert api.raw("POST", path, text, once).status == 503
    for path, body in (("/emails", _UPLOADED), ("/emails/batch", {"messages": [_UPLOADED]})):
        assert Api(key).raw("POST", path, json.dumps(body)).status in {200, 404}
    waiting = otp(scheduledAt=in_an_hour())
    for path, body in (("/emails", waiting), ("/emails/batch", {"messages": [waiting]})):
        assert Api(key).raw("POST", path, json.dumps(body)).status == 200
    later = json.dumps(large | {"scheduled_at": in_an_hour()})
    changed = front.raw("POST", "/emails", later, bearer).json["id"]
    moved = json.dumps({"scheduled_at": in_an_hour()})
    assert front.raw("PATCH", f"/emails/{changed}", moved, bearer).status == 200
    assert front.raw("POST", f"/emails/{changed}/cancel", None, bearer).status == 200
    listed = front.raw("GET", "/emails", headers=bearer).json["data"]
    assert front.raw("GET", f"/emails/{listed[0]['id']}", headers=bearer).status == 200
    reader = {"Authorization": f"Bearer {service.key(account, Preset.CUSTOM, scopes=SCOPES)}"}
    suppressed = '{"email": "ann@example.com"}'
    assert front.raw("POST", "/suppressions", suppressed, reader).status == 201
    for path in (
        *("/templates", f"/templates/{template}", "/domains", "/api-keys", "/webhooks"),
        *("/suppressions", "/suppressions/ann@example.com"),
    ):
        assert front.raw("GET", path, headers=reader).status == 200


@contextmanager
def _failing(call: str) -> Iterator[None]:
    events, name = wiring.services().table.client.meta.events, f"before-call.dynamodb.{call}"
    events.register(name, no_answer)
    yield
    events.unregister(name, no_answer)


def _kind_of(api: Api, operation: Operation, ids: Mapping[str, str]) -> int:
    """Request an operation, and return the first digit of the status.

    A domain that receives is not removed, so receiving is switched off again.
    """
    status = operation.request(api, ids).status
    if operation.id == "change_domain":
        assert api.raw("PATCH", f"/domains/{ids['domain']}", '{"receive": ""}').status == 200
    return status // 100


@contextmanager
def _failing_save() -> Iterator[None]:
    """Make the save after a hand-over fail without a response, but not the lease before it."""
    events, name = wiring.services().table.client.meta.events, "before-call.dynamodb.UpdateItem"

    def fail_save(params: Mapping[str, Any], **_: object) -> None:
        if ":provider_id" in params["UpdateExpression"]:
            no_answer()

    events.register(name, fail_save)
    yield
    events.unregister(name, fail_save)


def _read(service: Service) -> None:
    """Call every operation of the document; a new route needs no line here."""
    account = service.account()
    api = Api(service.key(account, Preset.CUSTOM, scopes=SCOPES, sources=_EVERYWHERE))
    sent = api.send(otp()).json["messageId"]
    source = TemplateSource(name="A", subject="B", category="c", html="<p>d</p>")
    saved = wiring.services().template_authoring.create(account, source, internal=False).template_id
    webhook = service.webhook(account)
    ids = {"message_id": sent, "id": saved, "endpoint_id": webhook}
    ids["delivery_id"] = service.delivery(account, webhook)
    ids["received_id"] = str(service.receive(account).received_id)
    disabled = EndpointHealth(disabled_at=wiring.utc_now(), disabled_for="gone")
    healths = DynamoEndpointHealths(wiring.services().table)
    assert healths.replace(account, webhook, EndpointHealth(), disabled)
    # Reads first: template and endpoint are deleted last.
    for operation in sorted(OPERATIONS, key=lambda one: one.method == "DELETE"):
        if operation.id in CHANGES:
            ids["message_id"] = send_waiting(api, operation.id)
        assert operation.request(api, ids).status // 100 == 2, operation.id
    for search in ({"recipient": "ann*"}, {"tag": "order:7"}):
        assert api.raw("GET", "/emails", query=search).status == 200


def _preview_keys(service: Service) -> None:
    """Get two keys for one address, complain about a test and report one."""
    address = "visitor@example.com"
    _forget_proof_key()
    visitors.request_code("other@example.com")
    _forget_proof_key()  # each function that needs the key makes the first one
    service.mail_codes()
    (other,) = (one for one in service.messages(SERVICE_ACCOUNT_ID) if "other@" in str(one))
    bounced = event(SERVICE_ACCOUNT_ID, other["sk"], *HARD)
    with mock.patch("pillarbox.application.delivery.feedback.LEAST_TOTAL", 1):
        assert service.report(bounced) == []
    visitors.get_key(service, address)
    api = Api(visitors.get_key(service, address).json["key"])
    sent = api.send(otp(to=address)).json["messageId"]
    report = visitors.report_in(visitors.last_mail(service, address))
    account = account_of_key(api.key or "")
    complaint = {"complainedRecipients": [{"emailAddress": address}]}
    assert service.report(test_messages.event(account or "", sent, "Complaint", complaint)) == []
    assert visitors.post("/reports", token=report).status == 204


def _forget_proof_key() -> None:
    """Forget the key of proofs of work, in the table and in this process."""
    proofs = wiring.services().proof_store
    proofs._credentials.delete(keys.proof_key())
    proofs._key = None


def _passkeys(service: Service) -> None:
    """Add a passkey, sign in with it and with a copy of it, and remove it."""
    _forget_proof_key()
    session, device = service.session(service.account()), authenticator(counts=True)
    added = add_passkey(session, device)
    assert added.status == 201
    assert passkey_sign_in(device)[1].status == 200
    copy = replace(device, count=0)
    assert passkey_sign_in(copy)[1].status == 401
    api = Api(session=session)
    assert api.raw("GET", "/passkeys").status == 200
    assert api.raw("DELETE", f"/passkeys/{added.json['id']}").status == 204
    service.mail_codes()


def _inviting(service: Service, address: str) -> str:
    """Return the id of a new account that has invited an address."""
    team, account = wiring.services().team, service.account()
    team.members.put(replace(team.add_member(account, address, Role.VIEWER), pending=True))
    return account


def _sign_in(service: Service) -> None:
    """Sign in by code and by link, call each operation that takes a session, and end sessions."""
    account, address = service.account(), "ada@shop.example"
    service.session(account)
    browser = Browser()
    flow = browser.request_code(address).json["flow"]
    (queued,) = service.codes()
    assert browser.sign_in(flow, queued.code).status == 200
    browser.request_code(address)
    assert service.mail_codes() == [{"code_accepted": 1}]
    link = wiring.services().team.new_link(address)
    assert browser.post("/links", {"link": link}).json == {"email": address, "invitation": None}
    assert browser.post("", {"link": link}).status == 200
    tenant = Tenant(service, account, Api(service.key(account)).send(otp()).json["messageId"])
    service.pause(account)
    session = ""
    for operation in OF_SESSIONS:
        is_passkey = operation.path.startswith("/v1/passkeys")
        if is_passkey or operation.id == "sign_up" or operation.permission in _OF_OPERATORS:
            continue  # see below
        session = session or browser.token(account).json["token"]
        ids = full_ids(tenant, operation.parameters, operation.id) | {"session_id": session[16:28]}
        if operation.path.startswith("/v1/invitations"):
            ids["account_id"] = _inviting(service, address)
        assert _kind_of(Api(session=session), operation, ids) == 2, operation.id
        if "Session" in operation.credentials and operation.method == "DELETE":
            browser, session = signed_in(service, address), ""
    api = Api(session=browser.token(account).json["token"])
    key_id = wiring.services().api_keys.issue_live(account, "old", Preset.SEND).record.key_id
    assert api.raw("GET", "/keys").status == 200
    with mock.patch("pillarbox.application.accounts.keys.MAX_REVOKED_KEYS", 0):
        ids = full_ids(tenant, ["key_id"])
        wiring.services().api_keys.revoke(ids["key_id"])
        assert api.raw("POST", "/keys", '{"name": "web", "preset": "send"}').status == 201
    assert api.raw("DELETE", f"/keys/{key_id}").status == 204
    listed = '{"addresses": ["a@example.com", "b@example.com"]}'
    assert api.raw("POST", "/suppressions", listed).status == 201
    assert api.raw("POST", "/domains", '{"domain": "new.example"}').status == 201
    records = wiring.services().account_domains.records
    with service.at(wiring.utc_now() + timedelta(seconds=10)):
        assert api.raw("GET", "/domains/new.example").status == 200
        (new,) = (one for one in records.of_account(account) if one.name == "new.example")
        records.update(replace(new, proved_at=wiring.utc_now()))
        service.ses.domains.dkim["new.example"] = "FAILED"
        assert api.raw("POST", "/domains/new.example").status == 200
        assert "delete" in service.ses.domains.calls
        service.ses.domains.known["new.example"] = True
        wiring.services().account_store.set_isolation(account, Isolation.STRICT, "shop")
    with service.at(wiring.utc_now() + timedelta(seconds=20)):
        assert api.raw("GET", "/domains/new.example").json["status"] == "verified"
        assert api.raw("POST", "/senders", '{"address": "hello@new.example"}').status == 201
    assert api.raw("DELETE", "/session", query={"all": "true"}).status == 204


def _sign_up(service: Service) -> None:
    """Create an account and ask for one as new users, and let strangers be told."""
    # Each of two functions may create the key, and a process remembers it.
    wiring.services().credentials.delete(keys.proof_key())
    wiring.services().sign_up.proofs._key = None  # type: ignore[attr-defined]
    for mode, address in (("open", "new@shop.example"), ("approved", "newer@shop.example")):
        with service.signing_up(mode):
            api = user_without_account(service, address)
            assert post(api, "Acme", proof_for(api), "198.51.100.1").status == 201
        if mode == "approved":
            operator = Api(session=service.operator())
            assert operator.raw("GET", "/operator/sign-ups").json["items"]
            for method, status in (("DELETE", 204), ("POST", 201)):
                path = f"/operator/sign-ups/{address}"
                body = "{}" if method == "POST" else None
                assert operator.raw(method, path, body).status == status
    with service.signing_up("invited"):
        Browser().request_code("stranger@shop.example")
        assert service.mail_codes() == [{"code_accepted": 0}]


def _operate(service: Service) -> None:
    """Call each operation of operators, for an account that sends, with dead letters to move."""
    account = wiring.services().accounts.create("Shop", Plan.STANDARD).account_id
    Api(service.key(account)).send(otp())
    operator = Api(session=service.operator())
    sqs, moved = boto3.client("sqs"), wiring.services().queue_operations.dead_letters()
    for url in moved.values():
        sqs.send_message(QueueUrl=url, MessageBody="{}")
    for operation in OF_SESSIONS:
        if operation.id == "delete_operated_account":
            continue
        if operation.permission in _OF_OPERATORS and "sign-ups" not in operation.path:
            for name in moved if "queue" in operation.parameters else ("",):
                ids = {"account_id": account, "queue": name}
                assert operation.request(operator, ids).status // 100 == 2, operation.id
    accounts, path = wiring.services().account_store, f"/operator/accounts/{account}"
    pause = Pause(
        scope=PauseScope.ACCOUNT,
        level=PauseLevel.STOP,
        cause=PauseCause.PROVIDER,
        since=wiring.utc_now(),
    )
    Pauses(accounts).put(account, pause)
    service.domain(account, f"{account}.example")
    service.sender(account, f"post@{account}.example")
    service.ses.domains.associated.clear()
    for isolation in ("standard", "strict", "none"):  # what SES said of a former tenant is over
        changed = operator.raw("PATCH", path, json.dumps({"isolation": isolation})).json
        assert (changed["isolation"], changed["pauses"]) == (isolation, [])
    shared = f"{wiring.services().settings.stack}-shared"
    accounts.set_isolation(account, Isolation.STRICT, shared)
    assert operator.raw("PATCH", path, '{"isolation": "strict"}').json["isolation"] == "strict"
    assert wiring.services().shared_tenant.stored() == shared


def _manage(service: Service) -> None:
    """Do with an operator's key what members and operators do, for its account and another one."""
    own = wiring.services().accounts.create("Operator", Plan.ENTERPRISE).account_id
    wiring.services().accounts.update(own, AccountChanges(operates=True))
    scopes = SCOPES | OPERATOR_SCOPES
    limits = KeyLimits(sources=_EVERYWHERE)
    api_keys = wiring.services().api_keys
    text = api_keys.issue_live(own, "ci", Preset.CUSTOM, scopes, limits=limits).text
    api, account = Api(text), service.account()
    service.webhook(account)
    assert Api(session=service.session(account)).raw("GET", "/overview").status == 200
    sent = Api(service.key(account)).send(otp()).json["messageId"]
    tenant = Tenant(service, account, sent)
    for operation in MANAGED:
        ids = full_ids(tenant, operation.parameters)
        acting = ActingApi(text, account=account)
        # An operator's key gives and takes no right over the mail of others.
        gives = operation.id == "create_key" or operation.permission == MEMBERS_WRITE
        assert _kind_of(acting, operation, ids) == (4 if gives else 2), operation.id
    guests = Api(api_keys.issue_live(account, "guests", Preset.CUSTOM, SCOPES).text)
    assert (
        guests.raw("POST", "/members", '{"email": "g@shop.example", "role": "viewer"}').status
        == 201
    )
    guests_id = api_keys.find(guests.key or "").key_id
    assert guests.raw("GET", "/account/log", query={"key": guests_id}).status == 200
    assert guests.raw("DELETE", f"/keys/{guests_id}").status == 204
    child = json.dumps({"name": "child", "preset": "custom", "scopes": ["keys:read"]})
    key_id = api.raw("POST", "/keys", child, {"X-Account": account}).json["id"]
    assert api.raw("DELETE", f"/keys/{key_id}", None, {"X-Account": account}).status == 204
    for operation in OPERATED:
        if operation.id == "delete_operated_account" or "sign-ups" in operation.path:
            continue
        assert operation.request(api, {"account_id": account}).status // 100 == 2, operation.id
    for path, body in {
        "/templates": {"name": "alone", "category": "billing"},
        "/webhooks": {"url": "https://alone.example/", "types": ["*"]},
        "/keys": {"name": "alone", "preset": "custom", "scopes": ["keys:read"]},
        "/operator/accounts": {"name": "alone", "plan": "free"},
    }.items():
        assert api.raw("POST", path, json.dumps(body), {"If-None-Match": "*"}).status == 201, path
    own_key = api_keys.find(text).key_id
    assert api.raw("POST", "/keys", child, {"X-Account": account}).status == 201
    assert api.raw("DELETE", f"/keys/{own_key}").status == 204


@dataclass(frozen=True, slots=True)
class ActingApi(Api):
    """A client of an operator's key that acts for an account."""

    account: str = ""

    def raw(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str | list[str]] | None = None,
        *,
        query: Mapping[str, str | list[str]] | None = None,
        client: str = "127.0.0.1",
    ) -> ApiResponse:
        named = {**(headers or {}), "X-Account": self.account}
        return Api.raw(self, method, path, body, named, query=query, client=client)


def _edit(service: Service) -> None:
    """Publish a template twice, send large tests, also with a failure, and delete a draft."""
    api = Api(session=service.session(service.account()))
    large = {"name": "A", "category": "b", "html": "<p>{{ a }}</p>" + "x" * 190_000}
    template_id = api.raw("POST", "/templates", json.dumps(large)).json["id"]
    path = f"/templates/{template_id}"
    assert api.raw("POST", f"{path}/publish", None, {"If-Match": "1"}).status == 200
    draft = {"subject": "S", "kind": "html", "source": large["html"] + "y"}
    body = json.dumps({"name": "A", "category": "b"} | draft)
    assert api.raw("PUT", f"{path}/draft", body, {"If-Match": "1"}).status == 200
    with mock.patch("pillarbox.application.templates.authoring.MAX_VERSIONS", 1):
        assert api.raw("POST", f"{path}/publish", None, {"If-Match": "2"}).status == 200
    test = json.dumps({"to": "ada@shop.example", "variables": {"a": "z" * 240_000}})
    assert api.raw("POST", f"{path}/test", test).status == 200
    with _failing("PutItem"):
        assert api.raw("POST", f"{path}/test", test).status == 503
    copy = api.raw("POST", f"{path}/duplicate").json["id"]
    assert api.raw("DELETE", f"/templates/{copy}").status == 204


def _call_tools(service: Service) -> None:
    """Call each tool of the MCP server; send small and large mail, also with failures."""
    account = service.account(senders={"post@shop.example": True}, default="post@shop.example")
    api = Api(service.key(account, Preset.MARKETING, agent=AgentSettings(recipients=("*",))))
    client = McpClient(api, ELICITATION)
    saved = service.template(account, "<p>x</p>")
    by_id = {"messageId": str(uuid4()), "templateId": saved}
    window = {"from": "2026-01-01", "to": "2026-01-02"}
    arguments = window | {"slug": "otp", "domain": "shop.example"} | by_id
    for name, tool in client.tools().items():
        if tool["annotations"]["readOnlyHint"]:
            needed = tool["inputSchema"].get("required", ())
            client.call(name, {argument: arguments[argument] for argument in needed})
    client.call("send_email", _UPLOADED)
    _change_by_tools(service, account)
    for search in ({"sortBy": "updated_at"}, {"recipient": "ann*"}, {"tag": "order:7"}):
        client.call("list_emails", search)
    later = otp(scheduledAt=in_an_hour())
    mails = (otp(), _LARGE, later, {"to": "ann@example.com", "templateId": saved})
    sends = [("send_email", dict(mail)) for mail in mails] + [("send_batch", {"messages": mails})]
    for name, mail in sends:
        mail |= {"idempotencyKey": str(uuid4())}
        answer = yes(client.call(name, mail)["requestState"])
        for call in ("UpdateItem", "PutItem"):
            with _failing(call):
                client.call(name, mail, **answer)
        for _ in range(2):
            client.call(name, mail, **answer)
        mail |= {"idempotencyKey": str(uuid4())}
        with _failing("BatchExecuteStatement"):
            client.call(name, mail, **yes(client.call(name, mail)["requestState"]))


def _change_by_tools(service: Service, account: str) -> None:
    """Move, cancel and release emails of an agent, for a time in and after the next minutes."""
    settings = AgentSettings(recipients=("*",), confirmation=Confirmation.OFF)
    client = McpClient(Api(service.key(account, agent=settings)))
    for wish, changes in (
        ({"scheduledAt": in_an_hour()}, ("reschedule_email", "cancel_email")),
        ({"hold": True}, ("release_email",)),
    ):
        sent = {"messageId": client.data("send_email", raw_html(**wish))["messageId"]}
        for tool in changes:
            at = {"scheduledAt": in_an_hour()} if tool == "reschedule_email" else {}
            assert "messageId" in client.data(tool, sent | at)


def _job_of(service: Service, account: str) -> dict[str, Any]:
    jobs = service.jobs()
    (job,) = (job for job in jobs if json.loads(job["body"]).get("account") == account)
    return job


def _deliver(service: Service, recorded: Calls) -> None:
    """Deliver mail from queue and spool, an uncertain mail, a job without a record, a poison job.

    The results of an ordinary and of an urgent hand-over cannot be saved. The uncertain mail is
    checked while no event comes, while an event is queued, and beside a dead letter of another.
    """
    rate: Any = wiring.services().delivery.rate
    with mock.patch.object(rate, "_bucket", KnownBucket(rate._table, lambda: 2000.0)):
        service.deliver()
    wiring.services().table.delete(keys.sending_rate())
    account = service.account()
    Api(service.key(account)).send(raw_html())
    job = _job_of(service, account)
    service.ses.failure = (500, "InternalServerError")
    service.consume("deliver_message", job["body"])
    service.ses.failure = None
    wiring.services().table.delete(keys.heartbeat())
    with service.at(wiring.utc_now() + timedelta(minutes=20)):
        service.consume("deliver_message", job["body"])
    wiring.services().delivery.heartbeat.record(wiring.utc_now() + timedelta(minutes=30))
    with service.at(wiring.utc_now() + timedelta(minutes=20)):
        sqs = boto3.client("sqs")
        sqs.send_message(QueueUrl=service.events_url, MessageBody="{}")
        service.consume("deliver_message", job["body"])
        sqs.purge_queue(QueueUrl=service.events_url)
        dead_letters = wiring.services().settings.events_dead_letters_url
        other = json.dumps(event(account, str(uuid4()), *DELIVERED))
        sqs.send_message(QueueUrl=dead_letters, MessageBody=other)
        with _failing_save():
            service.consume("deliver_message", job["body"])
        sqs.purge_queue(QueueUrl=dead_letters)
    record = _job_of(service, account)
    service.consume("deliver_message", record["body"])
    Api(service.key(account)).send(otp())
    urgent = _job_of(service, account)
    with _failing_save():
        service.consume("deliver_message", urgent["body"])
    unrecorded = json.loads(urgent["body"]) | {"id": str(uuid4())}
    for text in (json.dumps(unrecorded), "{}"):
        old = queue_record(text)
        old["attributes"]["SentTimestamp"] = "0"
        recorded.handler("deliver_message")({"Records": [old]}, Invocation())


def _wait_for_owner(service: Service, account: str) -> None:
    """Send as an agent for an owner, who is told, and reads a small content and a large one."""
    owner = Api(session=service.session(account, Role.OWNER))
    for body in (otp(), raw_html(html="x" * 20_000)):
        message_id = service.send_for_owner(account, body)
        assert owner.raw("GET", f"/emails/{message_id}/content").status == 200
        service.count(account, message_id)


def _wait(service: Service, recorded: Calls) -> None:
    """Let the timers queue emails, read what they cannot read, and a worker deliver the emails.

    One email has a code, and one is so late that the sweep queues it again. The sweep also looks
    at the account's keys, and its quota is used up.
    """
    services, account, now = wiring.services(), service.account(), wiring.utc_now()
    services.table.put(keys.account_list(account))
    api = Api(services.api_keys.issue_live(account, "web", Preset.SEND).text)
    for body in (otp(), raw_html(), otp(subject="late"), raw_html(subject="late")):
        assert api.send(body | {"scheduledAt": in_an_hour()}).status == 200
    held = api.send(otp(hold=True)).json["messageId"]
    assert api.raw("POST", f"/emails/{held}/release").status == 200
    _wait_for_owner(service, account)
    never_accepted = message(account, new_id(now - STALL_TIME))
    services.waiting_contents.put_all([(never_accepted, mail_of())])
    minute = milliseconds(now + timedelta(minutes=61)) // 60_000
    for kind in keys.TIMERS:
        services.table.put(keys.timer_note(kind))
        services.table.put(keys.timer_item(kind, minute, "unreadable"))
    with service.at(now + timedelta(minutes=61)), pytest.raises(ValueError, match="unpack"):
        recorded.handler("enqueue_due")({}, Invocation())
    for kind in keys.TIMERS:
        for later in range(30):
            services.table.delete(keys.timer_item(kind, minute + later, "unreadable"))
    due = [job for job in service.jobs() if json.loads(job["body"])["account"] == account]
    with service.at(now + timedelta(minutes=61)):
        for job in (due[0], due[-1]):
            service.consume("deliver_message", job["body"])
    morning = (now + timedelta(hours=48)).replace(hour=KEYS_HOUR)
    counts = {window_name(window, morning): 10**6 for window in WINDOWS}
    services.table.put(keys.quota(account) | to_item(counts))
    services.account_store.change(account, AccountChanges(record_days=90))
    old = message(account, new_id(now - timedelta(days=100)), keep=1, attempt=1)
    settled = old.with_events([Event(kind=EventKind.SENT, at=old.created_at)])
    origin = MessageOrigin(resend_of=old.message_id)
    copy = message(account, new_id(now), to=("desk@shop.example",), origin=origin)
    for item in (settled, copy):
        services.table.put(message_item(item))
        terms = {SearchEntry(item.message_id, term): True for term in terms_of(item)}
        services.search_index.change(account, terms)
    with service.at(morning):
        recorded.handler("sweep_messages")({}, Invocation())
        tasks = service.sweep_tasks()
        recorded.handler("sweep_account")({"Records": tasks}, Invocation(seconds_left=300))
    assert [one.subject for one in services.message_log.get_all(account, [copy.message_id])] == [
        ERASED_SUBJECT
    ]


def _break(service: Service, recorded: Calls) -> None:
    """Let an email to 20 recipients bounce, so that its key is stopped and the owner is told."""
    account = service.account(contact="owner@shop.example")
    to = [f"gone{number}@customer.example" for number in range(20)]
    sent = Api(service.key(account)).send(raw_html(to=to)).json["messageId"]
    bounced = {"bounceType": "Permanent", "bouncedRecipients": [{"emailAddress": a} for a in to]}
    assert service.report(event(account, sent, "Bounce", bounced)) == []
    changes = [{"dynamodb": {"NewImage": to_item(item)}} for item in service.messages(account)]
    with service.breaking():
        recorded.handler("aggregate_stats")({"Records": changes}, Invocation())
    stopped = wiring.services().account_store.get(account)
    assert stopped is not None
    assert [pause.level for pause in stopped.pauses] == ["stop"]


def _follow(service: Service, recorded: Calls) -> None:
    """Record SES events, and aggregate their changes from the stream, also of older mail."""
    account = service.account()
    sent = Api(service.key(account)).send(otp(tags={"order": "7"})).json["messageId"]
    service.deliver()
    reports = [event(account, sent, *each) for each in (DELIVERED, HARD)]
    with _failing("UpdateItem"):
        assert service.report(*reports) == ["0", "1"]
    assert service.report(*reports, receives=2) == []
    at = wiring.utc_now() - timedelta(days=40)
    old = message(account, new_id(at))
    unreadable: dict[str, Any] = {**message_item(old), "rev": {"S": "x"}}
    broken = [{"dynamodb": {"NewImage": unreadable, "SequenceNumber": "0"}}]
    recorded.handler("aggregate_stats")({"Records": broken}, Invocation())
    for hours, kind in ((0, EventKind.SENT), (2, EventKind.DELIVERED), (5, EventKind.COMPLAINED)):
        happened = Event(kind=kind, at=at + timedelta(hours=hours))
        old = replace(old.with_events([happened]), revision=old.revision + 1)
        wiring.services().table.put(message_item(old))
        items = boto3.client("dynamodb").scan(TableName="pillarbox")["Items"]
        records = [
            {"eventName": "INSERT", "dynamodb": {"NewImage": item, "SequenceNumber": str(number)}}
            for number, item in enumerate(items)
            if item["pk"]["S"].startswith("MSG#")
        ]
        response = recorded.handler("aggregate_stats")({"Records": records}, Invocation())
        assert response == {"batchItemFailures": []}
    _break(service, recorded)
    # A page of older mail that is not in the order of its creation.
    api = Api(service.key(account))
    page = api.raw("GET", "/emails", query={"sortBy": "updated_at", "status": "complained"})
    assert [item["messageId"] for item in page.json["items"]] == [str(old.message_id)]


def _pause_a_tenant(service: Service, recorded: Calls) -> None:
    """Let SES pause the tenant of an account, and the one that many share; the sweep ends it."""
    services, account = wiring.services(), service.account()
    tenant, api = f"pillarbox-{account}", Api(service.key(account))
    services.account_store.set_isolation(account, Isolation.STRICT, tenant)
    services.shared_tenant.store("pillarbox-shared")
    service.ses.domains.paused = {tenant}
    assert service.report(tenant_event(tenant), tenant_event("pillarbox-shared")) == []
    assert api.send(otp()).code == "sending_paused"
    service.ses.domains.paused = set()
    services.table.put(keys.account_list(account))
    recorded.handler("sweep_messages")({}, Invocation())
    for task in service.sweep_tasks():
        invocation = Invocation(seconds_left=300)
        recorded.handler("sweep_account")({"Records": [task]}, invocation)
    assert api.send(otp()).status == 200
    service.consume("deliver_message", _job_of(service, account)["body"])


def _sweep(service: Service, recorded: Calls) -> None:
    """Sweep mail past its deadline, spool objects that no job needs, and wrong statistics."""
    account = service.account()
    services = wiring.services()
    services.table.put(keys.account_list(account))
    DynamoWebhookEndpoints(services.credentials, services.table).add(endpoint(account), 1)
    boto3.client("sesv2").create_email_identity(EmailIdentity=domain_of(SENDER))
    Api(service.key(account)).send(_LARGE | {"tags": {"order": "7"}})
    now = wiring.utc_now()
    hour = Granularity.HOUR.start(milliseconds(now))
    # A list has entries of messages that do not exist: one beside another, one alone, and one by
    # which the marked hour has ended, in no hour that a pass checks and cleans.
    alone, later = now.replace(minute=(now.minute + 30) % 60), now + timedelta(hours=10)
    absent = (message(account, new_id(at)) for at in (now, alone, later))
    DynamoLedger(services.table).put_entries(account, map(index_entry, absent))
    for hours in (3, 30, 50):
        with service.at(now + timedelta(hours=hours)):
            DynamoRebuildMarks(services.table).put(RebuildMark(account, hour, now))
            recorded.handler("sweep_messages")({}, Invocation())
            tasks = service.sweep_tasks()
            for seconds in (300, 10):  # with and without time for a page
                recorded.handler("sweep_account")(
                    {"Records": tasks}, Invocation(seconds_left=seconds)
                )


def _send_again(service: Service) -> None:
    """Send kept content again: under a key, as a large mail, and with a failure."""
    api = Api(service.key(service.account(), scopes=SCOPES))
    message = send_waiting(api, "resend_message")
    path, once = f"/emails/{message}/resend", {"Idempotency-Key": str(uuid4())}
    for _ in range(2):
        assert api.raw("POST", path, None, once).status == 200
    with _failing("UpdateItem"):
        failed = {"Idempotency-Key": str(uuid4())}
        assert api.raw("POST", path, None, failed).status == 503
    services = wiring.services()
    kept = services.message_store.get(account_of_key(api.key or "") or "", UUID(message))
    assert kept
    services.kept_contents.put(KeptContent.of(kept), b"Subject: a\r\n\r\n" + b"a\r\n" * 100_000)
    assert api.raw("POST", path).status == 200


def _delete_account(service: Service) -> None:
    """Delete an account that has something of every kind, with an operator's key and a session."""
    services, account = wiring.services(), service.account()
    own = services.accounts.create("Operator", Plan.ENTERPRISE).account_id
    services.accounts.update(own, AccountChanges(operates=True))
    limits = KeyLimits(sources=_EVERYWHERE)
    key = services.api_keys.issue_live(own, "ci", Preset.CUSTOM, OPERATOR_SCOPES, limits=limits)
    service.session(account)
    services.account_store.set_isolation(account, Isolation.STRICT, f"pillarbox-{account}")
    url, types = "https://a.example/hook", ["email.bounced"]
    hook = services.webhooks.create(account, url, types, by="ada")
    kinds = (
        "ALERT",
        "DOM",
        "DOMAIN",
        "KEYS",
        "LOG",
        "QUOTA",
        "RCPT",
        "SUP",
        "TAG",
        "TPL",
        "TPLD",
        "TPLV",
    )
    items = [
        {"pk": f"{one}#{account}", "sk": "C#1", "digest": "0"}
        for one in (*kinds, "ALERT", "LATER", "USED")
    ]
    for table in (services.table, services.credentials):
        for item in items:
            if table is services.table or item["pk"].startswith("KEYS"):
                table.put(to_item(item))
    for partition in keys.of_webhook_endpoint(account, hook.endpoint.endpoint_id):
        services.table.put(
            partition | ({} if partition.get("sk", {}).get("S") else {"sk": {"S": "1"}})
        )
    services.table.put(keys.rebuild_mark(account, 1))
    sent = message(account, new_id(wiring.utc_now() - timedelta(hours=1)))
    due = Schedule(due_at=wiring.utc_now() + timedelta(hours=1), life=timedelta(hours=1))
    services.table.put(records.message_item(replace(sent, schedule=due)))
    services.kept_contents.put(KeptContent.of(replace(sent, keep=1)), b"kept")
    DynamoLedger(services.table).put_entries(account, [index_entry(sent)])
    _delete(service, Api(key.text), account)


def _delete(service: Service, operator: Api, account: str) -> None:
    """Delete an account that is suspended, and one that does not exist."""
    wiring.services().accounts.suspend(account, "gone")
    path = f"/operator/accounts/{account}"
    with service.at(wiring.utc_now() + timedelta(minutes=3)):
        assert Api(session=service.operator()).raw("DELETE", "/operator/accounts/x").status == 404
        deleted = operator.raw("DELETE", path, query={"dropPending": "true"})
        assert deleted.status == 200, deleted.text


def _receive(service: Service, recorded: Calls) -> None:
    """Receive an answer and too many mails, post and read the answer, resume, delete it all."""
    services, now = wiring.services(), wiring.utc_now()
    path = WebhookPath(service, recorded.handler)
    account = path.account
    settings = AgentSettings(recipients=("*",), confirmation=Confirmation.OFF)
    api = Api(service.key(account, scopes=SCOPES, agent=settings, sources=_EVERYWHERE))
    domain = service.domain(account, f"{account}.example")
    for names in ([], ["support"]):  # the second time the rule is there
        changes = json.dumps({"receive": "in", "receiveNames": names})
        assert api.raw("PATCH", f"/domains/{domain}", changes).status == 200
    old = {"made": to_text(now - timedelta(days=181)), "keys": ["00" * 32]}
    for key in (None, old):  # the worker makes the first key of tokens, and replaces an old one
        if key:
            services.credentials.put(keys.reply_keys() | to_item(key))
        sent = api.send(raw_html(replies=True)).json["messageId"]
        (job,) = (one for one in service.jobs_of(api) if sent in one["body"])
        service.consume("deliver_message", job["body"])
    address = message_from_bytes(service.ses.mails[-1]["raw"])["Reply-To"]
    for number, most in enumerate((1, 0)):
        stored = store(answer(address), f"received/in.{domain}/{number}")
        found = {"eventName": "ObjectCreated:Put", "s3": {"object": {"key": stored}}}
        with mock.patch("pillarbox.application.receiving.MAX_OF_ACCOUNT", most):
            assert service.consume("receive_email", json.dumps({"Records": [found]})) == []
    (mail,) = services.received_mails.all(account)
    item = to_item(services.table.get(keys.received(account, mail.received_id)) or {})
    image = {"Keys": {name: item[name] for name in ("pk", "sk")}, "NewImage": item}
    inserted = {"Records": [{"eventName": "INSERT", "dynamodb": image}]}
    recorded.handler("announce_events")(inserted, Invocation())
    assert path.work() == []
    assert "email.received" in str(path.posted)
    answers = {"inReplyTo": sent}
    assert api.raw("GET", "/received", query=answers).json["items"]
    for arguments in ({}, answers):
        assert McpClient(api).data("list_received", arguments)["items"]
    McpClient(api).data("get_received", {"receivedId": str(mail.received_id)})
    mapping = services.settings.received_mapping
    boto3.client("lambda").update_event_source_mapping(UUID=mapping, Enabled=False)
    later = now + timedelta(days=2)
    task = SweepTask(account_id=account, pass_at=later, step=SweepStep.DOMAINS)
    rows = [queue_record(write_task(task))]
    with service.at(later):
        recorded.handler("sweep_account")({"Records": rows}, Invocation(seconds_left=300))
    name = f"in.{domain}"
    resumed = ReceivingDomain(name, account, frozenset({"support"}), stopped_on=None)
    assert services.receiving_domains.get(name) == resumed
    _delete(service, Api(session=service.operator()), account)


def _provide(service: Service, recorded: Calls) -> None:
    """Let a stack create a key, look for it again, and delete it."""
    services = wiring.services()
    key = service.key(service.account(), scopes=SCOPES)
    boto3.client("secretsmanager").create_secret(Name="provisioning", SecretString=key)
    api = DeployedApi(
        services.service_address.read, lambda: secret_store.read_secret("provisioning")
    )
    answers: list[dict[str, Any]] = []
    properties = {"Name": "web", "Preset": "send"}
    event = {
        **dict.fromkeys(("StackId", "RequestId", "LogicalResourceId", "ResponseURL"), "it"),
        "ResourceType": "Custom::PillarboxKey",
        "ResourceProperties": properties,
    }
    with (
        mock.patch.dict(vars(services), management_api=api),
        mock.patch.dict(vars(services), provisioned_secrets=ProvisionedSecrets("stack/")),
        mock.patch.object(HttpApiProbe, "request", InProcessProbe().request),
        mock.patch.object(
            management_api,
            "put_response",
            lambda _, body: answers.append(json.loads(body)),
        ),
    ):
        for request in ("Create", "Create", "Delete"):
            sent = event | {"RequestType": request}
            if answers:
                sent["PhysicalResourceId"] = answers[-1]["PhysicalResourceId"]
            recorded.handler("provide_resources")(sent, Invocation(seconds_left=900))
    assert [one["Status"] for one in answers] == ["SUCCESS"] * 3, answers


def _granted(function: str) -> set[str]:
    """Return the rights of a function's role, without those that its code does not use itself."""
    events = _RESOURCES[_FUNCTIONS[function]]["Properties"].get("Events", {})
    sources = {
        name for source in events.values() for name in iam.named(source["Properties"].get("Queue"))
    }
    found: set[str] = set()
    statements = iam.statements(f"{_FUNCTIONS[function]}Role")
    for statement in (one for one in statements if one.effect == "Allow"):
        for right in rights_granted(statement):
            action, resource, *_ = right.split()
            excluded = _UNCALLED.get(function, set())
            is_queue = _RESOURCES.get(resource, {}).get("Type") == "AWS::SQS::Queue"
            if not is_queue or resource in sources:
                excluded = excluded | _LAMBDAS_OWN
            if not {action, right} & excluded:
                found.add(right)
    return found


@for_each("function", sorted(_FUNCTIONS))
def test_a_role_allows_what_its_function_calls(
    function: str, calls: Mapping[str, set[AwsRequest]]
) -> None:
    granted, used = _granted(function), rights_used(calls[function])
    assert (used - granted, granted - used) == (set(), set())


@for_each("function", sorted(_FUNCTIONS))
def test_iam_allows_each_recorded_call(function: str, calls: Mapping[str, set[AwsRequest]]) -> None:
    """Each call passes as a whole: one statement allows all items that it reads or writes."""
    policy = iam.statements(f"{_FUNCTIONS[function]}Role")
    denied = [request for request in calls[function] if not iam.is_allowed(policy, request)]
    assert calls[function]
    assert denied == []


def test_the_stand_in_of_ses_has_a_row_for_each_recorded_call(
    calls: Mapping[str, set[AwsRequest]],
) -> None:
    """What functions call is in the table of what SES answers, with each member of the answer."""
    table = yaml.load((template.ROOT / "local/ses/conformity.yaml").read_text(), yaml.CSafeLoader)
    made = {request.action for requests in calls.values() for request in requests}
    of_ses = {action.partition(":")[2] for action in made if action.startswith("ses:")}
    rows = table["operations"].keys() | table["receipts"].keys()
    assert of_ses - {"SendRawEmail"} <= rows  # a right, and no call
    assert "SendEmail" in of_ses
