"""The template editor: drafts, previews, versions and tests."""

from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes, policy
from typing import Any, Final
from uuid import UUID

import pytest

from pillarbox import wiring
from pillarbox.application.templates import editing
from pillarbox.application.templates.authoring import TemplateChanges
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.errors import ValidationFailed
from pillarbox.domain.sign_in.session import Role
from pillarbox.domain.templates.draft import LocaleContent, SourceKind, TemplateContent
from pillarbox.rendering.template_check import Problem
from tests.contract.bodies import otp
from tests.contract.client import Api, ApiResponse
from tests.contract.service import Service
from tests.fakes import builders
from tests.fakes.builders import PREVIEW_SENDER

_ADA: Final = "ada@shop.example"
_SOURCE: Final = """<html><head><style>p { color: red }</style></head><body>
<p>Hello {{ name | default("you") }}, {{ order.id }} {{ brandName | default("") }}</p>
{% for line in order.lines %}<p>{{ line.title }} <a href="{{ line.url }}">é</a></p>{% endfor %}
</body></html>"""
_MJML: Final = """<mjml><mj-body>{% for line in order.lines %}<mj-section><mj-column>
<mj-text>{{ line.title }} {{ order.id }} {{ name | default("you") }}</mj-text>
<mj-button href="{{ line.url }}">Buy</mj-button></mj-column></mj-section>{% endfor %}
</mj-body></mjml>"""
_VALUES: Final = {
    "name": "<Ada> & Ö",
    "order": {
        "id": 7,
        "lines": [{"title": "A \U0001f389", "url": "https://a.example/?a=1&b=2"}] * 2,
    },
}


def call(api: Api, method: str, path: str, body: Any = None, revision: int | None = None) -> Any:
    headers = {} if revision is None else {"If-Match": f'"{revision}"'}
    response: ApiResponse = api.raw(method, f"/templates{path}", body, headers)
    assert response.status < 500
    return response


def begin(api: Api, **fields: str) -> Any:
    response = call(api, "POST", "", {"name": "Receipt", "category": "billing", **fields})
    assert response.status == 201
    return response.json


def content(source: str = _SOURCE, kind: str = "html", **changes: Any) -> dict[str, Any]:
    fixed = {"name": "Receipt", "subject": "Order {{ order.id }}", "category": "billing"}
    return fixed | {"kind": kind, "source": source} | changes


def publish(api: Api, template_id: str, draft: dict[str, Any], revision: int) -> Any:
    saved = call(api, "PUT", f"/{template_id}/draft", draft, revision)
    assert saved.status == 200
    answer = call(api, "POST", f"/{template_id}/publish", None, saved.json["revision"])
    assert answer.status == 200
    return answer.json


def test_a_template_is_sent_once_it_is_published(service: Service, account: str, user: Api) -> None:
    """A draft is neither listed nor sent; a published version is, and its number is recorded."""
    key = Api(service.key(account))
    template_id = begin(user)["id"]
    mail = otp(starterTemplate=..., templateId=template_id, variables=_VALUES)
    assert key.send(mail).code == "template_not_found"
    assert user.raw("GET", "/templates").json["total"] == 0
    assert [one["id"] for one in call(user, "GET", "/drafts").json["items"]] == [template_id]
    assert publish(user, template_id, content(), 1)["version"] == 1
    assert user.raw("GET", "/templates").json["total"] == 1
    assert publish(user, template_id, content(subject="Bill {{ order.id }}"), 2)["version"] == 2
    detail = key.get(key.send(mail).json["messageId"]).json
    assert (detail["subject"], detail["templateVersion"]) == ("Bill 7", 2)


