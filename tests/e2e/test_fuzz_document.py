"""Promise 9 on the running stack: what the functions answer reaches a client as documented.

tests/contract/test_fuzz_document.py sends the most requests, and follows links, in its own process;
here they are the examples of the document, and random ones in `make fuzz`.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from openapi.operation import KEY
from openapi.operations import OPERATIONS
from pillarbox.domain.accounts.key import SCOPES
from tests.fuzzing import OF_KEYS, SECONDS, Caller, assert_as_documented
from tests.stack import operate

_TEMPLATES = 4
_PHASES = "examples,fuzzing" if SECONDS else "examples"


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


def warm_up(base_url: str) -> None:
    """Start each function once, because many cold starts are slow on a busy machine."""
    for operation in OPERATIONS:
        path = re.sub(r"\{\w+\}", "x", operation.path)
        answer = httpx.request(operation.method, f"{base_url}/api{path}", timeout=120)
        # Visitors may begin to sign in with a passkey.
        others = {401, 403, 422} if operation.security else {200, 401, 403, 422}
        assert answer.status_code in ({401} if KEY in operation.security else others)


@pytest.mark.stack
def test_every_answer_is_as_documented(stack: dict[str, Any], key: str, tmp_path: Path) -> None:
    """9: the document's examples find no 5xx and nothing undocumented."""
    warm_up(stack["base_url"])
    caller = Caller(f"X-API-Key: {key}", OF_KEYS)
    assert_as_documented(stack["base_url"], [caller], tmp_path, phases=_PHASES)
