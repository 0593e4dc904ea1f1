"""Each operation counts in the budgets that it names."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from unittest import mock

from botocore.client import BaseClient

from openapi.budgets import BUDGETS
from openapi.operations import OPERATIONS
from pillarbox import wiring
from pillarbox.application.templates.authoring import TemplateSource
from pillarbox.domain.accounts.key import MANAGEMENT_SCOPES, SCOPES
from pillarbox.domain.sign_in.session import Role
from tests.contract.bodies import otp
from tests.contract.client import Api
from tests.contract.mcp import ELICITATION, McpClient
from tests.contract.operations import ALL_OPERATIONS, CHANGES, send_waiting
from tests.contract.service import Service

#: The start of a record's key, and an attribute if there are several counts -> the budget.
_COUNTS: Final = {
    "COUNT#slow#": "slow",
    "COUNT#domains#link#": "domain-link",
    "COUNT#domains#": "domains",
    "COUNT#keys#": "keys",
    "COUNT#invitations#": "invitations",
    "COUNT#passkeys#": "passkeys",
    "COUNT#tokens#": "tokens",
    "COUNT#accounts#": "accounts",
    "COUNT#": "codes",
    "QUOTA# render_count": "render",
    "QUOTA# draft_count": "draft",
    "QUOTA#": "quota",
    "HOOK# post_count": "post",
    "HOOK# replayed": "replayed",
}
#: The budgets that a write counts for one operation at a time.
COUNTED: Final = frozenset(_COUNTS.values())
#: Their examples end before they count, or need not count: tests of their own ask for the 429.
_ELSEWHERE: Final = (
    *("mcp", "publish_template", "add_suppressions", "change_webhook", "create_key"),
    *("open_domain_link", "create_access_token", "sign_in", "request_preview_code"),
    *("issue_preview_key", "sign_in_with_passkey", "sign_up"),
)


@contextmanager
def counting() -> Iterator[set[str]]:
    """Watch what is written to the tables, and collect the budgets that count."""
    counted: set[str] = set()
    call = BaseClient._make_api_call  # type: ignore[attr-defined]

    def watching(made_by: BaseClient, operation: str, parameters: Mapping[str, Any]) -> Any:
        if operation == "UpdateItem":
            key, change = parameters["Key"]["pk"], parameters["UpdateExpression"]
            key = key["S"] if isinstance(key, dict) else key
            for start, budget in _COUNTS.items():
                prefix, _, attribute = start.partition(" ")
                if key.startswith(prefix) and attribute in change:
                    counted.add(budget)
                    break
        return call(made_by, operation, parameters)

    with mock.patch.object(BaseClient, "_make_api_call", watching):
        yield counted


def test_each_budget_is_that_of_an_operation() -> None:
    assert {name for operation in OPERATIONS for name in operation.budgets} == {*BUDGETS}


def test_each_write_has_a_budget() -> None:
    """A new one has to say which, also if one call costs little."""
    assert [one.id for one in OPERATIONS if one.method != "get" and not one.budgets] == []


def test_each_call_counts_in_its_budget(service: Service) -> None:
    """What the examples of all operations count is what the table says, and nothing else."""
    account = service.account()
    owner = Api(session=service.session(account, Role.OWNER, "ada@shop.example"))
    key = Api(service.key(account, scopes=SCOPES | MANAGEMENT_SCOPES))
    source = TemplateSource(name="A", subject="B", category="c", html="<p>d</p>")
    template = wiring.services().template_authoring.create(account, source).template_id
    hook = service.webhook(account)
    service.suppress(account, "ann@customer.example")
    ids = dict.fromkeys(("member_id", "key_id", "session_id", "passkey_id", "queue"), "x") | {
        "message_id": key.send(otp()).json["messageId"],
        "id": template,
        "endpoint_id": hook,
        "delivery_id": service.delivery(account, hook),
        "received_id": str(service.receive(account).received_id),
        "account_id": account,
        "domain": "shop.example",
        "sender": "hello@shop.example",
        "address": "ann@customer.example",
    }
    named = {one.id: one.budgets for one in OPERATIONS}
    wrong = {}
    for operation in sorted(ALL_OPERATIONS, key=lambda one: one.method == "DELETE"):
        if operation.id in CHANGES:
            ids["message_id"] = send_waiting(key, operation.id)
        with counting() as counted:
            operation.request(key if "ApiKey" in operation.credentials else owner, ids)
        budgets = {name for name in named[operation.id] if name in COUNTED}
        if counted != (set() if operation.id in _ELSEWHERE else budgets):
            wrong[operation.id] = (counted, budgets)
    # What is not sent counts no more.
    assert wrong == {"cancel_message": ({"quota"}, set())}


def test_a_tool_counts_as_its_operation(service: Service) -> None:
    """An agent that renders takes a rendering; one whose user is asked takes of the quota."""
    account = service.account()
    agent = McpClient(Api(service.key(account, scopes=SCOPES)), ELICITATION)
    template = service.template(account, "<p>x</p>")
    with counting() as counted:
        assert agent.data("render_template", {"templateId": template})["text"] == "x"
    assert counted == {"render"}
    with counting() as counted:
        assert agent.call("send_email", otp())["resultType"] == "input_required"
    assert counted == {"quota"}
