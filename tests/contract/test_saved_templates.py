"""Saved templates: contract sections 2.7 and 4.8 to 4.10."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from pillarbox import wiring
from pillarbox.application.templates.authoring import TemplateChanges, TemplateSource
from pillarbox.domain.accounts.key import Preset
from tests.contract.bodies import otp
from tests.contract.client import Api, ApiResponse
from tests.contract.service import Service

FIELDS = ["id", "name", "subject", "category", "variables", "createdAt", "updatedAt"]
CALLS: dict[str, Callable[[Api, str], ApiResponse]] = {
    "list": lambda api, _: api.raw("GET", "/templates"),
    "get": lambda api, template_id: api.raw("GET", f"/templates/{template_id}"),
    "delete": lambda api, template_id: api.raw("DELETE", f"/templates/{template_id}"),
}
get, delete = CALLS["get"], CALLS["delete"]


@pytest.fixture
def api(service: Service, account: str) -> Api:
    """A client with a key of the account that has every permission."""
    return Api(service.key(account, Preset.MARKETING))


def save(
    account: str, html: str = "<p>Hello {{ name }}</p>", *, internal: bool = False, **changes: str
) -> str:
    """Save a template as the dashboard does; return its id."""
    written = {"name": "Receipt", "subject": "Order", "category": "billing", "html": html}
    source = TemplateSource(**(written | changes))
    return (
        wiring.services().template_authoring.create(account, source, internal=internal).template_id
    )


def list_page(api: Api, **query: str | list[str]) -> ApiResponse:
    return api.raw("GET", "/templates", query=query)


def shown(api: Api, template_id: str) -> Any:
    return get(api, template_id).json["previewHtml"]


def test_the_list_has_the_fields_of_the_contract(account: str, api: Api) -> None:
    """2.7, 4.8: the list has items without previewHtml, total, skip and limit (20 by default)."""
    template_id = save(account, "{{ order.total }} {{ note | default('') }}", name="Ünï")
    response = list_page(api)
    assert response.status == 200
    assert {name: response.json[name] for name in ("total", "skip", "limit")} == {
        "total": 1,
        "skip": 0,
        "limit": 20,
    }
    (item,) = response.json["items"]
    assert list(item) == FIELDS
    assert item["id"] == template_id
    assert (item["name"], item["subject"], item["category"]) == ("Ünï", "Order", "billing")
    assert item["variables"] == ["order", "note"]


def test_the_newest_comes_first_on_every_page(account: str, api: Api) -> None:
    """4.8: the newest comes first; skip and limit select a page, and total counts all."""
    # In the order of their ids, since two may be saved in one millisecond.
    ids = sorted((save(account, name=str(n)) for n in range(25)), reverse=True)
    assert [item["id"] for item in list_page(api).json["items"]] == ids[:20]
    pages = [list_page(api, skip=str(skip), limit="10").json for skip in (0, 10, 20, 30)]
    assert [len(page["items"]) for page in pages] == [10, 10, 5, 0]
    assert [item["id"] for page in pages for item in page["items"]] == ids
    assert [(p["total"], p["skip"], p["limit"]) for p in pages] == [
        (25, skip, 10) for skip in (0, 10, 20, 30)
    ]
    assert len(list_page(api, limit="100").json["items"]) == 25


def test_a_change_does_not_move_a_template(account: str, api: Api) -> None:
    """2.7, 4.8: the order is by creation; a change only sets updatedAt."""
    first, second = save(account), save(account)
    changed = wiring.services().template_authoring.update(
        account, UUID(first), TemplateChanges(name="New")
    )
    items = list_page(api).json["items"]
    assert [item["id"] for item in items] == [second, first]
    assert items[1]["name"] == "New"
    assert datetime.fromisoformat(items[1]["updatedAt"]) == changed.updated_at
    assert items[1]["createdAt"] < items[1]["updatedAt"]


def test_internal_copies_are_not_in_the_library(account: str, api: Api) -> None:
    """2.7, notes: internal copies cannot be listed, read or deleted."""
    template_id, copy = save(account), save(account, internal=True)
    response = list_page(api).json
    assert [item["id"] for item in response["items"]] == [template_id]
    assert response["total"] == 1
    assert get(api, copy).text == get(api, str(uuid4())).text
    assert delete(api, copy).code == "template_not_found"
    assert wiring.services().template_authoring.get(account, UUID(copy)).internal


@pytest.mark.parametrize(
    ("query", "errors"),
    [
        ({"limit": "1.0"}, {"limit": "wrong_type"}),
        ({"limit": "٣"}, {"limit": "wrong_type"}),
        ({"limit": "9" * 5000}, {"limit": "wrong_type"}),
        ({"skip": "9007199254740992"}, {"skip": "out_of_range"}),
        ({"skip": "x", "limit": "0"}, {"skip": "wrong_type", "limit": "out_of_range"}),
        ({"skip": ["1", "1"]}, {"skip": "repeated"}),
        ({"Limit": "5"}, {"Limit": "unknown_field"}),
        ({"x" * 9999: "1"}, {"x" * 64: "unknown_field"}),
    ],
)
def test_bad_query_parameters_are_refused(
    api: Api, query: dict[str, str | list[str]], errors: dict[str, str]
) -> None:
    """4.8, 8.2, notes: 422 lists the errors of all parameters at once."""
    response = list_page(api, **query)
    assert (response.status, response.errors) == (422, errors)


def test_a_template_is_read_with_a_preview(account: str, api: Api) -> None:
    """2.7, 4.9: a template has the fields of the list, previewHtml, and after it what is ours."""
    template_id = save(account)
    response = get(api, template_id)
    assert response.status == 200
    assert list(response.json) == [*FIELDS, "previewHtml", "locales", "keepDays"]
    assert {name: response.json[name] for name in FIELDS} == list_page(api).json["items"][0]
    assert response.json["previewHtml"] == "<p>Hello [name]</p>"


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
        # No value is both a text and an object.
        ("{{ a }}{{ a.b }}", "{{ a }}{{ a.b }}"),
        ("{% for x in a %}{{ x }}{% endfor %}{{ a.b }}", None),
    ],
)
def test_a_preview_is_rendered_with_names_for_values(
    account: str, api: Api, html: str, preview: str | None
) -> None:
    """2.7, notes: the preview has the name of each value in brackets."""
    assert shown(api, save(account, html)) == (html if preview is None else preview)


@pytest.mark.parametrize(
    ("html", "length"), [("x" * 499, 499), ("x" * 501, 500), ("🎉" * 501, 500), ("{{ a }}", 3)]
)
def test_a_preview_has_the_first_500_characters(
    account: str, api: Api, html: str, length: int
) -> None:
    """2.7, 8.2: the first 500 characters of the rendered HTML."""
    assert len(shown(api, save(account, html))) == length


def test_a_deletion_is_permanent(account: str, api: Api) -> None:
    """4.10: after the 204 a template cannot be read, listed, sent or deleted again."""
    template_id, other = save(account, "Hello"), save(account)
    response = delete(api, template_id)
    assert (response.status, response.text) == (204, "")
    assert response.headers["x-request-id"]
    assert get(api, template_id).code == "template_not_found"
    assert delete(api, template_id).code == "template_not_found"
    assert api.send(otp(starterTemplate=..., templateId=template_id)).code == "template_not_found"
    assert [item["id"] for item in list_page(api).json["items"]] == [other]


def test_a_template_in_use_is_not_deleted(account: str, api: Api) -> None:
    """3, 4.10: 409 while a campaign or a scheduled send refers to the template."""
    template_id = save(account)
    wiring.services().template_authoring.reference(account, UUID(template_id), "campaign-1")
    response = delete(api, template_id)
    assert (response.status, response.code) == (409, "template_in_use")
    assert response.error["type"] == "invalid_request_error"
    assert get(api, template_id).status == 200
    wiring.services().template_authoring.unreference(account, UUID(template_id), "campaign-1")
    assert delete(api, template_id).status == 204


def test_the_permission_is_checked_before_the_parameters(preview: Api) -> None:
    """Notes: the scope is checked before the shape of the request."""
    assert list_page(preview, limit="0").code == "scope_required"
    assert get(preview, "x").code == "scope_required"
    assert delete(preview, "x").code == "scope_required"
