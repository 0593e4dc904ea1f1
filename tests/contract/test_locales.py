"""Saved templates with a text part of their own and with locales."""

from typing import Any
from uuid import UUID

from pillarbox import wiring
from pillarbox.adapters.dynamodb import keys
from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.application.templates.authoring import TemplateChanges
from pillarbox.domain.accounts.key import SCOPES
from tests.contract.bodies import otp, raw_html
from tests.contract.client import Api
from tests.contract.mcp import ELICITATION, McpClient
from tests.contract.service import Service, text_of
from tests.contract.test_template_editor import begin, call, publish

_GERMAN: dict[str, Any] = {
    "subject": "Beleg {{ order.id }}",
    "source": "<p>Hallo {{ name }}</p>",
    "text": "Hallo {{ name }},\n\nBeleg {{ order.id }}\n",
}
_SWISS: dict[str, Any] = {"subject": "Quittung {{ order.id }}", "source": "<p>Grüezi</p>"}
_DRAFT: dict[str, Any] = {
    "name": "Receipt",
    "category": "billing",
    "kind": "html",
    "subject": "Receipt {{ order.id }}",
    "source": "<p>Hello {{ name | default('you') }}</p>",
    "text": "Hello {{ name }} <&>\n  {{ order.id }}",
    "locales": {"de": _GERMAN, "de-CH": _SWISS},
}
_VALUES: dict[str, Any] = {"name": "Ada {{ x }} <b>", "order": {"id": 7}}


def mail(template_id: str, locale: str | None = None, **more: Any) -> dict[str, Any]:
    fields = {"starterTemplate": ..., "templateId": template_id, "variables": _VALUES} | more
    return otp(**fields | ({} if locale is None else {"locale": locale}))


def sent(service: Service, count: int) -> list[tuple[str, str, str]]:
    """Deliver, and return subject, HTML and text of the newest mails, sorted."""
    mails = service.mailed()[-count:]
    return sorted((one["Subject"], text_of(one, "html").strip(), text_of(one)) for one in mails)


def test_a_send_takes_the_nearest_locale(service: Service, account: str, user: Api) -> None:
    """`de-CH` takes its own content, `de-AT` that of `de`, `fr` and none the default's."""
    api, template_id = Api(service.key(account)), begin(user)["id"]
    published = publish(user, template_id, _DRAFT, 1)
    assert (published["locales"], published["variables"]) == (["de", "de-ch"], ["order", "name"])
    for locale in ("DE-ch", "de-CH-1996", "de-AT", "fr", None):
        assert api.send(mail(template_id, locale)).status == 200
    subjects = [subject for subject, _, _ in sent(service, 5)]
    assert subjects == ["Beleg 7", "Quittung 7", "Quittung 7", "Receipt 7", "Receipt 7"]


def test_the_text_part_is_the_templates_own(service: Service, account: str, user: Api) -> None:
    """References in it become plain text on their lines; a send's `text` comes before it.

    A locale without a text part has one that is made of its HTML.
    """
    api, template_id = Api(service.key(account)), begin(user)["id"]
    publish(user, template_id, _DRAFT, 1)
    api.send(mail(template_id, "de"))
    api.send(mail(template_id, "de-CH"))
    api.send(mail(template_id))
    api.send(mail(template_id, subject="Own", text="Mine {{ name }}"))
    name = "Ada {{ x }} <b>"
    found = {subject: text for subject, _, text in sent(service, 4)}
    assert found["Beleg 7"] == f"Hallo {name},\n\nBeleg 7\n"
    assert found["Receipt 7"].rstrip("\n") == f"Hello {name} <&>\n  7"
    assert found["Quittung 7"].strip() == "Grüezi"
    assert found["Own"].rstrip("\n") == "Mine {{ name }}"


