"""The Python client and the service: each method reaches its operation."""

import inspect
import json
from functools import cache
from typing import Any
from unittest import mock

import httpx
import pytest
from pillarbox_client import Pillarbox, PillarboxError
from pillarbox_client.operations import AsyncOperations, Operations

from openapi.clients.operations import ClientOperation, operations_of
from openapi.document import document
from openapi.of_keys import of_keys
from tests.contract.bodies import TO
from tests.contract.client import Api
from tests.contract.service import Service


class _InProcess(httpx.BaseTransport):
    """Sends what the client sends to the functions, without a socket."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = Api().raw(
            request.method,
            request.url.raw_path.decode().partition("?")[0].removeprefix("/api/v1"),
            request.read().decode() or None,
            dict(request.headers),
            query=dict(request.url.params) or None,
        )
        return httpx.Response(response.status, headers=response.headers, text=response.text)


@cache
def described() -> dict[str, ClientOperation]:
    """Return the operations of the document; not for each worker, because they take a while."""
    return {each.name: each for each in operations_of(of_keys(document()))}


@pytest.fixture
def pillarbox(service: Service) -> Pillarbox:
    """Return a client with a key that sends, reads and has webhooks."""
    scopes = frozenset({"emails:send", "emails:read", "webhooks:read", "webhooks:write"})
    key = service.key(service.account(), scopes=scopes)
    http = httpx.Client(transport=_InProcess())
    return Pillarbox(key, url="https://pillarbox.example", http=http, retries=0)


def test_a_send_is_found_and_not_repeated(pillarbox: Pillarbox) -> None:
    """A send is answered, its repetition has the same id, and the list and the detail have it."""
    sent = pillarbox.send_email({"to": TO, "starterTemplate": "welcome"}, idempotency_key="a")
    again = pillarbox.send_email({"to": TO, "starterTemplate": "welcome"}, idempotency_key="a")
    assert again["messageId"] == sent["messageId"]
    assert pillarbox.get_message(sent["messageId"])["to"] == [TO]
    listed = pillarbox.list_messages(limit=1, sort_by="updated_at")
    assert [each["messageId"] for each in listed["items"]] == [sent["messageId"]]
    with pytest.raises(PillarboxError) as error:
        pillarbox.send_email({"to": TO, "subject": "s"})
    assert (error.value.code, error.value.status) == ("missing_field", 400)


def test_what_has_no_body_is_none(pillarbox: Pillarbox) -> None:
    """An endpoint is made, changed, rotated, tested and deleted by the methods of the client."""
    made = pillarbox.create_webhook({"url": "https://example.com/hooks", "types": ["*"]})
    changed = pillarbox.change_webhook(made["id"], {"enabled": False})
    assert (changed["id"], changed["enabled"]) == (made["id"], False)
    assert pillarbox.rotate_webhook_secret(made["id"])["secret"] != made["secret"]
    deleted: Any = pillarbox.delete_webhook(made["id"])  # type: ignore[func-returns-value]
    assert deleted is None
    assert pillarbox.list_webhooks()["items"] == []


@pytest.mark.parametrize("kind", [Operations, AsyncOperations])
def test_each_operation_has_a_method(kind: type[Any]) -> None:
    """Both clients have the operations that a key may call, each with its path and its query."""
    for name, operation in described().items():
        method = getattr(kind, name)
        required = [
            each.name
            for each in inspect.signature(method).parameters.values()
            if each.kind is each.POSITIONAL_OR_KEYWORD and each.name not in {"self", "body"}
        ]
        assert required == [each.name for each in operation.path_parameters]


def test_each_method_sends_its_operation(pillarbox: Pillarbox) -> None:
    for name, operation in described().items():
        method = getattr(pillarbox, name)
        body: list[Any] = [{}] if operation.body is not None else []
        with mock.patch.object(pillarbox, "_send") as send:
            method(*(each.name for each in operation.path_parameters), *body)
        (made,) = send.call_args.args
        assert (made.method, made.path) == (
            operation.method,
            operation.path.replace("{", "").replace("}", ""),
        )
        assert json.dumps(made.given_query) == "{}"
