"""Domains, keys, suppressions and webhooks in Resend's shape, used by its SDK for Python."""

import json
import re
from collections.abc import Callable
from typing import Any, Final
from unittest.mock import ANY

import pytest
import resend
from resend import exceptions

from openapi.generate import DIALECT_ROUTES
from pillarbox.domain.accounts.key import (
    EMAILS_SEND,
    KEYS_WRITE,
    SCOPES,
    Preset,
    account_of_key,
)
from pillarbox.http.dialects import Fields
from pillarbox.http.resend import api_keys, domains, suppressions, webhooks
from tests.contract.client import Api
from tests.contract.guides import check_table
from tests.contract.resend_sdk import in_process, raised
from tests.contract.service import HOOK_URL, SENDER, Service
from tests.loops import for_each

SDK: Final[Any] = resend
_NAME: Final = "mail.shop.example"
_TO: Final = "ada@customer.example"


@pytest.fixture
def sdk(service: Service, monkeypatch: pytest.MonkeyPatch) -> Service:
    """Point the SDK at a service, with a key that has every scope."""
    in_process(monkeypatch)
    monkeypatch.setattr(
        resend, "api_key", service.key(service.account(), Preset.CUSTOM, scopes=SCOPES)
    )
    return service


@pytest.mark.usefixtures("sdk")
def test_a_domain_is_added_shown_checked_and_removed() -> None:
    """A domain has the SDK's fields, with the records that it needs, and its name as its id."""
    added: Any = SDK.Domains.create({"name": _NAME, "region": "eu-west-1", "open_tracking": False})
    assert (added["id"], added["status"], added["region"]) == (_NAME, "not_started", "eu-west-1")
    (record,) = added["records"]
    assert (record["record"], record["type"], record["status"]) == (
        *("Ownership", "TXT"),
        "not_started",
    )
    assert record["name"].endswith("._pillarbox.mail")
    assert SDK.Domains.verify(_NAME)["id"] == _NAME
    shown: Any = SDK.Domains.get(_NAME)
    assert (shown["object"], shown["name"]) == ("domain", _NAME)
    assert SDK.Domains.update({"id": _NAME, "click_tracking": False})["id"] == _NAME
    assert [one["id"] for one in SDK.Domains.list()["data"]] == [_NAME]
    assert SDK.Domains.remove(_NAME)["deleted"] is True
    error = raised(SDK.Domains.get, _NAME)
    assert (error.code, error.error_type) == (404, "not_found")


def test_the_records_of_a_domain_that_the_provider_knows(sdk: Service) -> None:
    """A verified domain has its records by Resend's names, and an MX has its priority apart."""
    sdk.ses.domains.mail_from["shop.example"] = "mail.shop.example"
    name = sdk.domain(account_of_key(resend.api_key or "") or "", "shop.example")
    shown: Any = SDK.Domains.get(name)
    kinds = {(one["record"], one["type"], one["name"]) for one in shown["records"]}
    assert ("SPF", "MX", "mail") in kinds
    assert ("DMARC", "TXT", "_dmarc") in kinds
    assert ("SPF", "TXT", "@") in kinds
    (mx,) = (one for one in shown["records"] if one["type"] == "MX")
    assert (mx["priority"], mx["value"]) == (10, "feedback-smtp.eu-west-1.amazonses.com")


def test_a_key_is_created_with_a_permission_and_sends(sdk: Service) -> None:
    """`sending_access` only sends; full access, the default, does all that these routes do."""
    made: Any = SDK.ApiKeys.create({"name": "sends", "permission": "sending_access"})
    full: Any = SDK.ApiKeys.create({"name": "all"})
    names = {one["id"]: one["name"] for one in SDK.ApiKeys.list()["data"]}
    assert (names[made["id"]], names[full["id"]]) == ("sends", "all")
    whole = resend.api_key
    resend.api_key = made["token"]
    email: Any = {"from": SENDER, "to": _TO, "subject": "x", "html": "y"}
    assert SDK.Emails.send(email)["id"]
    for call in (SDK.Emails.list, SDK.ApiKeys.list, SDK.Domains.list):
        error = raised(call)
        assert (error.code, error.error_type) == (401, "restricted_api_key")
    resend.api_key = full["token"]
    for call in (SDK.Emails.list, SDK.Templates.list, SDK.Domains.list, SDK.Webhooks.list):
        assert call()["object"] == "list"
    resend.api_key = whole
    assert SDK.ApiKeys.remove(made["id"])["deleted"] is True
    assert made["id"] not in {one["id"] for one in SDK.ApiKeys.list()["data"]}
    resend.api_key = made["token"]
    assert type(raised(SDK.Emails.send, email)) is exceptions.InvalidApiKeyError
    assert len(sdk.jobs_of(Api(whole))) == 1