@pytest.mark.parametrize(("kind", "source"), [("html", _SOURCE), ("mjml", _MJML)])
def test_a_preview_is_what_the_worker_sends(
    service: Service, account: str, user: Api, kind: str, source: str
) -> None:
    """For the same values the preview has the bytes of subject, HTML and text of the email."""
    shown = call(user, "POST", "/render", content(source, kind) | {"variables": _VALUES})
    # A preview takes only what it needs.
    assert shown.status == 422
    draft = content(source, kind)
    body = {name: draft[name] for name in ("kind", "subject", "source")} | {"variables": _VALUES}
    shown = call(user, "POST", "/render", body).json
    assert [one for one in shown["problems"] if one["severity"] == "error"] == []
    template_id = begin(user)["id"]
    publish(user, template_id, draft, 1)
    mail = otp(starterTemplate=..., templateId=template_id, variables=_VALUES)
    assert Api(service.key(account)).send(mail).status == 200
    service.deliver()
    sent = message_from_bytes(service.ses.mails[-1]["raw"], policy=policy.SMTP)
    parts = {part.get_content_type(): part for part in sent.walk()}
    assert sent["Subject"] == shown["subject"]
    for kind_of_part, field in (("text/html", "html"), ("text/plain", "text")):
        payload: Any = parts[kind_of_part].get_payload(decode=True)
        assert payload.decode().replace("\r\n", "\n") == shown[field]
    assert shown["bytes"] == len(shown["html"].encode())


def test_a_preview_names_variables_and_problems(user: Api) -> None:
    """Variables have their lines, kinds and defaults; a missing value shows its name."""
    body = {"kind": "html", "subject": "S", "source": f"\n{_SOURCE}", "variables": {}}
    shown = call(user, "POST", "/render", body).json
    rows = {one["path"]: one for one in shown["variables"]}
    assert (rows["name"]["line"], rows["name"]["default"]) == (3, "you")
    assert (rows["order.lines"]["type"], rows["order.lines[].url"]["type"]) == ("list", "url")
    assert "[order.id]" in shown["html"]
    missing = [one for one in shown["problems"] if one["code"] == "missing_variable"]
    assert {one["line"] for one in missing} == {3, 4}
    body["source"] = "a\n{{ x | safe }}"
    shown = call(user, "POST", "/render", body).json
    assert (shown["html"], shown["text"], shown["bytes"]) == (None, None, 0)
    (error,) = [one for one in shown["problems"] if one["severity"] == "error"]
    assert (error["line"], error["suggestion"]) == (2, "{{ x }}")


def test_two_authors_lose_nothing(service: Service, account: str, user: Api) -> None:
    """The second of two changes of one revision is 409 with the first; its author can decide."""
    bob = Api(session=service.session(account, Role.OWNER, "bob@shop.example"))
    template_id = begin(user)["id"]
    path = f"/{template_id}/draft"
    assert call(user, "PUT", path, content("mine"), 1).json["revision"] == 2
    refused = call(bob, "PUT", path, content("his"), 1)
    assert (refused.status, refused.code) == (409, "draft_changed")
    details = refused.error["details"]
    assert details["revision"] == 1
    assert (details["draft"]["source"], details["draft"]["updatedBy"]) == ("mine", _ADA)
    for action, body in (("publish", None), ("restore", {"version": 1})):
        stale = call(bob, "POST", f"/{template_id}/{action}", body, 1)
        assert stale.code in {"draft_changed", "version_not_found"}
    assert call(bob, "PUT", path, content("his"), 2).json["revision"] == 3
    assert call(user, "GET", path).json["source"] == "his"


def test_a_request_names_its_revision(user: Api) -> None:
    """Without If-Match, or with something else in it, nothing is changed."""
    template_id = begin(user)["id"]
    for revision in (None, "", "*", 'W/"1"', "x", "-1"):
        headers = {} if revision is None else {"If-Match": revision}
        response = user.raw("POST", f"/templates/{template_id}/publish", None, headers)
        assert (response.status, response.errors) == (422, {"If-Match": "invalid_header"})


