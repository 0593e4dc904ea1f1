"""Signing in to the dashboard on the running stack: address, email, code, session."""

import re
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.stack import AGENT, PATIENCE, operate, wait_for

pytestmark = pytest.mark.stack


def emails_to(stack: dict[str, Any], address: str) -> list[dict[str, Any]]:
    items = httpx.get(f"{stack['inbox_url']}/messages", timeout=PATIENCE).json()["items"]
    return [item for item in items if item["recipients"] == [address]]


def test_a_user_signs_in_with_the_code_of_an_email(stack: dict[str, Any]) -> None:
    """`sign_in` invokes `mail_code` without waiting, and the code of its email signs in, once."""
    address = "code@shop.example"
    operate("dashboard", "link", address)
    url = urlsplit(stack["base_url"])
    origin = {"Origin": f"{url.scheme}://{url.netloc}", "Sec-Fetch-Site": "same-origin"}

    def post(path: str, body: dict[str, str]) -> httpx.Response:
        sessions = f"{stack['base_url']}/api/v1/session{path}"
        return httpx.post(sessions, json=body, headers=AGENT | origin, timeout=PATIENCE)

    asked = post("/codes", {"email": address})
    assert asked.status_code == 202, asked.text
    wait_for(lambda: emails_to(stack, address))
    (item,) = emails_to(stack, address)
    mail = httpx.get(f"{stack['inbox_url']}/messages/{item['id']}/raw", timeout=PATIENCE).text
    code = re.search(r"\b\d{6}\b", mail.partition("\r\n\r\n")[2])
    assert code
    given = {"flow": asked.json()["flow"], "code": code[0]}
    signed_in = post("", given)
    assert signed_in.status_code == 200, signed_in.text
    assert signed_in.json()["user"]["email"] == address
    assert post("", given).status_code == 401
