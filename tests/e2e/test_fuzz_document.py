"""Promise 9 on the running stack: what the functions answer reaches a client as documented.

tests/contract/test_fuzz_document.py has schemathesis send thousands of requests in its own process;
here it sends some in `make fuzz` only.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from openapi.operation import Operation
from openapi.operations import OPERATIONS
from pillarbox.domain.accounts.key import SCOPES
from pillarbox.http.callers import KEY
from tests.contract.documented import check_documented
from tests.fuzzing import OF_KEYS, SECONDS, Caller, assert_as_documented
from tests.stack import operate

_TEMPLATES = 4
#: In seconds: many functions start, which is slow on a busy machine.
_TIMEOUT = 120
#: Of HTTP, and of API Gateway.
_OTHER_HEADERS = {"date", "content-length", "x-amz-request-id", "x-amzn-requestid"}


@pytest.fixture(scope="module")
def key(stack: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give a key with every scope, of an account without limits that has a few templates."""
    assert stack
    account = operate("account", "create", "--name", "Fuzz", "--plan", "enterprise")["id"]
    sender = ("hello@fuzz.example", "--verified", "--default")
    operate("sender", "add", "--account", account, *sender)
    html = tmp_path_factory.mktemp("template") / "body.html"
    html.write_text("<p>Hello {{ name }}</p>")
    for number in range(_TEMPLATES):
        about = ("--name", str(number), "--subject", "Hello", "--category", "fuzz")
        operate("template", "create", "--account", account, *about, "--html", str(html))
    made = operate(
        *("key", "create", "--account", account, "--name", "f", "--preset", "custom"),
        *(option for scope in sorted(SCOPES) for option in ("--scope", scope)),
    )
    yield str(made["key"])
    operate("account", "update", account, "--plan", "free")  # the doctor warns of no limit


def _path(operation: Operation) -> str:
    return re.sub(r"\{\w+\}", "x", operation.path)


def _check(operation: Operation, answer: httpx.Response) -> None:
    headers = {name: text for name, text in answer.headers.items() if name not in _OTHER_HEADERS}
    check_documented(operation.method, operation.path, answer.status_code, headers, answer.text)


@pytest.mark.stack
def test_visitors_are_refused(stack: dict[str, Any]) -> None:
    """Every operation that a key may ask for gives a visitor 401, and the others no more."""
    for operation in OPERATIONS:
        url = f"{stack['base_url']}/api{_path(operation)}"
        answer = httpx.request(operation.method, url, timeout=_TIMEOUT)
        # Visitors may begin to sign in with a passkey.
        others = {401, 403, 422} if operation.security else {200, 401, 403, 422}
        assert answer.status_code in ({401} if KEY in operation.security else others)


@pytest.mark.stack
def test_every_answer_is_as_documented(stack: dict[str, Any], key: str, tmp_path: Path) -> None:
    """9: no operation gives a 5xx or anything undocumented, without a body or with an example."""
    base_url, headers = stack["base_url"], {"X-API-Key": key}
    with httpx.Client(base_url=f"{base_url}/api", headers=headers, timeout=_TIMEOUT) as client:
        for operation in OPERATIONS:
            examples = [
                {"json": each["value"]} for each in (operation.body_examples or {}).values()
            ]
            for body in ({}, *examples):
                answer = client.request(operation.method, _path(operation), **body)
                assert answer.status_code < 500, (operation.id, answer.text)
                _check(operation, answer)
    if SECONDS:
        caller = Caller(f"X-API-Key: {key}", OF_KEYS)
        assert_as_documented(base_url, [caller], tmp_path, phases="examples,fuzzing")