def test_a_key_gives_no_right_that_it_lacks(sdk: Service) -> None:
    account = sdk.account()
    resend.api_key = sdk.key(account, Preset.CUSTOM, scopes=frozenset({EMAILS_SEND, KEYS_WRITE}))
    error = raised(SDK.ApiKeys.create, {"name": "x"})
    assert (error.code, error.error_type) == (401, "restricted_api_key")
    assert "it lacks" in error.message
    made: Any = SDK.ApiKeys.create({"name": "x", "permission": "sending_access"})
    resend.api_key = sdk.key(sdk.account(), Preset.CUSTOM, scopes=SCOPES)
    assert raised(SDK.ApiKeys.remove, made["id"]).error_type == "not_found"


@pytest.mark.usefixtures("sdk")
def test_suppressions_are_added_listed_and_removed(service: Service) -> None:
    """An address is its own id, in lower case; a list is read forwards by it."""
    assert SDK.Suppressions.add({"email": "Zoe@customer.example"})["id"] == "zoe@customer.example"
    several: Any = {"emails": ["ada@customer.example", "bob@customer.example"]}
    assert len(SDK.Suppressions.Batch.add(several)["data"]) == 2
    page: Any = SDK.Suppressions.list({"limit": 2})
    assert ([one["email"] for one in page["data"]], page["has_more"]) == (several["emails"], True)
    rest: Any = SDK.Suppressions.list({"limit": 2, "after": page["data"][-1]["id"]})
    assert ([one["id"] for one in rest["data"]], rest["has_more"]) == (
        ["zoe@customer.example"],
        False,
    )
    assert SDK.Suppressions.get("ZOE@customer.example") == {
        "object": "suppression",
        "id": "zoe@customer.example",
        "email": "zoe@customer.example",
        "origin": "manual",
        "source_id": None,
        "created_at": ANY,
        "http_headers": ANY,
    }
    assert SDK.Suppressions.remove("zoe@customer.example")["deleted"] is True
    assert service.ses.domains.freed == [(None, "zoe@customer.example")]
    for call in (SDK.Suppressions.get, SDK.Suppressions.remove):
        assert raised(call, "zoe@customer.example").error_type == "not_found"


@pytest.mark.usefixtures("sdk")
def test_a_batch_of_suppressions_with_a_bad_address_adds_none() -> None:
    batch: Any = {"emails": ["ada@customer.example", "nobody"]}
    error = raised(SDK.Suppressions.Batch.add, batch)
    assert type(error) is exceptions.ValidationError
    assert "`emails.1`" in error.message
    assert SDK.Suppressions.list()["data"] == []


@pytest.mark.usefixtures("sdk")
def test_a_webhook_is_created_changed_rotated_and_deleted() -> None:
    """An endpoint takes Resend's types, gets payloads in its shape, and shows its secret once."""
    new: Any = {"endpoint": HOOK_URL, "events": ["email.delivery_delayed", "domain.updated"]}
    made: Any = SDK.Webhooks.create(new)
    assert made["signing_secret"].startswith("whsec_")
    shown: Any = SDK.Webhooks.get(made["id"])
    assert (shown["endpoint"], sorted(shown["events"]), shown["status"]) == (
        HOOK_URL,
        sorted(new["events"]),
        "enabled",
    )
    api = Api(resend.api_key)
    stored = api.raw("GET", f"/webhooks/{made['id']}").json
    assert (stored["format"], stored["types"]) == (
        "resend",
        ["domain.failed", "domain.verified", "email.delayed"],
    )
    change: Any = {"webhook_id": made["id"], "status": "disabled", "events": ["email.sent"]}
    assert SDK.Webhooks.update(change)["id"] == made["id"]
    (listed,) = SDK.Webhooks.list()["data"]
    assert (listed["status"], listed["events"]) == ("disabled", ["email.sent"])
    rotated: Any = SDK.Webhooks.rotate_signing_secret(made["id"])
    assert rotated["signing_secret"] != made["signing_secret"]
    assert SDK.Webhooks.remove(made["id"])["deleted"] is True
    assert raised(SDK.Webhooks.get, made["id"]).error_type == "not_found"


