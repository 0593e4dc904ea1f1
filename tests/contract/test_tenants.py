"""Promise 8: each operation, with each kind of key, for ids that are own, foreign or unknown."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import uuid4

import pytest

from pillarbox.domain.accounts.key import SCOPES as ALL_SCOPES
from pillarbox.domain.accounts.key import Preset
from tests.contract.bodies import otp
from tests.contract.client import Api, ApiResponse
from tests.contract.operations import (
    CHANGES,
    OF_ALL,
    OF_AN_ACCOUNT,
    OPERATIONS,
    Operation,
    send_waiting,
)
from tests.contract.service import Service

#: The permission that each method of each collection requires (contract 4 and 5, notes).
REQUIRED: dict[str, dict[str, str]] = {
    "emails": {"GET": "emails:read", "POST": "emails:send", "PATCH": "emails:send"},
    "starter-templates": {},
    "templates": {"GET": "templates:read", "DELETE": "templates:write"},
    "webhooks": {
        "GET": "webhooks:read",
        "POST": "webhooks:write",
        "PATCH": "webhooks:write",
        "DELETE": "webhooks:write",
    },
}
#: The permissions of each kind of key.
GRANTED: dict[str, set[str]] = {
    "preview": {"emails:send", "emails:read"},
    "send": {"emails:send", "emails:read"},
    "marketing": {"emails:send", "emails:read", "templates:read", "templates:write"},
    "analytics": {"emails:read", "templates:read"},
    "custom": set(),
    "webhooks": {"webhooks:read", "webhooks:write"},
    "content": {"emails:content"},
    "received": {"emails:send", "received:read"},
}
#: Kinds of keys that are none of a preset.
SCOPES = {kind: frozenset(GRANTED[kind]) for kind in ("webhooks", "content", "received")}
#: Contract 4.2: a preview key has the permission to send, but may not send batches.
UPGRADE = {("send_batch", "preview"), ("resend_message", "preview")}
#: Kinds of invalid keys, and the error of each.
REFUSED = {
    "none": "missing_api_key",
    "empty": "missing_api_key",
    "garbage": "invalid_api_key",
    "another checksum": "invalid_api_key",
    "revoked": "invalid_api_key",
    "revoked preview": "invalid_api_key",
}


def required_permission(operation: Operation) -> str | None:
    """Return the permission of the contract; for a route beyond it, that of the document."""
    if operation.path.endswith("/kept"):
        return "emails:content"
    collection = operation.path.split("/")[2]
    if collection not in REQUIRED:
        return operation.permission
    return REQUIRED[collection].get(operation.method)


WITH_IDS = [one for one in OPERATIONS if set(OF_AN_ACCOUNT) & set(one.parameters)]


@dataclass(frozen=True, slots=True)
class Tenant:
    """An account with one message; templates are created on demand."""

    service: Service
    account: str
    message_id: str

    def ids(self, names: Iterable[str] = OF_AN_ACCOUNT, operation: str = "") -> dict[str, str]:
        """Return values for those names that are in `OF_AN_ACCOUNT`; all but the message are new.

        It is new too for an operation that changes one.

        Each costs calls, so a test of one operation asks for the names in its path.
        """
        ids: dict[str, str] = {}
        for name in names:
            match name:
                case "message_id" if operation in CHANGES:
                    ids[name] = send_waiting(Api(self.service.key(self.account)), operation)
                case "message_id" if operation == "get_held_content":
                    ids[name] = self.service.send_for_owner(
                        self.account, otp(to="w@customer.example")
                    )
                case "message_id":
                    ids[name] = self.message_id
                case "id":
                    ids[name] = self.service.template(self.account, "<p>Secret of the tenant</p>")
                case "endpoint_id":
                    ids[name] = self.service.webhook(self.account)
                case "delivery_id":
                    ids[name] = self.service.delivery(self.account, ids["endpoint_id"])
                case "received_id":
                    ids[name] = str(
                        self.service.receive(
                            self.account, subject="Secret of the tenant"
                        ).received_id
                    )
        return ids


@pytest.fixture(scope="module")
def tenant(service: Service) -> Tenant:
    account = service.account()
    sent = Api(service.key(account)).send(otp())
    return Tenant(service, account, sent.json["messageId"])


@pytest.fixture(scope="module")
def preview_tenant(service: Service) -> tuple[Api, Tenant]:
    api = service.preview()
    account = re.fullmatch(r"bx_preview_(.{12}).*", api.key or "")
    assert account
    return api, Tenant(service, account[1], api.send(otp()).json["messageId"])


def test_the_tables_agree_with_the_document() -> None:
    stated = {one.id: one.permission for one in OPERATIONS}
    assert stated == {one.id: required_permission(one) for one in OPERATIONS}
    parameters = {name for one in OPERATIONS for name in one.parameters}
    assert parameters | {"version"} == {*OF_AN_ACCOUNT, *OF_ALL}
    assert set(GRANTED) == {"preview", *Preset, *SCOPES}


@pytest.mark.parametrize("kind", GRANTED)
def test_a_key_may_do_what_its_permissions_allow(
    tenant: Tenant, preview_tenant: tuple[Api, Tenant], kind: str, subtests: pytest.Subtests
) -> None:
    """5: with the permission a request succeeds; without it, 403 scope_required names it."""
    if kind == "preview":
        api, owner = preview_tenant
    else:
        api, owner = Api(key_of(tenant.service, tenant.account, kind)), tenant
    known = owner.ids()
    for operation in OPERATIONS:
        with subtests.test(operation.id):
            needed = [required_permission(operation)]
            if operation.id == "answer_received":  # an answer shows what it answers
                needed.append("received:read")
            required = next((one for one in needed if one and one not in GRANTED[kind]), None)
            change = "" if kind == "preview" else operation.id  # its messages never wait
            ids = known if required else owner.ids(operation.parameters, change)
            response = operation.request(api, ids)
            if required:
                assert (response.status, response.code) == (403, "scope_required")
                assert response.error["details"] == {"required_permission": required}
            elif (operation.id, kind) in UPGRADE:
                assert (response.status, response.code) == (403, "upgrade_required")
            elif kind == "preview" and operation.id in CHANGES:
                assert (response.status, response.code) == (409, "not_cancelable")
            else:
                assert str(response.status) == min(operation.described["responses"])


@pytest.mark.parametrize("kind", REFUSED)
def test_an_invalid_key_may_do_nothing(
    tenant: Tenant, kind: str, subtests: pytest.Subtests
) -> None:
    """5.3: an invalid key gets the same 401 on every route, for existing and unknown ids."""
    service = tenant.service
    valid = service.key(tenant.account, Preset.MARKETING)
    key: str | None = valid
    match kind:
        case "none":
            key = None
        case "empty":
            key = ""
        case "garbage":
            key = "bx_live_nonsense"
        case "another checksum":
            key = valid[:-1] + ("0" if valid[-1] != "0" else "1")
        case "revoked":
            service.revoke(valid)
        case "revoked preview":
            key = service.preview().key
            service.revoke(key or "")
    ids = tenant.ids()
    for operation in OPERATIONS:
        with subtests.test(operation.id):
            response = operation.request(Api(key), ids)
            assert (response.status, response.code) == (401, REFUSED[kind])
            assert response.text == operation.request(Api(key), unknown_ids()).text


def test_an_id_of_another_account_does_not_exist(
    service: Service, tenant: Tenant, subtests: pytest.Subtests
) -> None:
    """8: an id of another account gets the same bytes and headers as an unknown id."""
    strangers = {kind: stranger_with(service, kind) for kind in GRANTED}
    owner = Api(service.key(tenant.account, Preset.CUSTOM, scopes=ALL_SCOPES))
    for operation in WITH_IDS:
        ids = tenant.ids(operation.parameters, operation.id)
        for kind, stranger in strangers.items():
            with subtests.test(operation.id, kind=kind):
                foreign = operation.request(stranger, ids)
                assert foreign.status in {403, 404}
                missing = operation.request(stranger, unknown_ids())
                assert without_request_id(foreign) == without_request_id(missing)
                assert "Secret" not in foreign.text
        with subtests.test(operation.id):
            status = operation.request(owner, ids).status
            assert str(status) == min(operation.described["responses"])


@pytest.mark.parametrize("kind", GRANTED)
def test_lists_and_figures_show_only_the_own_account(
    service: Service, tenant: Tenant, kind: str, subtests: pytest.Subtests
) -> None:
    """8: operations without an id show nothing of another account."""
    stranger, ids = stranger_with(service, kind), tenant.ids()
    secrets = (*ids.values(), tenant.account, "Secret")
    for operation in OPERATIONS:
        if operation in WITH_IDS:
            continue
        with subtests.test(operation.id):
            text = operation.request(stranger, ids).text
            assert not [secret for secret in secrets if secret in text]


@pytest.mark.parametrize("batch", [False, True])
def test_a_template_of_another_account_cannot_be_sent(
    service: Service, tenant: Tenant, *, batch: bool
) -> None:
    """8: another account's templateId in a body is 404 template_not_found, like an unknown one."""
    stranger = service.live()
    responses = []
    for template_id in (tenant.ids(["id"])["id"], str(uuid4())):
        mail = otp(starterTemplate=..., templateId=template_id)
        if batch:
            body = {"messages": [mail]}
            (item,) = stranger.raw("POST", "/emails/batch", body).json["results"]
            responses.append(json.dumps(item))
            assert item["error"]["code"] == "template_not_found"
        else:
            response = stranger.send(mail)
            responses.append(response.text)
            assert (response.status, response.code) == (404, "template_not_found")
    assert responses[0] == responses[1]


def stranger_with(service: Service, kind: str) -> Api:
    """Return a client with this kind of key of a new account."""
    if kind == "preview":
        return service.preview()
    return Api(key_of(service, service.account(), kind))


def key_of(service: Service, account: str, kind: str) -> str:
    """Return a live key of a kind: a preset, or chosen scopes."""
    if kind in SCOPES:
        return service.key(account, Preset.CUSTOM, scopes=SCOPES[kind])
    return service.key(account, Preset(kind))


def unknown_ids() -> dict[str, str]:
    return {name: str(uuid4()) for name in OF_AN_ACCOUNT} | {
        "delivery_id": f"1767268802317-{uuid4()}"
    }


def without_request_id(response: ApiResponse) -> tuple[int, str, dict[str, str]]:
    """Return the status, text and headers of a response without its request id."""
    headers = {name: value for name, value in response.headers.items() if name != "x-request-id"}
    return response.status, response.text, headers
