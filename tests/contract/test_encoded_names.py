"""A file whose name is another one in mail programs is refused at each door."""

import json
from collections.abc import Callable

import pytest

from pillarbox.domain.accounts.key import Preset
from tests.contract.bodies import TO, attachment, raw_html
from tests.contract.client import Api, ApiResponse
from tests.contract.mcp import McpClient
from tests.contract.service import SENDER, Service
from tests.contract.test_attachments import start
from tests.contract.test_mcp import settings

#: Some mail programs decode the first two, and the last one has a character that could not be read.
_NAMES = ("=?utf-8?q?x=2Ejs?=", "a =?utf-8?q?=E2=80=AEfdp?=.pdf", "x.j\ufffds")


def native(api: Api, name: str) -> list[ApiResponse]:
    """Send alone and in a batch, and start an upload."""
    email = raw_html(attachments=[attachment(filename=name)])
    batch = api.raw("POST", "/emails/batch", json.dumps({"messages": [email]}))
    return [api.send(email), batch, start(api, filename=name)]


def resend(api: Api, name: str) -> list[ApiResponse]:
    file = {"filename": name, "content": "JVBERi0xLjc=", "content_type": "application/pdf"}
    email = {"from": SENDER, "to": TO, "subject": "x", "html": "x", "attachments": [file]}
    key = {"Authorization": f"Bearer {api.key}"}
    return [Api(base="/resend").raw("POST", "/emails", json.dumps(email), key)]


def postmark(api: Api, name: str) -> list[ApiResponse]:
    file = {"Name": name, "Content": "JVBERi0xLjc=", "ContentType": "application/pdf"}
    email = {"From": SENDER, "To": TO, "Subject": "x", "HtmlBody": "x", "Attachments": [file]}
    key = {"X-Postmark-Server-Token": api.key or ""}
    return [Api(base="/postmark").raw("POST", "/email", json.dumps(email), key)]


@pytest.mark.parametrize("door", [native, resend, postmark])
@pytest.mark.parametrize("name", _NAMES)
def test_a_misleading_name_is_refused(
    service: Service,
    api: Api,
    account: str,
    door: Callable[[Api, str], list[ApiResponse]],
    name: str,
) -> None:
    fault = ".js files cannot be attached" if "=?" not in name else "must be a plain file name"
    for response in door(api, name):
        assert fault in response.text
    assert service.messages(account) == []


@pytest.mark.parametrize("name", _NAMES)
def test_an_agent_is_refused_too(service: Service, account: str, name: str) -> None:
    agent = McpClient(Api(service.key(account, Preset.MARKETING, agent=settings())))
    email = raw_html(attachments=[attachment(filename=name)])
    assert agent.code("send_email", email) in {"validation_failed", "attachment_type_not_allowed"}
    assert service.messages(account) == []
