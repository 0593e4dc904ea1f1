"""Promise 8: each route of docs/openapi.json by each kind of key, with own, absent, foreign ids."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest

from local.template import ROOT
from pillarbox.domain.key import Preset
from tests.contract.bodies import otp
from tests.contract.client import Api, Response
from tests.contract.service import Service

_DOCUMENT = json.loads((ROOT / "docs/openapi.json").read_text(encoding="utf-8"))

#: What each operation needs (contract 4 and 5, decisions); a new one has to be entered here.
NEEDED: dict[str, str | None] = {
    "send_email": "emails:send",
    "send_batch": "emails:send",
    "list_messages": "emails:read",
    "get_message": "emails:read",
    "get_analytics": "emails:read",
    "list_starter_templates": None,
    "preview_starter_template": None,
    "list_templates": "templates:read",
    "get_template": "templates:read",
    "delete_template": "templates:write",
}
#: What each kind of key has of that.
GRANTED: dict[str, set[str]] = {
    "preview": {"emails:send", "emails:read"},
    "send": {"emails:send", "emails:read"},
    "marketing": {"emails:send", "emails:read", "templates:read", "templates:write"},
    "analytics": {"emails:read", "templates:read"},
    "custom": set(),
}
#: Contract 4.2: a preview key has the permission to send, yet no batches.
UPGRADE = {("send_batch", "preview")}
#: Kinds of keys that are none, and what they get.
REFUSED = {
    "none": "missing_api_key",
    "empty": "missing_api_key",
    "garbage": "invalid_api_key",
    "another checksum": "invalid_api_key",
    "revoked": "invalid_api_key",
    "revoked preview": "invalid_api_key",
}
#: Parameters of paths that name something of an account; others name what all have.
OF_AN_ACCOUNT = {"message_id", "id"}
OF_ALL = {"slug": "otp"}


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the document, ready to be requested."""

    id: str
    method: str
    path: str
    described: Mapping[str, Any]

    @property
    def parameters(self) -> list[str]:
        return re.findall(r"\{(\w+)\}", self.path)

    def ask(self, api: Api, ids: Mapping[str, str]) -> Response:
        """Request it: path parameters as given, the rest as the document's examples have it."""
        path = self.path.removeprefix("/v1").format_map(OF_ALL | dict(ids))
        content = self.described.get("requestBody", {}).get("content")
        body = None
        if content:
            examples = content["application/json"]["examples"]
            body = json.dumps(next(iter(examples.values()))["value"])
        query: dict[str, str | list[str]] = {
            parameter["name"]: {"from": "2026-01-01", "to": "2026-02-01"}[parameter["name"]]
            for parameter in self.described.get("parameters", ())
            if parameter["in"] == "query" and parameter["required"]
        }
        return api.raw(self.method, path, body, query=query)


OPERATIONS = [
    Operation(described["operationId"], method.upper(), path, described)
    for path, methods in _DOCUMENT["paths"].items()
    for method, described in methods.items()
]
NAMING = [one for one in OPERATIONS if OF_AN_ACCOUNT & set(one.parameters)]
every_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)


@dataclass(frozen=True, slots=True)
class Tenant:
    """An account with one message, and templates as they are needed."""

    service: Service
    account: str
    message_id: str

    @property
    def ids(self) -> dict[str, str]:
        """What `OF_AN_ACCOUNT` may be; the template is a new one."""
        return {
            "message_id": self.message_id,
            "id": self.service.template(self.account, "<p>Secret of the tenant</p>"),
        }


@pytest.fixture(scope="module")
def tenant(service: Service) -> Tenant:
    account = service.account()
    sent = Api(service.key(account)).send(otp())
    return Tenant(service, account, sent.json["messageId"])


@pytest.fixture(scope="module")
def trial(service: Service) -> tuple[Api, Tenant]:
    """A preview key and its account."""
    api = service.preview()
    account = re.fullmatch(r"bx_preview_(.{12}).*", api.key or "")
    assert account
    return api, Tenant(service, account[1], api.send(otp()).json["messageId"])


def documented(operation: Operation, answer: Response) -> bool:
    """Whether the document has this status for the operation, and this code for the status."""
    response = operation.described["responses"].get(str(answer.status))
    if response is None or answer.status < 300:
        return response is not None
    return answer.code in response["content"]["application/json"]["examples"]