def test_the_events_of_a_webhook_are_listed_and_replayed(sdk: Service) -> None:
    """Each delivery is an event, with Resend's status; a replay queues it once more."""
    account_id = account_of_key(resend.api_key or "") or ""
    hook = sdk.webhook(account_id)
    delivered = sdk.delivery(account_id, hook)
    page: Any = SDK.Webhooks.list_events(hook, {"limit": 1})
    event = {"id": delivered, "type": "webhook.test", "status": "success", "created_at": ANY}
    assert page["data"] == [event]
    assert SDK.Webhooks.list_events(hook, {"after": delivered})["data"] == []
    assert SDK.Webhooks.replay_event(hook, delivered)["id"] == delivered
    assert raised(SDK.Webhooks.replay_event, hook, "x").error_type == "not_found"
    assert "`after`" in raised(SDK.Webhooks.list_events, hook, {"after": "x"}).message


def test_a_foreign_id_is_not_found(sdk: Service) -> None:
    """No route shows, changes or deletes what another account has."""
    hook: Any = SDK.Webhooks.create({"endpoint": HOOK_URL, "events": ["email.sent"]})
    SDK.Domains.create({"name": _NAME})
    SDK.Suppressions.add({"email": _TO})
    resend.api_key = sdk.key(sdk.account(), Preset.CUSTOM, scopes=SCOPES)
    calls: tuple[tuple[Any, Any], ...] = (
        (SDK.Domains.get, _NAME),
        (SDK.Domains.verify, _NAME),
        (SDK.Domains.remove, _NAME),
        (SDK.Domains.update, {"id": _NAME}),
        (SDK.Suppressions.get, _TO),
        (SDK.Suppressions.remove, _TO),
        (SDK.Webhooks.get, hook["id"]),
        (SDK.Webhooks.update, {"webhook_id": hook["id"], "status": "disabled"}),
        (SDK.Webhooks.rotate_signing_secret, hook["id"]),
        (SDK.Webhooks.list_events, hook["id"]),
        (SDK.Webhooks.remove, hook["id"]),
    )
    for call, argument in calls:
        error = raised(call, argument)
        assert (error.code, error.error_type) == (404, "not_found"), call
    for call in (SDK.Domains.list, SDK.Suppressions.list, SDK.Webhooks.list):
        assert call()["data"] == []


@pytest.mark.usefixtures("sdk")
def test_a_list_has_pages_by_ids() -> None:
    """`after` and `before` lead through a short list; an id of another list is refused."""
    names = [f"{letter}.shop.example" for letter in "abc"]
    for name in names:
        SDK.Domains.create({"name": name})
    page: Any = SDK.Domains.list({"limit": 2})
    assert ([one["id"] for one in page["data"]], page["has_more"]) == (names[:2], True)
    rest: Any = SDK.Domains.list({"after": names[1]})
    assert ([one["id"] for one in rest["data"]], rest["has_more"]) == (names[2:], False)
    back: Any = SDK.Domains.list({"limit": 1, "before": names[2]})
    assert ([one["id"] for one in back["data"]], back["has_more"]) == ([names[1]], True)
    for bad in ({"after": "x"}, {"limit": 0}, {"after": "x", "before": "y"}, {"other": "1"}):
        assert type(raised(SDK.Domains.list, bad)) is exceptions.ValidationError


#: Each resource with the fields of its requests, a valid request, and the call that makes it.
_REQUESTS: Final[dict[str, tuple[Fields, dict[str, Any], Callable[[Any], Any]]]] = {
    "domains": (
        domains.new_domain_fields("eu-west-1"),
        {
            "name": _NAME,
            "custom_return_path": "bounces",
            "region": "eu-west-1",
            "open_tracking": False,
            "click_tracking": False,
            "tls": "opportunistic",
            "capabilities": {"sending": "enabled", "receiving": "disabled"},
            "tracking_subdomain": "links",
        },
        SDK.Domains.create,
    ),
    "api-keys": (
        api_keys.FIELDS,
        {"name": "x", "permission": "sending_access", "domain_id": _NAME},
        SDK.ApiKeys.create,
    ),
    "suppressions": (suppressions.ONE, {"email": _TO}, SDK.Suppressions.add),
    "webhooks": (
        webhooks.NEW,
        {"endpoint": HOOK_URL, "events": ["email.sent"]},
        SDK.Webhooks.create,
    ),
}
_HEAD: Final = "| of | field | | since |\n|---|---|---|---|\n"