def test_versions_are_kept_and_restored(user: Api) -> None:
    """Versions never change; a restored one is a draft until it is published."""
    template_id = begin(user)["id"]
    for number in (1, 2, 3):
        assert publish(user, template_id, content(f"v{number}"), number)["version"] == number
    path = f"/{template_id}/versions"
    first = user.raw("GET", f"/templates{path}", query={"limit": "2"}).json
    assert [one["version"] for one in first["items"]] == [3, 2]
    assert [one["published"] for one in first["items"]] == [True, False]
    query: dict[str, str | list[str]] = {"cursor": first["nextCursor"]}
    rest = user.raw("GET", f"/templates{path}", query=query).json
    assert ([one["version"] for one in rest["items"]], rest["nextCursor"]) == ([1], None)
    assert call(user, "GET", f"{path}/1").json["html"] == "v1"
    assert call(user, "GET", f"{path}/4").code == "version_not_found"
    restored = call(user, "POST", f"/{template_id}/restore", {"version": 1}, 4).json
    assert (restored["source"], restored["changed"], restored["publishedVersion"]) == (
        "v1",
        True,
        3,
    )
    same = call(user, "POST", f"/{template_id}/restore", {"version": 3}, 5).json
    assert (same["source"], same["changed"]) == ("v3", False)
    assert call(user, "POST", f"/{template_id}/publish", None, 6).json["version"] == 3


def test_a_restored_version_does_not_bring_its_days_back(user: Api) -> None:
    """Who keeps nothing of a template's emails any more gets old words, and not the old days."""
    template_id = begin(user)["id"]
    publish(user, template_id, content("v1"), 1)
    call(user, "PUT", f"/{template_id}/draft", content("v2") | {"keepDays": 0}, 2)
    restored = call(user, "POST", f"/{template_id}/restore", {"version": 1}, 3).json
    assert (restored["source"], restored["keepDays"], restored["changed"]) == ("v1", 0, True)


def test_what_the_command_publishes_is_the_next_draft(account: str, user: Api) -> None:
    """A version of the operator's command shows as the draft, unless somebody works on another."""
    template_id = begin(user)["id"]
    publish(user, template_id, content("mine"), 1)
    authoring = wiring.services().template_authoring
    authoring.update(account, UUID(template_id), TemplateChanges(html="theirs"))
    draft = call(user, "GET", f"/{template_id}/draft").json
    assert (draft["source"], draft["version"], draft["changed"]) == ("theirs", 2, False)
    call(user, "PUT", f"/{template_id}/draft", content("new"), draft["revision"])
    authoring.update(account, UUID(template_id), TemplateChanges(html="again"))
    draft = call(user, "GET", f"/{template_id}/draft").json
    assert (draft["source"], draft["version"], draft["publishedVersion"]) == ("new", 2, 3)


def test_a_starter_and_a_copy_begin_a_template(user: Api) -> None:
    """A starter brings its subject and samples along; a copy has the draft of the other."""
    made = begin(user, starterTemplate="otp")
    assert "otp_code" in made["samples"]["sample"]
    copy = call(user, "POST", f"/{made['id']}/duplicate")
    assert copy.status == 201
    assert (copy.json["name"], copy.json["source"]) == ("Copy of Receipt", made["source"])
    assert copy.json["id"] != made["id"]
    both = {"name": "a", "category": "b", "starterTemplate": "otp", "html": "c"}
    assert call(user, "POST", "", both).errors == {"html": "incomplete"}
    assert begin(user, html="<p>x</p>")["source"] == "<p>x</p>"


def test_a_template_with_faults_is_not_published(user: Api) -> None:
    """A draft may have faults; publishing it is 422 with the line, and nothing changes."""
    template_id = begin(user)["id"]
    assert call(user, "PUT", f"/{template_id}/draft", content("a\n{{ x() }}"), 1).status == 200
    refused = call(user, "POST", f"/{template_id}/publish", None, 2)
    assert (refused.status, refused.errors) == (422, {"source": "not_allowed"})
    assert refused.error["message"].startswith("source: Line 2:")
    assert call(user, "GET", f"/{template_id}/draft").json["publishedVersion"] is None


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        ({"source": "é" * 131_073}, {"source": "too_large"}),
        ({"samples": {"a": 1}}, {"samples": "wrong_type"}),
        ({"samples": {"a": {"b": "x" * 65_536}}}, {"samples": "too_large"}),
        ({"samples": {str(n): {} for n in range(21)}}, {"samples": "too_long"}),
    ],
)
def test_a_draft_has_limits(user: Api, changes: dict[str, Any], errors: dict[str, str]) -> None:
    """Sources have at most 256 KB and samples 64 KB; every other fault is named, too."""
    response = call(user, "PUT", f"/{begin(user)['id']}/draft", content(**changes), 1)
    assert (response.status, response.errors) == (422, errors)