def test_the_tables_cover_the_document() -> None:
    """Each operation has an entry, and the document tells the same permission."""
    assert {one.id: one.described.get("x-required-permission") for one in OPERATIONS} == NEEDED
    named = {name for one in OPERATIONS for name in one.parameters}
    assert named == OF_AN_ACCOUNT | set(OF_ALL)
    assert set(GRANTED) == {"preview", *Preset}


@every_operation
@pytest.mark.parametrize("kind", GRANTED)
def test_a_key_opens_what_its_permissions_open(
    tenant: Tenant, trial: tuple[Api, Tenant], operation: Operation, kind: str
) -> None:
    """5: success with the permission; without it 403 scope_required, which names it."""
    if kind == "preview":
        api, owner = trial
    else:
        api, owner = Api(tenant.service.key(tenant.account, Preset(kind))), tenant
    ids = owner.ids
    answer = operation.ask(api, ids)
    assert documented(operation, answer)
    needed = NEEDED[operation.id]
    if needed and needed not in GRANTED[kind]:
        assert (answer.status, answer.code) == (403, "scope_required")
        assert answer.error["details"] == {"required_permission": needed}
    elif (operation.id, kind) in UPGRADE:
        assert (answer.status, answer.code) == (403, "upgrade_required")
    else:
        assert str(answer.status) == min(operation.described["responses"])


@every_operation
@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_key_opens_nothing(tenant: Tenant, operation: Operation, kind: str) -> None:
    """5.3: 401 on every route, whatever is asked for: own, foreign or absent."""
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
    answer = operation.ask(Api(key), tenant.ids)
    assert (answer.status, answer.code) == (401, REFUSED[kind])
    assert documented(operation, answer)
    assert answer.text == operation.ask(Api(key), absent()).text


@pytest.mark.parametrize("operation", NAMING, ids=lambda one: one.id)
@pytest.mark.parametrize("kind", GRANTED)
def test_what_belongs_to_another_account_is_absent(
    service: Service, tenant: Tenant, operation: Operation, kind: str
) -> None:
    """8: a foreign id gets the same bytes and headers as one that does not exist."""
    stranger = a_stranger(service, kind)
    ids = tenant.ids
    foreign, missing = operation.ask(stranger, ids), operation.ask(stranger, absent())
    assert foreign.status in {403, 404}
    assert same(foreign) == same(missing)
    assert "Secret" not in foreign.text
    owner = Api(service.key(tenant.account, Preset.MARKETING))
    assert str(operation.ask(owner, ids).status) == min(operation.described["responses"])


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if one not in NAMING], ids=lambda one: one.id
)
@pytest.mark.parametrize("kind", GRANTED)
def test_lists_and_figures_show_ones_own(
    service: Service, tenant: Tenant, operation: Operation, kind: str
) -> None:
    """8: what names nothing of an account shows nothing of another either."""
    stranger = a_stranger(service, kind)
    ids = tenant.ids
    text = operation.ask(stranger, ids).text
    assert not [secret for secret in (*ids.values(), tenant.account, "Secret") if secret in text]


@pytest.mark.parametrize("batch", [False, True])
def test_another_accounts_template_cannot_be_sent(
    service: Service, tenant: Tenant, *, batch: bool
) -> None:
    """8: a foreign templateId in a body is as good as none: 404 template_not_found."""
    stranger = service.live()
    answers = []
    for template_id in (tenant.ids["id"], str(uuid4())):
        mail = otp(starterTemplate=..., templateId=template_id)
        if batch:
            body = json.dumps({"messages": [mail]})
            (item,) = stranger.raw("POST", "/emails/batch", body).json["results"]
            answers.append(json.dumps(item))
            assert item["error"]["code"] == "template_not_found"
        else:
            answer = stranger.send(mail)
            answers.append(answer.text)
            assert (answer.status, answer.code) == (404, "template_not_found")
    assert answers[0] == answers[1]


def a_stranger(service: Service, kind: str) -> Api:
    """A key of this kind of a new account."""
    if kind == "preview":
        return service.preview()
    return Api(service.key(service.account(), Preset(kind)))


def absent() -> dict[str, str]:
    """Ids that nobody has."""
    return {name: str(uuid4()) for name in OF_AN_ACCOUNT}


def same(answer: Response) -> tuple[int, str, dict[str, str]]:
    """An answer without the request's own id."""
    headers = {name: value for name, value in answer.headers.items() if name != "x-request-id"}
    return answer.status, answer.text, headers