def test_values_are_checked_for_the_locale_that_is_sent(
    service: Service, account: str, user: Api
) -> None:
    """A variable is missing only if subject, HTML or text of the chosen locale need it."""
    api, template_id = Api(service.key(account)), begin(user)["id"]
    publish(user, template_id, _DRAFT, 1)
    needed = {"order": {"id": 7}}
    for locale, missing in (("de", ["variables.name"]), (None, ["variables.name"]), ("de-CH", [])):
        answer = api.send(mail(template_id, locale, variables=needed))
        assert (answer.status, [*answer.errors] if missing else []) == (
            422 if missing else 200,
            missing,
        )


def test_batches_and_agents_name_a_locale(service: Service, account: str, user: Api) -> None:
    template_id = begin(user)["id"]
    publish(user, template_id, _DRAFT, 1)
    api = Api(service.key(account))
    batch = {"messages": [mail(template_id, "de"), mail(template_id, "fr")]}
    results = api.raw("POST", "/emails/batch", batch).json["results"]
    assert [each["error"] for each in results] == [None, None]
    client = McpClient(api, ELICITATION)
    assert "messageId" in client.confirmed("send_email", mail(template_id, "de-LI"))
    subjects = [subject for subject, _, _ in sent(service, 3)]
    assert subjects == ["Beleg 7", "Beleg 7", "Receipt 7"]


def test_a_locale_needs_a_template(live: Api) -> None:
    """`locale` beside HTML or a starter is refused, since nothing would use it."""
    for body in (raw_html(locale="de"), otp(locale="de")):
        assert live.send(body).errors == {"locale": "not_allowed"}
    wrong = otp(starterTemplate=..., templateId="0198c2a0-7b7e-7c3a-9f5e-2f6d1c0b8a95")
    assert live.send(wrong | {"locale": "de_DE"}).errors == {"locale": "invalid_locale"}


def test_a_fault_names_its_locale(user: Api) -> None:
    template_id = begin(user)["id"]
    for field, value in (
        ("source", "{% include 'x' %}"),
        ("text", "{{ name | upper }}"),
        ("subject", "{% if x %}"),
    ):
        broken = _DRAFT | {"locales": {"de": _GERMAN | {field: value}}}
        stored = call(user, "GET", f"/{template_id}/draft").json["revision"]
        revision = call(user, "PUT", f"/{template_id}/draft", broken, stored).json["revision"]
        answer = call(user, "POST", f"/{template_id}/publish", None, revision)
        assert (answer.status, [*answer.errors]) == (422, [f"locales.de.{field}"])


def test_an_unknown_field_of_a_locale_is_refused(user: Api) -> None:
    template_id = begin(user)["id"]
    draft = _DRAFT | {"locales": {"de": _GERMAN | {"subjekt": "Beleg"}}}
    answer = call(user, "PUT", f"/{template_id}/draft", draft, 0)
    assert (answer.status, answer.errors) == (422, {"locales.de.subjekt": "unknown_field"})
    assert "did you mean subject?" in answer.error["details"]["errors"][0]["message"]


def test_drafts_and_versions_keep_what_a_request_leaves_out(user: Api) -> None:
    """A client that knows no locales cannot delete them; empty values remove them."""
    template_id = begin(user)["id"]
    assert publish(user, template_id, _DRAFT, 1)["version"] == 1
    path = f"/{template_id}/draft"
    old = {name: _DRAFT[name] for name in ("name", "category", "kind", "subject")}
    kept = call(user, "PUT", path, old | {"source": "<p>New</p>"}, 2).json
    german, swiss = {"text": None} | _GERMAN, {"text": None} | _SWISS
    assert (kept["text"], kept["locales"]) == (_DRAFT["text"], {"de": german, "de-ch": swiss})
    none = call(user, "PUT", path, old | {"source": "<p>x</p>", "text": "", "locales": {}}, 3).json
    assert (none["text"], none["locales"]) == (None, {})
    version = call(user, "GET", f"/{template_id}/versions/1").json
    assert version["locales"] == {"de": german, "de-ch": swiss}
    back = call(user, "POST", f"/{template_id}/restore", {"version": 1}, 4).json
    assert (back["text"], back["locales"]) == (_DRAFT["text"], version["locales"])


