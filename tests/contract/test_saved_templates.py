"""Saved templates: contract sections 2.7 and 4.8 to 4.10."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from pillarbox import wiring
from pillarbox.application.templates.authoring import TemplateChanges, TemplateSource
from pillarbox.domain.account import Plan
from pillarbox.domain.key import TEMPLATES_READ, TEMPLATES_WRITE, Preset
from tests.contract.bodies import otp
from tests.contract.client import Api, Response
from tests.contract.service import Service

FIELDS = ["id", "name", "subject", "category", "variables", "createdAt", "updatedAt"]
CALLS: dict[str, Callable[[Api, str], Response]] = {
    "list": lambda api, _: api.raw("GET", "/templates"),
    "get": lambda api, template_id: api.raw("GET", f"/templates/{template_id}"),
    "delete": lambda api, template_id: api.raw("DELETE", f"/templates/{template_id}"),
}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
get, delete = CALLS["get"], CALLS["delete"]


@pytest.fixture
def account(service: Service) -> str:
    return service.account()


@pytest.fixture
def api(service: Service, account: str) -> Api:
    """A key of the account with every permission."""
    return Api(service.key(account, Preset.MARKETING))


def save(
    account: str, html: str = "<p>Hello {{ name }}</p>", *, internal: bool = False, **changes: str
) -> str:
    """Save a template as the dashboard does; gives its id."""
    written = {"name": "Receipt", "subject": "Order", "category": "billing", "html": html}
    source = TemplateSource(**(written | changes))
    return wiring.template_authoring().create(account, source, internal=internal).template_id


def listed(api: Api, **query: str | list[str]) -> Response:
    return api.raw("GET", "/templates", query=query)


def shown(api: Api, template_id: str) -> Any:
    return get(api, template_id).json["previewHtml"]


def test_the_list_has_the_fields_of_the_contract(account: str, api: Api) -> None:
    """2.7, 4.8: items without previewHtml, total, skip and limit; 20 is the default."""
    template_id = save(account, "{{ order.total }} {{ note | default('') }}", name="Ünï")
    answer = listed(api)
    assert answer.status == 200
    assert {name: answer.json[name] for name in ("total", "skip", "limit")} == {
        "total": 1,
        "skip": 0,
        "limit": 20,
    }
    (item,) = answer.json["items"]
    assert list(item) == FIELDS
    assert item["id"] == template_id
    assert (item["name"], item["subject"], item["category"]) == ("Ünï", "Order", "billing")
    assert item["variables"] == ["order", "note"]


def test_an_account_without_templates_has_an_empty_list(api: Api) -> None:
    """4.8: nothing saved is a list of nothing."""
    assert listed(api).json == {"items": [], "total": 0, "skip": 0, "limit": 20}


def test_the_newest_comes_first_on_every_page(account: str, api: Api) -> None:
    """4.8: newest first; skip and limit cut one list, in which total counts all."""
    ids = [save(account, name=str(n)) for n in range(25)][::-1]
    assert [item["id"] for item in listed(api).json["items"]] == ids[:20]
    pages = [listed(api, skip=str(skip), limit="10").json for skip in (0, 10, 20, 30)]
    assert [len(page["items"]) for page in pages] == [10, 10, 5, 0]
    assert [item["id"] for page in pages for item in page["items"]] == ids
    assert [(p["total"], p["skip"], p["limit"]) for p in pages] == [
        (25, skip, 10) for skip in (0, 10, 20, 30)
    ]
    assert len(listed(api, limit="100").json["items"]) == 25


def test_a_change_does_not_move_a_template(account: str, api: Api) -> None:
    """2.7, 4.8: newest is what was created last; updatedAt tells of changes."""
    first, second = save(account), save(account)
    changed = wiring.template_authoring().update(account, UUID(first), TemplateChanges(name="New"))
    items = listed(api).json["items"]
    assert [item["id"] for item in items] == [second, first]
    assert items[1]["name"] == "New"
    assert datetime.fromisoformat(items[1]["updatedAt"]) == changed.updated_at
    assert items[1]["createdAt"] < items[1]["updatedAt"]


def test_internal_copies_are_no_part_of_the_library(account: str, api: Api) -> None:
    """2.7, decisions: internal copies are not listed, not found, and not deleted."""
    template_id, copy = save(account), save(account, internal=True)
    answer = listed(api).json
    assert [item["id"] for item in answer["items"]] == [template_id]
    assert answer["total"] == 1
    assert get(api, copy).text == get(api, str(uuid4())).text
    assert delete(api, copy).code == "template_not_found"
    assert wiring.template_authoring().get(account, UUID(copy)).internal


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ({"limit": "0"}, {"limit": "out_of_range"}),
        ({"limit": "101"}, {"limit": "out_of_range"}),
        ({"limit": "-1"}, {"limit": "out_of_range"}),
        ({"limit": ""}, {"limit": "wrong_type"}),
        ({"limit": "1e1"}, {"limit": "wrong_type"}),
        ({"limit": "1.0"}, {"limit": "wrong_type"}),
        ({"limit": "٣"}, {"limit": "wrong_type"}),
        ({"limit": "9" * 5000}, {"limit": "wrong_type"}),
        ({"skip": "-1"}, {"skip": "out_of_range"}),
        ({"skip": "9007199254740992"}, {"skip": "out_of_range"}),
        ({"skip": "x", "limit": "0"}, {"skip": "wrong_type", "limit": "out_of_range"}),
        ({"skip": ["1", "1"]}, {"skip": "repeated"}),
        ({"Limit": "5"}, {"Limit": "unknown_field"}),
        ({"sortBy": "name"}, {"sortBy": "unknown_field"}),
        ({"x" * 9999: "1"}, {"x" * 64: "unknown_field"}),
    ],
)
def test_bad_query_parameters_are_refused(
    api: Api, query: dict[str, str | list[str]], fault: dict[str, str]
) -> None:
    """4.8, 8.2, decisions, attack 71: 422 on each field, with all faults at once."""
    answer = listed(api, **query)
    assert (answer.status, answer.faults) == (422, fault)


@pytest.mark.parametrize("query", [{"skip": "9007199254740991"}, {"limit": "1"}, {"limit": "100"}])
def test_the_limits_themselves_are_taken(api: Api, query: dict[str, str | list[str]]) -> None:
    """4.8: skip from 0, limit from 1 to 100."""
    assert listed(api, **query).status == 200


def test_a_template_is_read_with_a_preview(account: str, api: Api) -> None:
    """2.7, 4.9: the fields of the list, and previewHtml beside them."""
    template_id = save(account)
    answer = get(api, template_id)
    assert answer.status == 200
    assert list(answer.json) == [*FIELDS, "previewHtml"]
    assert {name: answer.json[name] for name in FIELDS} == listed(api).json["items"][0]
    assert answer.json["previewHtml"] == "<p>Hello [name]</p>"


def test_timestamps_carry_an_offset(service: Service, account: str, api: Api) -> None:
    """2.7: ISO 8601, as for messages with a +00:00 offset."""
    moment = wiring.utc_now() - timedelta(days=3)
    with service.at(moment):
        template_id = save(account)
    written = moment.isoformat(timespec="milliseconds")
    answer = get(api, template_id).json
    assert (answer["createdAt"], answer["updatedAt"]) == (written, written)
    assert written.endswith("+00:00")


@pytest.mark.parametrize(
    ("html", "preview"),
    [
        ("{{ order.total }}", "[order.total]"),
        ("{{ a | upper }}{{ b | default('<b>') }}", "[A]&lt;b&gt;"),
        ("{% for l in order.lines %}<li>{{ l.price }}{% endfor %}", "<li>[order.lines.price]"),
        ("{% for x in xs %}{{ x }}{% else %}none{% endfor %}", "[xs]"),
        ("{% for x in xs | default([]) %}{{ x }}{% else %}none{% endfor %}", "[xs]"),
        ("{% if a | default('') %}some{% else %}none{% endif %}", "none"),
        ("{% if paid %}yes{% else %}no{% endif %}", "yes"),
        ("{% if plan == 'pro' %}pro{% else %}{{ plan }}{% endif %}", "[plan]"),
        ("{% if a %}{{ a.b }}{% endif %}", "[a.b]"),
        ("<a href='{{ url }}'>", "<a href='[url]'>"),
        ("no variables", "no variables"),
        # Nothing is both a text and an object.
        ("{{ a }}{{ a.b }}", "{{ a }}{{ a.b }}"),
        ("{% for x in a %}{{ x }}{% endfor %}{{ a.b }}", None),
    ],
)
def test_a_preview_is_rendered_with_names_for_values(
    account: str, api: Api, html: str, preview: str | None
) -> None:
    """2.7, decisions: what a send would give stands there by its name in brackets."""
    assert shown(api, save(account, html)) == (html if preview is None else preview)


@pytest.mark.parametrize(
    ("html", "length"), [("x" * 499, 499), ("x" * 501, 500), ("🎉" * 501, 500), ("{{ a }}", 3)]
)
def test_a_preview_has_the_first_500_characters(
    account: str, api: Api, html: str, length: int
) -> None:
    """2.7, 8.2: the first 500 characters of the rendered HTML."""
    assert len(shown(api, save(account, html))) == length


def test_a_deleted_template_is_gone_for_good(account: str, api: Api) -> None:
    """4.10: 204 with no body; permanent, for reading, listing, sending and deleting again."""
    template_id, other = save(account, "Hello"), save(account)
    answer = delete(api, template_id)
    assert (answer.status, answer.text) == (204, "")
    assert answer.headers["x-request-id"]
    assert get(api, template_id).code == "template_not_found"
    assert delete(api, template_id).code == "template_not_found"
    assert api.send(otp(starterTemplate=..., templateId=template_id)).code == "template_not_found"
    assert [item["id"] for item in listed(api).json["items"]] == [other]


def test_what_was_accepted_is_sent_after_a_deletion(
    service: Service, account: str, api: Api
) -> None:
    """3, 4.10: a mail that is queued already does not need its template any more."""
    template_id = save(account, "Hello")
    message_id = api.send(otp(starterTemplate=..., templateId=template_id)).json["messageId"]
    assert delete(api, template_id).status == 204
    assert service.deliver() == []
    assert api.get(message_id).json["status"] == "sent"


def test_a_template_in_use_stays(account: str, api: Api) -> None:
    """3, 4.10, attack 72: 409 template_in_use while a campaign or scheduled send refers to it."""
    template_id = save(account)
    wiring.template_authoring().reference(account, UUID(template_id), "campaign-1")
    answer = delete(api, template_id)
    assert (answer.status, answer.code) == (409, "template_in_use")
    assert answer.error["type"] == "invalid_request_error"
    assert get(api, template_id).status == 200
    wiring.template_authoring().unreference(account, UUID(template_id), "campaign-1")
    assert delete(api, template_id).status == 204


@pytest.mark.parametrize("call", [get, delete])
@pytest.mark.parametrize("template_id", ["x", "0", "%22", "019b79984c0070008000000000000001"])
def test_an_id_must_be_a_uuid(
    api: Api, call: Callable[[Api, str], Response], template_id: str
) -> None:
    """4.9, 4.10, attack 13: the path parameter is a UUID, else 422."""
    answer = call(api, template_id)
    assert (answer.status, answer.faults) == (422, {"id": "invalid_uuid"})


@pytest.mark.parametrize("call", [get, delete])
def test_another_accounts_template_is_answered_like_an_absent_one(
    service: Service, api: Api, call: Callable[[Api, str], Response]
) -> None:
    """4.9, 4.10, attack 11: 404 template_not_found, to the byte; the other's stays."""
    other = service.account()
    foreign = save(other)
    wiring.template_authoring().reference(other, UUID(foreign), "campaign-1")
    answer = call(api, foreign)
    assert (answer.status, answer.code) == (404, "template_not_found")
    assert answer.error["type"] == "not_found"
    assert answer.text == call(api, str(uuid4())).text
    assert get(Api(service.key(other, Preset.MARKETING)), foreign).status == 200


