"""A request for each error of the API; its answer is the example in docs/openapi.json."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final
from unittest import mock
from uuid import UUID, uuid4

from botocore.exceptions import EndpointConnectionError

from openapi.errors import ERRORS
from pillarbox import wiring
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.application.templates.editing import NewTemplate
from pillarbox.domain.accounts.account import Plan, Suspension
from pillarbox.domain.accounts.key import SCOPES, AgentSettings, Confirmation, Preset, digest_of_key
from pillarbox.domain.accounts.pause import Pause, PauseCause, PauseLevel, PauseScope
from pillarbox.domain.accounts.quota import Limits
from pillarbox.wiring import services
from tests import edge_function
from tests.contract.bodies import attachment, otp, raw_html
from tests.contract.canaries import failing
from tests.contract.client import Api
from tests.contract.passkeys import WRONG_ANSWER, authenticator
from tests.contract.passkeys import add as add_passkey
from tests.contract.service import Service
from tests.contract.sign_in import Browser, signed_in
from tests.contract.sign_up import WRONG_PROOF

MAX_KEYS = 100
MAX_MEMBERS = 100
MAX_TEMPLATES = 200
MAX_BYTES_EACH = 5 * 1024 * 1024
FRESH_TIME = timedelta(minutes=15)
MAX_PASSKEYS = 10

_LIMITS: Final = Limits(per_minute=60, per_day=300, per_month=9_000)
_UNKNOWN: Final = str(uuid4())


def _everything(service: Service) -> Api:
    """Return a client whose key has every scope."""
    return Api(service.key(service.account(), Preset.CUSTOM, scopes=SCOPES))


def _suppressed(service: Service) -> Any:
    account = service.account()
    service.suppress(account, "bob@customer.example")
    return Api(service.key(account)).send(otp(to="bob@customer.example")).json


def _suspended(service: Service) -> Any:
    account = service.account()
    key = service.key(account)
    DynamoAccounts(services().table).suspend(account, Suspension(wiring.utc_now(), "bounces"))
    return Api(key).send(otp()).json


def _paused(service: Service) -> Any:
    key_text, accounts = service.key(service.account()), DynamoAccounts(services().table)
    principal = services().authentication.authenticate(key_text)
    until = wiring.utc_now() + timedelta(hours=24)
    pause = Pause(
        scope=PauseScope.KEY,
        id=principal.key.key_id,
        level=PauseLevel.STOP,
        cause=PauseCause.BOUNCES,
        since=wiring.utc_now(),
        until=until,
    )
    accounts.set_pauses(principal.account, [pause])
    answer = Api(key_text).send(raw_html()).json
    error, example = answer["error"], ERRORS["sending_paused"]
    assert error["details"]["until"] == until.isoformat(timespec="milliseconds")
    details: Any = example.details
    error["details"]["until"] = details["until"]
    error["message"] = error["message"].replace(f"{until:%Y-%m-%d %H:%M}", "2026-05-02 09:30")
    return answer


def _agent(service: Service, *, confirmation: Confirmation) -> Api:
    settings = AgentSettings(recipients=("ada@customer.example",), confirmation=confirmation)
    return Api(service.key(service.account(), agent=settings))


def _mismatch(service: Service) -> Any:
    api = service.live()
    api.send(otp(), idempotency_key="order-1")
    return api.send(otp(subject="Another"), idempotency_key="order-1").json


def _draft_changed(service: Service) -> Any:
    api = Api(session=service.session(service.account()))
    draft = {"name": "Receipt", "category": "billing", "html": "<p>Hello {{ name }}</p>"}
    made = api.raw("POST", "/templates", json.dumps(draft)).json
    content = {name: made[name] for name in ("name", "subject", "category", "kind", "source")}
    body, headers = json.dumps(content), {"If-Match": '"0"'}
    answer = api.raw("PUT", f"/templates/{made['id']}/draft", body, headers).json
    shown = answer["error"]["details"]["draft"]
    assert (shown["id"], shown["updatedAt"]) == (made["id"], made["updatedAt"])
    example: Any = ERRORS["draft_changed"].details
    shown |= {name: example["draft"][name] for name in ("id", "updatedAt")}
    return answer


def _already_made(service: Service) -> Any:
    api = _everything(service)
    body = json.dumps({"name": "ci", "preset": "send"})
    key_id = api.raw("POST", "/keys", body, {"If-None-Match": "*"}).json["id"]
    answer = api.raw("POST", "/keys", body, {"If-None-Match": "*"}).json
    assert answer["error"]["details"] == {"ids": [key_id]}
    answer["error"]["details"] = ERRORS["already_exists"].details
    return answer


def _version(service: Service, number: int) -> Any:
    account = service.account()
    path = f"/templates/{service.template(account, '<p>x</p>')}/versions/{number}"
    return Api(session=service.session(account)).raw("GET", path).json


def _in_flight(service: Service) -> Any:
    account = service.account()
    api = Api(service.key(account))
    api.send(otp(), idempotency_key="order-1")
    (message,) = service.messages(account)
    wiring.services().table.delete(keys.message(account, UUID(message["sk"])))
    return api.send(otp(), idempotency_key="order-1").json


def _not_uploaded(service: Service) -> Any:
    example: Any = ERRORS["attachment_not_found"].details
    attachments = [{"attachmentId": example["attachment_id"]}]
    return service.live().send(raw_html(attachments=attachments)).json


def _not_resendable(service: Service) -> Any:
    api = service.live()
    sent = api.send(otp()).json["messageId"]
    return api.raw("POST", f"/emails/{sent}/resend").json


def _not_kept(service: Service) -> Any:
    api = service.live()
    sent = api.send(raw_html()).json["messageId"]
    return api.raw("POST", f"/emails/{sent}/resend").json


def _not_waiting(service: Service) -> Any:
    api = service.live()
    sent = api.send(otp()).json["messageId"]
    return api.raw("POST", f"/emails/{sent}/cancel").json


def _in_use(service: Service) -> Any:
    account = service.account()
    template = service.template(account, "Hello")
    wiring.services().template_authoring.reference(account, UUID(template), "campaign-1")
    api = Api(service.key(account, Preset.CUSTOM, scopes=SCOPES))
    return api.raw("DELETE", f"/templates/{template}").json


def _no_delivery(service: Service) -> Any:
    account = service.account()
    api = Api(service.key(account, Preset.CUSTOM, scopes=SCOPES))
    deliveries = f"/webhooks/{service.webhook(account)}/deliveries"
    return api.raw("POST", f"{deliveries}/1767268802317-{_UNKNOWN}/replay").json


def _too_many_webhooks(service: Service) -> Any:
    api = _everything(service)
    body = json.dumps({"url": "https://shop.example/hooks", "types": ["*"]})
    return [api.raw("POST", "/webhooks", body) for _ in range(11)][-1].json


def _member(service: Service, account: str) -> Api:
    return Api(session=service.session(account))


def _domain_in_use(service: Service) -> Any:
    account = service.account()
    service.domain(account, "shop.example")
    service.sender(account, "hello@shop.example")
    return _member(service, account).raw("DELETE", "/domains/shop.example").json


def _too_many_domains(service: Service) -> Any:
    account = service.account()
    for number in range(20):
        service.domain(account, f"shop{number}.example")
    body = json.dumps({"domain": "shop.example"})
    return _member(service, account).raw("POST", "/domains", body).json


def _too_many_keys(service: Service) -> Any:
    account, keys = service.account(), services().api_keys
    first = keys.issue_live(account, "web", Preset.SEND).record
    for number in range(1, MAX_KEYS):
        digest = digest_of_key(f"{account}{number}")
        key_id = f"key_{account}{number:08}"
        keys.records.add(replace(first, key_id=key_id, digest=digest))
    body = json.dumps({"name": "web", "preset": "send"})
    return _member(service, account).raw("POST", "/keys", body).json


def _too_many_passkeys(service: Service) -> Any:
    session = service.session(service.account(), address=f"many-{uuid4().hex}@shop.example")
    for _ in range(MAX_PASSKEYS):
        assert add_passkey(session, authenticator()).status == 201
    service.code_events.clear()
    return add_passkey(session, authenticator()).json


def _old_session(service: Service) -> Any:
    browser = signed_in(service, "old@shop.example")
    with service.at(wiring.utc_now() + FRESH_TIME):
        return add_passkey(browser.token().json["token"], authenticator()).json


def _too_many_members(service: Service) -> Any:
    account = service.account()
    api = _member(service, account)
    (owner,) = services().member_store.of_account(account)
    for number in range(1, MAX_MEMBERS):
        services().team.members.put(replace(owner, user_id=f"{number:012}"))
    body = json.dumps({"email": "bob@shop.example", "role": "viewer"})
    return api.raw("POST", "/members", body).json


def _too_many_templates(service: Service) -> Any:
    account, editing = service.account(), services().template_editing
    first = editing.create(account, NewTemplate(name="A", category="b"), "ada").draft
    for _ in range(1, MAX_TEMPLATES):
        editing.templates.drafts.put(replace(first, template_id=str(uuid4())), replaces=0)
    body = json.dumps({"name": "Receipt", "category": "billing"})
    refused = _member(service, account).raw("POST", "/templates", body).json
    path = f"/templates/{first.template_id}/duplicate"
    assert _member(service, account).raw("POST", path).json == refused
    return refused


def _over(window: str, count: int) -> Callable[[Service], Any]:
    def send(service: Service) -> Any:
        api = service.live(limits=_LIMITS)
        service.spend(api, **{window: count})
        return api.send(otp()).json

    return send


def _internal(service: Service) -> Any:
    api = service.live()
    with failing("GetItem", "BatchGetItem"):
        return api.send(otp()).json


def _unavailable(service: Service) -> Any:
    def fail(**_: object) -> None:
        raise EndpointConnectionError(endpoint_url="https://aws.invalid")

    api, events = service.live(), services().table.client.meta.events
    events.register_first("before-call.dynamodb.BatchGetItem", fail)
    try:
        with mock.patch("time.sleep"):
            return api.send(otp()).json
    finally:
        events.unregister("before-call.dynamodb.BatchGetItem", fail)


def _edge(**request: Any) -> Callable[[Service], Any]:
    return lambda _: json.loads(edge_function.route(**request)["body"])


def _ask(
    service: Service, method: str, path: str, body: object = None, plan: Plan = Plan.STANDARD
) -> Any:
    """Send a request of an account's owner."""
    session = service.session(service.account(plan))
    text = None if body is None else json.dumps(body)
    return Api(session=session).raw(method, path, text).json