def test_the_days_of_a_template_go_through_drafts_and_versions(
    service: Service, account: str, user: Api
) -> None:
    """A send uses those of the published version, and no more than the account's."""
    wiring.services().accounts.update(account, AccountChanges(keep=30))
    api, template_id = Api(service.key(account, scopes=SCOPES)), begin(user)["id"]
    path = f"/{template_id}"
    assert call(user, "GET", f"{path}/draft").json["keepDays"] == 90
    sent_for = []
    for revision, days in ((1, {"keepDays": 7}), (2, {}), (2, {"keepDays": 90})):
        publish(user, template_id, _DRAFT | days, revision)
        message_id = api.send(mail(template_id)).json["messageId"]
        message = wiring.services().message_store.get(account, UUID(message_id))
        sent_for.append(message and message.keep)
    assert sent_for == [7, 7, 30]
    assert api.raw("GET", f"/templates/{template_id}").json["keepDays"] == 90
    assert call(user, "GET", f"{path}/versions/1").json["keepDays"] == 7
    back = call(user, "POST", f"{path}/restore", {"version": 1}, 3).json
    assert back["keepDays"] == 7
    copy = call(user, "POST", f"{path}/duplicate").json
    assert (copy["name"], copy["keepDays"]) == ("Copy of Receipt", 7)
    answer = call(user, "PUT", f"{path}/draft", _DRAFT | {"keepDays": 91}, 4)
    assert [*answer.errors] == ["keepDays"]


def test_a_preview_compares_a_locale_with_the_default(user: Api) -> None:
    default = {"subject": "{{ order.id }}", "source": "<p>{{ name }}</p>"}
    body = {
        "kind": "html",
        "subject": "S",
        "source": "<p>\n{{ nmae }}</p>",
        "text": "{{ order.id }}",
        "default": default,
        "variables": {"nmae": "Ada", "order": {"id": 7}},
    }
    shown = call(user, "POST", "/render", body).json
    assert shown["text"] == "7"
    found = {each["code"]: each for each in shown["problems"]}
    assert found["variable_not_in_locale"]["message"].startswith("name is in the default")
    assert found["variable_only_in_locale"]["line"] == 2
    assert found["variable_not_in_locale"]["severity"] == "warning"


def test_a_test_of_a_draft_has_a_locale(service: Service, user: Api) -> None:
    template_id = begin(user)["id"]
    assert call(user, "PUT", f"/{template_id}/draft", _DRAFT, 1).status == 200
    body = {"to": "ada@shop.example", "locale": "de-AT", "variables": _VALUES}
    assert call(user, "POST", f"/{template_id}/test", body).status == 200
    ((subject, _, text),) = sent(service, 1)
    assert (subject, text.partition(",")[0]) == ("Beleg 7", "Hallo Ada {{ x }} <b>")


def test_the_record_of_a_plain_template_does_not_grow(account: str, user: Api) -> None:
    """Without text part and locales the record that sends read has no attribute more."""
    template_id = begin(user)["id"]
    plain = {name: _DRAFT[name] for name in ("name", "category", "kind", "subject", "source")}
    published = publish(user, template_id, plain, 1)
    table = wiring.services().table
    key = keys.template(account, UUID(published["id"]))
    assert {"text", "locales", "keep"}.isdisjoint(table.get(key) or {})
    publish(user, template_id, _DRAFT, 2)
    assert {"text", "locales"} <= (table.get(key) or {}).keys()
    authoring = wiring.services().template_authoring
    authoring.update(account, UUID(template_id), TemplateChanges(name="Renamed"))
    assert {"text", "locales"} <= (table.get(key) or {}).keys()
    publish(user, template_id, plain | {"text": "", "locales": {}}, 3)
    assert {"text", "locales"}.isdisjoint(table.get(key) or {})