@every_call
@pytest.mark.parametrize(
    ("preset", "scopes"),
    [
        (Preset.SEND, set()),
        (Preset.MARKETING, {TEMPLATES_READ, TEMPLATES_WRITE}),
        (Preset.ANALYTICS, {TEMPLATES_READ}),
        (Preset.CUSTOM, set()),
    ],
)
def test_the_routes_take_a_preset_that_grants_them(
    service: Service,
    account: str,
    call: Callable[[Api, str], Response],
    preset: Preset,
    scopes: set[str],
) -> None:
    """4.8 to 4.10, 5: templates:read to list and read, templates:write to delete."""
    needed = TEMPLATES_WRITE if call is delete else TEMPLATES_READ
    answer = call(Api(service.key(account, preset)), save(account))
    if needed in scopes:
        assert answer.status in {200, 204}
    else:
        assert (answer.status, answer.code) == (403, "scope_required")
        assert answer.error["details"] == {"required_permission": needed}


@every_call
def test_preview_keys_have_no_templates(preview: Api, call: Callable[[Api, str], Response]) -> None:
    """5, attack 8: the template endpoints need a live key: 403 scope_required."""
    answer = call(preview, str(uuid4()))
    assert (answer.status, answer.code) == (403, "scope_required")


def test_a_free_plan_has_its_templates(service: Service) -> None:
    """5: free plans may manage templates via the API."""
    account = service.account(Plan.FREE)
    api = Api(
        service.key(account, Preset.CUSTOM, scopes=frozenset({TEMPLATES_READ, TEMPLATES_WRITE}))
    )
    template_id = save(account)
    assert listed(api).json["total"] == 1
    assert delete(api, template_id).status == 204


def test_the_permission_is_told_before_what_is_asked(preview: Api) -> None:
    """Decisions: the scope comes before the shape of what is asked."""
    assert listed(preview, limit="0").code == "scope_required"
    assert get(preview, "x").code == "scope_required"
    assert delete(preview, "x").code == "scope_required"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_templates_are_not_authored_over_the_api(account: str, api: Api, method: str) -> None:
    """1.5: creating and editing are the dashboard's: 405."""
    body = json.dumps({"name": "x"})
    for path, allow in (("/templates", "GET"), (f"/templates/{save(account)}", "GET, DELETE")):
        answer = api.raw(method, path, body)
        assert (answer.status, answer.code) == (405, "method_not_allowed")
        assert answer.headers["allow"] == allow