def test_a_large_draft_is_stored(user: Api) -> None:
    template_id = begin(user)["id"]
    source = "".join(f"<p>{number}</p>" for number in range(20_000))[:262_144]
    samples = {"ada": {"text": "x" * 60_000}}
    path = f"/{template_id}/draft"
    assert call(user, "PUT", path, content(source, samples=samples), 1).status == 200
    draft = call(user, "GET", path).json
    assert (draft["source"], draft["samples"]) == (source, samples)


def test_a_test_goes_to_members_only(service: Service, account: str, user: Api) -> None:
    """A test is an email of the account with its tag; nobody but a member can get it."""
    template_id = begin(user)["id"]
    call(user, "PUT", f"/{template_id}/draft", content(), 1)
    path = f"/{template_id}/test"
    stranger = call(user, "POST", path, {"to": "eve@customer.example", "variables": _VALUES})
    assert (stranger.status, stranger.code) == (403, "recipient_not_allowed")
    missing = call(user, "POST", path, {"to": _ADA, "variables": {"order": {"id": 7}}})
    assert missing.errors == {"values.order.lines": "missing_variable"}
    sent = call(user, "POST", path, {"to": _ADA.upper(), "variables": _VALUES})
    assert sent.status == 200
    detail = Api(service.key(account)).get(sent.json["messageId"]).json
    assert detail["tags"] == {"test": template_id}
    assert (detail["templateId"], detail["templateVersion"], detail["keyId"]) == (None, None, None)
    assert service.deliver() == []
    service.suppress(account, _ADA)
    refused = call(user, "POST", path, {"to": _ADA, "variables": _VALUES})
    assert refused.code == "recipient_suppressed"


def test_a_test_needs_no_sender(service: Service) -> None:
    """Before the account has one, a test comes from the service's own address."""
    account = service.account(senders={}, default=None)
    api = Api(session=service.session(account, Role.DEVELOPER, _ADA))
    sent = call(api, "POST", f"/{begin(api)['id']}/test", {"to": _ADA})
    assert (sent.status, sent.json["from"]) == (200, PREVIEW_SENDER)


def test_a_test_counts_toward_the_quota(service: Service) -> None:
    limits = Limits(per_minute=1, per_day=None, per_month=None)
    account = service.account(limits=limits)
    api = Api(session=service.session(account, Role.DEVELOPER, _ADA))
    path = f"/{begin(api)['id']}/test"
    assert call(api, "POST", path, {"to": _ADA}).status == 200
    assert call(api, "POST", path, {"to": _ADA}).code == "rate_limit_exceeded"


