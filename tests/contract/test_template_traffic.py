"""Publishing against real traffic: what recent sends did not give is a warning."""

from typing import Any, Final
from unittest import mock
from uuid import UUID

from pillarbox import wiring
from pillarbox.adapters.dynamodb.history.ledger import DynamoLedger
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.session import Role
from tests.contract.bodies import otp
from tests.contract.client import Api
from tests.contract.operations import in_an_hour
from tests.contract.service import Service
from tests.contract.test_template_editor import begin, call, content, publish

_OLD: Final = "<p>{{ name | default('you') }}</p>"
_NEW: Final = "<p>{{ name | default('you') }} {{ order.total }}</p>"


def draft(source: str) -> dict[str, Any]:
    return content(source, subject="Bill")


def warned(problems: list[Any]) -> list[str]:
    return [one["message"] for one in problems if one["code"] == "variable_not_sent"]


def render(user: Api, source: str, **more: str) -> list[str]:
    body = {"kind": "html", "subject": "Bill", "source": source} | more
    response = call(user, "POST", "/render", body)
    assert response.status == 200
    return warned(response.json["problems"])


def test_a_publication_says_what_recent_sends_did_not_give(
    service: Service, account: str, user: Api
) -> None:
    """Single, batch and scheduled sends count; tests and other templates do not. It is published.

    The preview with the template's id says the same before.
    """
    key, template_id = Api(service.key(account)), begin(user)["id"]
    assert publish(user, template_id, draft(_OLD), 1)["problems"] == []
    order = {"order": {"total": 7, "ada@shop.example": 1}}

    def mail(variables: dict[str, Any]) -> dict[str, Any]:
        return otp(starterTemplate=..., templateId=template_id, variables=variables)

    assert key.send(mail(order)).status == 200
    assert key.send(mail({"order": {"total": None}})).status == 200
    assert key.send(mail({}) | {"scheduledAt": in_an_hour()}).status == 200
    batch = key.raw("POST", "/emails/batch", {"messages": [mail(order), mail({})]})
    assert batch.status == 200
    assert key.send(otp()).status == 200
    to = {"to": "ada@shop.example", "variables": {}}
    assert call(user, "POST", f"/{template_id}/test", to).status == 200

    warning = (
        "order.total is required, and 3 of 5 emails of the last 7 days (60 %) had no value for it."
        " Such sends are refused once this is published."
    )
    expected = [warning]
    for _ in range(3):  # from the records, then with the stream's changes, then with them again
        assert render(user, _NEW, templateId=template_id) == expected
        service.count(account)
    assert render(user, _NEW) == render(user, _OLD, templateId=template_id) == []
    assert warned(publish(user, template_id, draft(_NEW), 2)["problems"]) == expected
    assert key.send(mail({})).code == "validation_failed"
    shapes = {item.get("shape") for item in service.messages(account)} - {None}
    assert shapes == {"{order:{total}}", "{order:{}}", "{}"}


def test_a_publication_stands_when_its_traffic_cannot_be_read(user: Api, account: str) -> None:
    """The answer says that it is published, without warnings; a preview says what failed."""
    template_id = begin(user)["id"]
    failure = ServiceError("service_unavailable", "Not now.")
    with mock.patch.object(DynamoLedger, "newest_entry", side_effect=failure):
        assert publish(user, template_id, draft(_NEW), 1)["problems"] == []
        body = {"kind": "html", "subject": "S", "source": _NEW, "templateId": template_id}
        assert user.raw("POST", "/templates/render", body).status == 503
    state = wiring.services().template_editing.draft(account, UUID(template_id))
    assert state.published == 1


def test_another_accounts_template_has_no_traffic(service: Service, account: str) -> None:
    """The id of a foreign template, or of none, says nothing; a slug is no id."""
    user = Api(session=service.session(account, Role.AUTHOR, "ada@shop.example"))
    other = service.account()
    author = Api(session=service.session(other, Role.AUTHOR, "bob@shop.example"))
    template_id = begin(author)["id"]
    publish(author, template_id, draft(_OLD), 1)
    mail = otp(starterTemplate=..., templateId=template_id, variables={})
    assert Api(service.key(other)).send(mail).status == 200
    assert len(render(author, _NEW, templateId=template_id)) == 1
    assert render(user, _NEW, templateId=template_id) == []
    body = {"kind": "html", "subject": "S", "source": _NEW, "templateId": "otp"}
    assert call(user, "POST", "/render", body).errors == {"templateId": "invalid_uuid"}