@pytest.mark.usefixtures("sdk")
def test_the_guide_lists_the_fields_of_what_keys_manage() -> None:
    """The table in docs/guides/resend.md is what the SDK meets when it gives each field."""
    rows = []
    for resource, (fields, values, call) in _REQUESTS.items():
        assert {*values} == fields.names
        least = {name: values[name] for name in fields.carried}
        for name, value in values.items():
            if name in fields.refused:
                cells = f"refused: {_refusal(call, least | {name: value}, name)} | "
            else:
                call(least | {name: value})
                cells = "carried | 0.1.0"
            if name in fields.settled:
                reason = _refusal(call, least | {name: "other"}, name)
                cells = f"only `{json.dumps(value)}`: {reason} | 0.1.0"
            rows.append(f"| {resource} | `{name}` | {cells} |\n")
    check_table("resend.md", _HEAD, rows)


def _refusal(call: Callable[[Any], Any], body: dict[str, Any], name: str) -> str:
    error = raised(call, body)
    assert type(error) is exceptions.ValidationError
    assert error.message.startswith(f"`{name}` ")
    return error.message.partition("` ")[2].rstrip(".")


@pytest.mark.usefixtures("sdk")
@for_each(
    "call, body, name",
    [
        (SDK.Domains.create, {"name": "co.uk"}, "`name`"),
        (SDK.Domains.create, {"name": _NAME, "spf": 1}, "`spf` is not a field"),
        (SDK.Domains.create, {}, "`name` is required"),
        (SDK.Domains.update, {"id": _NAME, "tls": "enforced"}, "`tls`"),
        (SDK.ApiKeys.create, {"name": "x", "permission": "all"}, "`permission`"),
        (SDK.ApiKeys.create, {"name": "x", "scopes": ["x"]}, "`scopes` is not a field"),
        (SDK.ApiKeys.update, {"id": "key_x", "name": "y"}, "`name` of key_x does not change"),
        (SDK.Suppressions.add, {"email": "nobody"}, "`email`"),
        (SDK.Suppressions.list, {"before": "x"}, "`before`"),
        (SDK.Suppressions.list, {"origin": "bounce"}, "`origin`"),
        (
            SDK.Webhooks.create,
            {"endpoint": "http://shop.example", "events": ["email.sent"]},
            "`endpoint`",
        ),
        (SDK.Webhooks.create, {"endpoint": HOOK_URL, "events": ["email.opened"]}, "`events.0`"),
        (SDK.Webhooks.create, {"endpoint": HOOK_URL, "events": "email.sent"}, "`events`"),
        (SDK.Webhooks.update, {"webhook_id": "x", "status": "enabled"}, "`id`"),
    ],
)
def test_a_wrong_field_is_named(call: Any, body: Any, name: str) -> None:
    error = raised(call, body)
    assert type(error) in {exceptions.ValidationError, exceptions.MissingRequiredFieldsError}
    assert name in error.message


@pytest.mark.usefixtures("sdk")
def test_only_keys_manage_and_an_operators_key_names_its_account() -> None:
    """A session is no key, a wrong key is a wrong key, and X-Account works as on our own routes."""
    front, other = Api(resend.api_key, "/resend"), {"X-Account": "0" * 12}
    assert Api(base="/resend").raw("GET", "/domains").json["name"] == "missing_api_key"
    refused = front.raw("GET", "/domains", headers=other)
    assert (refused.status, refused.json["name"]) == (401, "restricted_api_key")
    refused = front.raw("GET", "/emails", headers=other)
    assert (refused.status, refused.json["name"]) == (422, "validation_error")
    for key in ("bx_live_wrong", "sess_wrong"):
        wrong = Api(key, "/resend").raw("GET", "/domains")
        assert (wrong.status, wrong.json["name"]) == (403, "invalid_api_key")


_AREAS: Final = {
    "domains": "domains",
    "api-keys": "keys",
    "suppressions": "suppressions",
    "webhooks": "webhooks",
}


@for_each(
    "method, path, area",
    [
        (method, re.sub(r"{\w+}", "x.example", route.removeprefix("/resend")), area)
        for route, methods in DIALECT_ROUTES.items()
        if (area := _AREAS.get(route.split("/")[2])) and route.startswith("/resend/")
        for method in methods
    ],
)
def test_each_route_needs_its_scope(method: str, path: str, area: str, service: Service) -> None:
    """A key with every other scope is refused before anything else is looked at."""
    scope = f"{area}:{'read' if method == 'GET' else 'write'}"
    account, body = service.account(), None if method in {"GET", "DELETE"} else "{}"
    refused, allowed = (
        Api(key, "/resend").raw(method, path, body)
        for key in (
            service.key(account, Preset.CUSTOM, scopes=SCOPES - {scope}),
            service.key(account, Preset.CUSTOM, scopes=frozenset({scope})),
        )
    )
    assert (refused.status, refused.json["name"]) == (401, "restricted_api_key")
    assert allowed.status != 401