def _without_widget() -> Any:
    with mock.patch.dict(vars(services())):
        vars(services())["preview_keys"] = replace(services().preview_keys, is_open=False)
        body = json.dumps({"email": "ada@shop.example"})
        return Api().raw("POST", "/preview-keys/challenges", body).json


def _last_owner(service: Service) -> Any:
    api = Api(session=service.session(service.account()))
    (owner,) = api.raw("GET", "/members").json["items"]
    return api.raw("DELETE", f"/members/{owner['id']}").json


#: By code: a request that is refused with it, as a function that returns the answer's JSON.
ANSWERS: Final[dict[str, Callable[[Service], Any]]] = {
    "missing_field": lambda s: s.live().send({"to": "ada@customer.example"}).json,
    "multiple_modes": lambda s: s.live().send(raw_html(starterTemplate="otp")).json,
    "invalid_recipient": lambda s: s.live().send(otp(to="ada@gone.invalid")).json,
    "recipient_suppressed": _suppressed,
    "recipient_limit_exceeded": lambda s: (
        s.live().send(otp(to=[f"a{n}@customer.example" for n in range(51)])).json
    ),
    "attachment_type_not_allowed": lambda s: (
        s.live()
        .send(
            raw_html(
                attachments=[
                    attachment(filename="setup.exe", contentType="application/octet-stream")
                ]
            )
        )
        .json
    ),
    "attachment_too_large": lambda s: (
        s.live().send(raw_html(attachments=[attachment(bytes(MAX_BYTES_EACH + 1))])).json
    ),
    "too_many_attachments": lambda s: s.live().send(raw_html(attachments=[attachment()] * 11)).json,
    "batch_limit_exceeded": lambda s: (
        s.live().raw("POST", "/emails/batch", json.dumps({"messages": [otp()] * 101})).json
    ),
    "invalid_session": lambda _: Api(session="pbs_x").raw("GET", "/session").json,
    "invalid_code": lambda _: Browser().sign_in("x", "482913").json,
    "invalid_passkey": lambda _: Browser().post("/passkeys", WRONG_ANSWER).json,
    "passkey_not_found": lambda s: _ask(s, "DELETE", "/passkeys/0"),
    "passkey_limit_exceeded": _too_many_passkeys,
    "sign_in_required": _old_session,
    "session_required": lambda s: Api(s.live().key).raw("GET", "/session").json,
    "cross_site_request": lambda _: Browser().post("/token", {}, Origin="null").json,
    "SCOPE_NOT_ALLOWED_FOR_TIER": lambda s: _ask(
        s, "POST", "/keys", {"name": "web", "preset": "analytics"}, plan=Plan.FREE
    ),
    "key_not_found": lambda s: _ask(s, "DELETE", f"/keys/key_{'0' * 20}"),
    "suppression_not_found": lambda s: _ask(s, "DELETE", "/suppressions/ada@customer.example"),
    "account_not_found": lambda s: (
        Api(session=s.operator()).raw("GET", f"/operator/accounts/{'0' * 12}").json
    ),
    "member_not_found": lambda s: _ask(s, "DELETE", "/members/000000000000"),
    "member_exists": lambda s: _ask(
        s, "POST", "/members", {"email": "ada@shop.example", "role": "viewer"}
    ),
    "last_owner": _last_owner,
    "preview_keys_closed": lambda _: _without_widget(),
    "sign_up_closed": lambda s: _ask(s, "POST", "/sign-up", {"name": "Acme", "proof": WRONG_PROOF}),
    "session_not_found": lambda s: (
        Api(session=s.session(s.account())).raw("DELETE", "/session/4kq7x2m9r5tb").json
    ),
    "missing_api_key": lambda _: (
        Api().raw("POST", "/emails", "{}", {"Authorization": "Bearer bx_live_x"}).json
    ),
    "invalid_api_key": lambda _: Api("bx_live_x").send(otp()).json,
    "scope_required": lambda s: Api(s.key(s.account(), Preset.ANALYTICS)).send(otp()).json,
    "no_verified_sender": lambda s: s.live().send(otp(**{"from": "news@acme.example"})).json,
    "upgrade_required": lambda s: s.preview().send(raw_html()).json,
    "recipient_not_allowed": lambda s: (
        _agent(s, confirmation=Confirmation.OFF).send(otp(to="bob@customer.example")).json
    ),
    "confirmation_required": lambda s: (
        _agent(s, confirmation=Confirmation.ASK).send(otp(to="ada@customer.example")).json
    ),
    "account_suspended": _suspended,
    "sending_paused": _paused,
    "client_blocked": _edge(length=2, agent=None),
    "template_not_found": lambda s: s.live().send(otp(starterTemplate="magic-link")).json,
    "message_not_found": lambda s: s.live().get(_UNKNOWN).json,
    "route_not_found": lambda s: s.live().raw("GET", "/nothing").json,
    "method_not_allowed": lambda s: s.live().raw("PUT", f"/templates/{_UNKNOWN}", "{}").json,
    "webhook_not_found": lambda s: _everything(s).raw("GET", f"/webhooks/{_UNKNOWN}").json,
    "delivery_not_found": _no_delivery,
    "webhook_limit_exceeded": _too_many_webhooks,
    "domain_not_found": lambda s: _member(s, s.account()).raw("GET", "/domains/shop.example").json,
    "domain_in_use": _domain_in_use,
    "domain_limit_exceeded": _too_many_domains,
    "key_limit_exceeded": _too_many_keys,
    "member_limit_exceeded": _too_many_members,
    "template_limit_exceeded": _too_many_templates,
    "sender_not_found": lambda s: (
        _member(s, s.account()).raw("DELETE", "/senders/news@acme.example").json
    ),
    "idempotency_key_mismatch": _mismatch,
    "idempotency_in_flight": _in_flight,
    "attachment_not_found": _not_uploaded,
    "not_cancelable": _not_waiting,
    "not_resendable": _not_resendable,
    "content_not_found": _not_kept,
    "received_not_found": lambda s: _everything(s).raw("GET", f"/received/{_UNKNOWN}").json,
    "template_in_use": _in_use,
    "draft_changed": _draft_changed,
    "already_exists": _already_made,
    "version_not_found": lambda s: _version(s, 7),
    "request_too_large": _edge(length=edge_function.FRONT + 1, uri="/api/v1/emails/batch"),
    "validation_failed": lambda s: s.live().send(raw_html(subject=..., replyto="x")).json,
    "rate_limit_exceeded": _over("minute", 60),
    "daily_limit_exceeded": _over("day", 300),
    "monthly_limit_exceeded": _over("month", 9_000),
    "internal_error": _internal,
    "service_unavailable": _unavailable,
}