def test_renderings_have_a_budget_a_minute(
    service: Service, user: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Previews, publications and tests share a budget; another account has its own."""
    monkeypatch.setattr(editing, "PER_MINUTE", 2)
    path = f"/{begin(user)['id']}"
    shown = {"subject": "s", "kind": "html", "source": "<p>x</p>"}
    assert call(user, "POST", "/render", shown).status == 200
    assert call(user, "POST", f"{path}/publish", None, 1).status == 200
    for refused in (
        call(user, "POST", "/render", shown),
        call(user, "POST", f"{path}/publish", None, 1),
        call(user, "POST", f"{path}/test", {"to": _ADA}),
    ):
        assert (refused.status, refused.code) == (429, "rate_limit_exceeded")
    other = Api(session=service.session(service.account(), Role.AUTHOR, _ADA))
    assert call(other, "POST", "/render", shown).status == 200


def test_each_part_of_a_publication_counts(service: Service, user: Api) -> None:
    """One with 26 locales takes 27 of 120 renderings, and a preview beside the default takes 2."""
    locale = {"subject": "s", "source": "<p>x</p>"}
    locales = {f"a{chr(97 + n)}": locale for n in range(26)}
    shown = {"subject": "s", "kind": "html", "source": "<p>x</p>"}
    with service.at(datetime(2030, 1, 1, tzinfo=UTC)):
        user = Api(session=service.session(service.account(), Role.AUTHOR, "eve@shop.example"))
        publish(user, begin(user)["id"], content("<p>x</p>", locales=locales), 1)
        answers = [call(user, "POST", "/render", shown | {"default": locale}) for _ in range(46)]
        answers += [call(user, "POST", "/render", shown) for _ in range(2)]
    assert [one.status for one in answers] == [200] * 47 + [429]


@pytest.mark.parametrize(("source", "html", "compiled"), [(24_000, 24_000, 0), (5_000, 90_000, 4)])
def test_a_publication_stops_before_it_compiles_too_much(
    service: Service, source: int, html: int, compiled: int
) -> None:
    """350,000 octets of sources are too many at once, and of what they become the next one."""
    assert service
    done: list[str] = []

    def compile_source(_: SourceKind, text: str) -> tuple[str, list[Problem]]:
        done.append(text)
        return f"<p>{'x' * (html - 7)}</p>", []

    part = LocaleContent(subject="s", source="x" * source)
    draft = TemplateContent(
        name="a",
        category="b",
        subject="s",
        kind=SourceKind.MJML,
        source=part.source,
        locales={f"a{letter}": part for letter in "abcdefghijklmnop"},
    )
    template = builders.template(UUID(int=7))
    publication = wiring.services().template_editing.templates.publication
    with pytest.raises(ValidationFailed, match="350000 octets"):
        replace(publication, compile_source=compile_source)._compiled(template, draft)
    assert len(done) == compiled


def test_drafts_have_a_budget_a_minute(
    service: Service, user: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is up to 250 KB to store; another account has its own budget."""
    monkeypatch.setattr(editing, "DRAFTS_PER_MINUTE", 2)
    first, second = f"/{begin(user)['id']}", f"/{begin(user)['id']}"
    for refused in (
        call(user, "PUT", f"{first}/draft", content("a"), 1),
        call(user, "POST", f"{second}/duplicate", None),
        call(user, "POST", f"{second}/restore", {"version": 1}, 1),
        call(user, "POST", "", {"name": "a", "category": "b"} | content("a")),
    ):
        assert (refused.status, refused.code) == (429, "rate_limit_exceeded")
    other = Api(session=service.session(service.account(), Role.AUTHOR, _ADA))
    assert begin(other)


def test_a_deletion_takes_drafts_and_versions_along(user: Api) -> None:
    published, draft = begin(user)["id"], begin(user)["id"]
    publish(user, published, content("a"), 1)
    for template_id in (published, draft):
        assert call(user, "DELETE", f"/{template_id}").status == 204
        assert call(user, "DELETE", f"/{template_id}").code == "template_not_found"
        assert call(user, "GET", f"/{template_id}/draft").code == "template_not_found"
        assert call(user, "GET", f"/{template_id}/versions").code == "template_not_found"
    assert call(user, "GET", "/drafts").json == {"items": []}


def test_internal_copies_cannot_be_edited(account: str, user: Api, service: Service) -> None:
    authoring = wiring.services().template_authoring
    source = authoring.starter_source(account, "otp")
    copy = authoring.create(account, source, internal=True).template_id
    for method, path in (("GET", "draft"), ("GET", "versions"), ("POST", "duplicate")):
        assert call(user, method, f"/{copy}/{path}").code == "template_not_found"
    assert service
